// Two buttons that save a Plotly figure of the page as PNG or SVG. The browser makes the file of what it has drawn.

const SCALE = 2; // dots of a PNG per pixel, so that lines are sharp on paper too

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
  const { text, width, height } = svgOf(plot);
  const drawn = form === "SVG" ? new Blob([text], { type: "image/svg+xml" }) : await pngOf(text, width, height);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(drawn);
  link.download = `${data.file}.${form.toLowerCase()}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Plotly draws several layers of the same size, which become one picture on the page's own ground.
function svgOf(plot) {
  const layers = [...plot.querySelectorAll("svg.main-svg")];
  const { width, height } = plot.getBoundingClientRect();
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const ground = document.createElementNS(root.namespaceURI, "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.querySelector("[data-testid='stApp']")).backgroundColor);
  root.append(ground, ...layers.map(withLengths));
  const text = new XMLSerializer().serializeToString(root);
  return { text, width, height };
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
