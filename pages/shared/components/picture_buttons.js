// Two buttons that save a Plotly figure of the page as PNG or SVG. The browser makes the file of what it has drawn.

const SCALE = 2; // dots of a PNG per pixel, so that lines are sharp on paper too
const EDGE = 8; // pixels beside and below the title
const FIRST_LINE = { size: 16, weight: 600 };
const NEXT_LINES = { size: 13, weight: 400 };

export default function (component) {
  const { data, parentElement } = component;
  parentElement.querySelector(":scope > .nvp")?.remove();
  const row = document.createElement("div");
  row.className = "nvp";
  for (const form of ["PNG", "SVG"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = form;
    button.addEventListener("click", () => save(data, form));
    row.append(button);
  }
  parentElement.append(row);
}

async function save(data, form) {
  // Streamlit names the element of a widget by its key.
  const name = data.figure.replace(/[^a-zA-Z0-9_-]/g, "-");
  const plot = document.querySelector(`.st-key-${name} .js-plotly-plot`);
  if (!plot) return;
  const { text, width, height } = svgOf(plot, data.title);
  const drawn = form === "SVG" ? new Blob([text], { type: "image/svg+xml" }) : await pngOf(text, width, height);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(drawn);
  link.download = `${data.file}.${form.toLowerCase()}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Plotly draws several layers of the same size, which become one picture on the page's own ground, below the title.
function svgOf(plot, title) {
  const layers = [...plot.querySelectorAll("svg.main-svg")];
  const { width, height: plotHeight } = plot.getBoundingClientRect();
  const look = getComputedStyle(document.querySelector("[data-testid='stApp']"));
  const above = titleOf(title, width, look);
  const height = above.height + plotHeight;
  const root = element("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const ground = element("rect", { width: "100%", height: "100%", fill: look.backgroundColor });
  const figure = element("g", { transform: `translate(0 ${above.height})` });
  figure.append(...layers.map(withLengths));
  root.append(ground, above.drawn, figure);
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

function element(name, attributes) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) drawn.setAttribute(attribute, value);
  return drawn;
}

// The page has a figure's title as text beside the plot. Each text keeps its length in whatever font it is drawn.
function titleOf(lines, width, { color, fontFamily }) {
  const drawn = element("g", { fill: color, "font-family": fontFamily });
  const canvas = document.createElement("canvas").getContext("2d");
  const room = width - 2 * EDGE;
  const widthOf = (text) => canvas.measureText(text).width;
  let height = 0;
  lines.forEach((line, number) => {
    const { size, weight } = number ? NEXT_LINES : FIRST_LINE;
    canvas.font = `${weight} ${size}px ${fontFamily}`;
    for (const part of wrapped(line, room, widthOf)) {
      height += Math.round(size * 1.4);
      const textLength = Math.min(widthOf(part), room).toFixed(1);
      const place = { x: EDGE, y: height, textLength, lengthAdjust: "spacingAndGlyphs" };
      const text = element("text", { ...place, "font-size": size, "font-weight": weight });
      text.textContent = part;
      drawn.append(text);
    }
  });
  return { drawn, height: height && height + EDGE };
}

// The words of a text in lines that have room; a longer word has a line of its own.
function wrapped(text, room, widthOf) {
  const lines = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && widthOf(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// A picture names the page's font, which other programs lack: each text keeps its length in whatever font they take.
function withLengths(layer) {
  const copy = layer.cloneNode(true);
  const copies = copy.querySelectorAll("text");
  layer.querySelectorAll("text").forEach((text, number) => {
    const lines = ".line";
    const own = text.querySelectorAll(lines);
    const copiesOfLines = copies[number].querySelectorAll(lines);
    const pairs = own.length ? [...own].map((line, place) => [line, copiesOfLines[place]]) : [[text, copies[number]]];
    for (const [line, lineCopy] of pairs) {
      const length = line.getComputedTextLength();
      if (!length) continue;
      lineCopy.setAttribute("textLength", length.toFixed(1));
      lineCopy.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  });
  return copy;
}

async function pngOf(text, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  const context = canvas.getContext("2d");
  context.scale(SCALE, SCALE);
  context.drawImage(image, 0, 0, width, height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
