// The reading view: text as plain text nodes, spans as ruled boxes laid over it in lanes, gold above and predictions
// below. Python sends segments of text, never offsets (it counts code points, this language UTF-16 units), and every
// string goes in as textContent or an attribute. Record ids are absolute, so that fast keys lose no step.

const LANE = 18; // height of a lane in pixels
const LINE = 26; // height of a line of text without lanes
const APART = 8; // what keeps the lanes of two lines apart
const STALE = 4000; // how long an answer to an older request may still arrive, in milliseconds

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  // This function runs again after every rerun, its clean-up only when the view goes: undo the last run first.
  const memory = (parentElement.nerevalReading ??= { sent: null, queue: [], at: -0.5, shown: null, focus: null });
  memory.stop?.();
  const stops = [];
  memory.stop = () => stops.splice(0).forEach((stop) => stop());
  const listen = (target, name, act) => {
    target.addEventListener(name, act);
    stops.push(() => target.removeEventListener(name, act));
  };

  const root = make("div", "nv-reading");
  const main = make("div", "nv-main");
  main.append(legend(data), reader(data));
  const body = make("div", "nv-body");
  body.append(main);
  // Declared below, used once somebody clicks.
  const steps = { move: (forward) => move(forward), close: () => select([data.doc, ""]) };
  if (data.card) body.append(card(data.card, steps));
  root.classList.toggle("nv-with-card", Boolean(data.card));
  root.append(body);
  parentElement.querySelector(":scope > .nv-reading")?.remove();
  parentElement.append(root);

  const select = (where) => {
    memory.sent = { id: JSON.stringify(where), time: Date.now() };
    setTriggerValue("select", { doc: where[0], record: where[1] });
  };

  const move = (forward) => {
    const next = forward ? Math.floor(memory.at) + 1 : Math.ceil(memory.at) - 1;
    if (!memory.queue[next]) return false;
    memory.at = next;
    memory.focus = null;
    select(memory.queue[next]);
    return true;
  };

  const view = root.querySelector(".nv-reader");
  const draw = () => {
    root.style.setProperty("--nv-top", `${header()}px`);
    layout(view, data);
  };
  draw();
  const resize = new ResizeObserver(() => {
    const width = view.clientWidth;
    if (width !== view.nvWidth) draw();
  });
  resize.observe(view);
  stops.push(() => resize.disconnect());
  document.fonts?.ready.then(() => view.isConnected && draw());

  // Answers to earlier keys may arrive after later keys were pressed: they must not move the cursor back.
  const current = JSON.stringify([data.doc, data.selected ?? ""]);
  const seen = JSON.stringify([current, data.place ?? null]);
  const waiting = memory.sent && memory.sent.id !== current && Date.now() - memory.sent.time < STALE;
  if (!waiting) {
    memory.sent = null;
    memory.queue = data.queue ?? [];
    memory.at = data.at ?? -0.5;
  }

  listen(view, "click", (event) => {
    const piece = event.target.closest(".nv-piece");
    if (!piece || !data.clickable) return;
    memory.focus = piece.dataset.key;
    const record = data.marks[piece.dataset.mark].record;
    memory.at = position(memory.queue, [data.doc, record], memory.at);
    select([data.doc, record]);
  });
  for (const [name, on] of [["pointerover", true], ["pointerout", false]]) {
    listen(view, name, (event) => {
      const piece = event.target.closest(".nv-piece");
      if (!piece) return;
      const record = data.marks[piece.dataset.mark].record;
      for (const other of view.querySelectorAll(".nv-piece"))
        if (data.marks[other.dataset.mark].record === record) other.classList.toggle("nv-hover", on);
    });
  }
  // What is copied is the document's own text, exactly.
  listen(view, "copy", (event) => {
    const chosen = document.getSelection();
    if (!chosen?.rangeCount) return;
    const text = view.querySelector(".nv-text");
    const range = chosen.getRangeAt(0).cloneRange();
    if (!text.contains(range.startContainer)) range.setStart(text, 0);
    if (!text.contains(range.endContainer)) range.setEnd(text, text.childNodes.length);
    event.clipboardData.setData("text/plain", range.toString());
    event.preventDefault();
  });
  if (data.queue) {
    listen(document, "keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest?.("input, textarea, select, [contenteditable='true'], [role='combobox']")) return;
      if (event.key === "Escape" && data.selected) select([data.doc, ""]);
      if (event.key !== "j" && event.key !== "k") return;
      if (move(event.key === "j")) event.preventDefault();
    });
  }

  if ((data.selected || data.place) && memory.shown !== seen) reveal(view, root);
  memory.shown = seen;
  if (memory.focus)
    [...view.querySelectorAll("button.nv-piece")]
      .find((piece) => piece.dataset.key === memory.focus)
      ?.focus({ preventScroll: true });

  return () => {
    memory.stop();
    delete parentElement.nerevalReading;
  };
}

function make(tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function paint(element, colours) {
  if (!colours?.fill) return; // what has no decision has no colour
  element.style.setProperty("--nv-fill", `light-dark(${colours.fill[0]}, ${colours.fill[1]})`);
  element.style.setProperty("--nv-ink", `light-dark(${colours.ink[0]}, ${colours.ink[1]})`);
}

function position(queue, where, otherwise) {
  const id = JSON.stringify(where);
  const found = queue.findIndex((item) => JSON.stringify(item) === id);
  return found < 0 ? otherwise : found;
}

function legend(data) {
  const box = make("div", "nv-legend");
  for (const item of data.legend) {
    const chip = make("span", "nv-chip", item.text);
    chip.title = item.title;
    paint(chip, item);
    box.append(chip);
  }
  for (const note of data.notes) box.append(make("span", "nv-note", note));
  for (const note of data.keys) box.append(make("span", "nv-note nv-key", note));
  return box;
}

function reader(data) {
  const view = make("div", "nv-reader");
  const under = make("div", "nv-under");
  under.setAttribute("aria-hidden", "true");
  const text = make("div", "nv-text");
  view.nvNodes = [];
  for (const paragraph of data.paragraphs) {
    const block = make("div", "nv-paragraph");
    block.dir = "auto";
    const [gold, predicted, beside] = paragraph.lanes;
    // Beside another system the prediction keeps a lane where it has no span: the tracks stay where they are.
    block.nvPredicted = data.beside ? Math.max(predicted, 1) : predicted;
    const below = block.nvPredicted + beside;
    block.nvHeight = LINE + LANE * (gold + below) + (gold + below ? APART : 0);
    block.nvShift = ((gold - below) * LANE) / 2;
    block.style.lineHeight = `${block.nvHeight}px`;
    const line = make("span", "nv-words");
    line.style.top = `${block.nvShift}px`;
    for (const piece of paragraph.texts) {
      const node = document.createTextNode(piece);
      view.nvNodes.push(node);
      line.append(node);
    }
    block.append(line);
    text.append(block);
  }
  view.append(under, text, make("div", "nv-over"));
  return view;
}

// Where each text node lies: one box per line it runs over, and per direction.
function boxes(view) {
  const origin = view.getBoundingClientRect();
  const range = document.createRange();
  const frames = new Map();
  return view.nvNodes.map((node) => {
    const block = node.parentNode.parentNode;
    if (!frames.has(block)) {
      const frame = block.getBoundingClientRect();
      frames.set(block, { top: frame.top, rtl: getComputedStyle(block).direction === "rtl", block });
    }
    const frame = frames.get(block);
    range.selectNodeContents(node);
    return [...range.getClientRects()].map((box) => {
      const middle = (box.top + box.bottom) / 2 - block.nvShift;
      const line = Math.max(0, Math.floor((middle - frame.top) / block.nvHeight));
      return {
        frame,
        line,
        left: Math.max(0, box.left - origin.left),
        right: Math.min(origin.width, box.right - origin.left),
        middle: frame.top - origin.top + block.nvHeight * (line + 0.5) + block.nvShift,
      };
    });
  });
}

// Boxes of one fragment that touch on one line become one piece.
function joined(found) {
  const pieces = [];
  const sorted = [...found].sort((a, b) => a.middle - b.middle || a.left - b.left);
  for (const box of sorted) {
    const last = pieces.at(-1);
    if (last && last.middle === box.middle && box.left - last.right < 2) last.right = Math.max(last.right, box.right);
    else pieces.push({ ...box });
  }
  const wide = pieces.filter((piece) => piece.right - piece.left > 1);
  return wide.length ? wide : pieces.slice(0, 1);
}

// A span of characters that take no room, such as a lone carriage return, stands after the text before it.
function edge(view, places, number) {
  const block = view.nvNodes[number].parentNode.parentNode;
  for (let before = number - 1; before >= 0 && view.nvNodes[before].parentNode.parentNode === block; before -= 1) {
    const box = places[before].at(-1);
    if (box) return box.frame.rtl ? { ...box, right: box.left } : { ...box, left: box.right };
  }
  const frame = block.getBoundingClientRect();
  const rtl = getComputedStyle(block).direction === "rtl";
  const middle = frame.top - view.getBoundingClientRect().top + block.nvHeight / 2 + block.nvShift;
  const left = rtl ? frame.width - 5 : 0;
  return { frame: { top: frame.top, rtl, block }, line: 0, left, right: left, middle };
}

function layout(view, data) {
  view.nvWidth = view.clientWidth;
  const under = view.querySelector(".nv-under");
  const over = view.querySelector(".nv-over");
  const places = boxes(view);
  const rows = new Map();
  const drawn = [];
  data.marks.forEach((mark, number) => {
    let first = true;
    let before = null;
    for (const [from, to] of mark.parts) {
      const pieces = joined(places.slice(from, to + 1).flat());
      if (!pieces.length) pieces.push(edge(view, places, from));
      if (pieces.length && pieces[0].frame.rtl) pieces.sort((a, b) => a.middle - b.middle || b.left - a.left);
      for (const [order, piece] of pieces.entries()) {
        const row = `${piece.middle}|${mark.side}|${mark.lane}`;
        Object.assign(piece, { mark, number, first, gap: order === 0 && before?.middle === piece.middle ? before : null });
        piece.right = Math.max(piece.right, piece.left + 5);
        rows.set(row, [...(rows.get(row) ?? []), piece]);
        drawn.push(piece);
        first = false;
        before = piece;
      }
    }
  });
  for (const row of rows.values()) {
    row.sort((a, b) => a.left - b.left);
    row.forEach((piece, place) => {
      piece.low = row[place - 1] ? row[place - 1].right + 3 : 0;
      piece.high = row[place + 1] ? row[place + 1].left - 3 : view.nvWidth;
    });
  }
  const elements = [];
  const marked = [];
  for (const piece of drawn) {
    const { mark, number } = piece;
    const element = make(piece.first && data.clickable ? "button" : "span", `nv-piece nv-${mark.side}`);
    element.dataset.mark = number;
    element.dataset.key = `${mark.side}|${mark.key}`;
    const title = mark.verdict ? `${mark.title}; verdict: ${mark.verdict}` : mark.title;
    element.title = title;
    paint(element, mark);
    if (piece.first) {
      element.setAttribute("aria-label", title);
      element.classList.toggle("nv-reviewed", Boolean(mark.verdict));
      if (data.clickable) element.setAttribute("aria-pressed", String(mark.record === data.selected));
      else element.setAttribute("role", "img");
      element.append(label(piece));
    } else element.setAttribute("aria-hidden", "true");
    element.classList.toggle("nv-selected", Boolean(data.selected) && mark.record === data.selected);
    const gold = mark.side === "gold";
    const lane = mark.lane + (mark.side === "beside" ? piece.frame.block.nvPredicted : 0);
    const top = gold ? piece.middle - LINE / 2 - LANE * (lane + 1) : piece.middle + LINE / 2 + LANE * lane;
    place(element, piece.left, top + (gold ? 2 : 0), piece.right - piece.left, LANE - 2);
    elements.push(element);
    if (piece.gap) {
      const [left, right] = piece.gap.right < piece.left ? [piece.gap.right, piece.left] : [piece.right, piece.gap.left];
      const gap = make("span", "nv-gap");
      gap.setAttribute("aria-hidden", "true");
      paint(gap, mark);
      place(gap, left, gold ? top + LANE - 2 : top, Math.max(0, right - left), 0);
      elements.push(gap);
    }
    if (data.selected && mark.record === data.selected && mark.side !== "beside") {
      const shade = make("span", "nv-shade");
      paint(shade, mark);
      place(shade, piece.left - 1, piece.middle - LINE / 2, piece.right - piece.left + 2, LINE);
      marked.push(shade);
    }
  }
  // A place that is asked for need not be annotated: it is shaded for itself.
  for (const piece of joined((data.place ?? []).flatMap((number) => places[number]))) {
    const shade = make("span", "nv-place");
    place(shade, piece.left - 1, piece.middle - LINE / 2, piece.right - piece.left + 2, LINE);
    marked.push(shade);
  }
  over.replaceChildren(...elements);
  under.replaceChildren(...marked);
}

const pen = document.createElement("canvas").getContext("2d");

// The label takes the room up to the neighbours in its lane; where that is short the word of the decision goes first.
function label({ mark, left, right, low, high, frame }) {
  const tag = make("span", "nv-label");
  pen.font = "600 11px 'Source Sans', sans-serif";
  const short = `${mark.glyph} ${mark.type}`;
  const long = `${short} ${mark.word}`;
  const width = (words) => pen.measureText(words).width + 12;
  const text = width(long) <= (frame.rtl ? right - low : high - left) ? long : short;
  const need = width(text);
  if (frame.rtl) {
    const shift = Math.max(0, Math.min(need - (right - low), high - right));
    tag.style.right = `${-shift}px`;
    tag.style.maxWidth = `${right - low + shift}px`;
  } else {
    const shift = Math.max(0, Math.min(need - (high - left), left - low));
    tag.style.left = `${-shift}px`;
    tag.style.maxWidth = `${high - left + shift}px`;
  }
  tag.dataset.label = text;
  return tag;
}

function place(element, left, top, width, height) {
  Object.assign(element.style, {
    left: `${left}px`,
    top: `${top}px`,
    width: `${width}px`,
    height: `${height}px`,
  });
}

function card(content, steps) {
  const box = make("aside", "nv-card");
  box.setAttribute("aria-live", "polite");
  box.setAttribute("aria-label", "Selected span");
  if (content.hint) {
    box.classList.add("nv-hint");
    box.append(make("p", "", content.hint));
    return box;
  }
  const head = make("div", "nv-card-head");
  const chip = make("span", "nv-chip", content.decision.text);
  chip.title = content.decision.title;
  paint(chip, content.decision);
  head.append(chip, make("span", "nv-note", content.under));
  const buttons = make("div", "nv-steps");
  for (const [name, words, act] of [
    ["‹", "previous record", () => steps.move(false)],
    ["›", "next record", () => steps.move(true)],
    ["×", "close the card", steps.close],
  ]) {
    const button = make("button", "nv-step", name);
    button.setAttribute("aria-label", words);
    button.title = words;
    button.addEventListener("click", act);
    buttons.append(button);
  }
  head.append(buttons);
  box.append(head);
  if (content.reason) box.append(make("p", "nv-reason", content.reason));
  const facts = make("dl", "nv-facts");
  for (const [term, quote, detail] of content.facts) {
    const words = make("dd", "");
    const said = make("bdi", quote ? "nv-quote" : "nv-none", quote || "none");
    words.append(said);
    if (detail) words.append(make("span", "nv-note", detail));
    facts.append(make("dt", "", term), words);
  }
  box.append(facts, make("div", "nv-card-title", content.title));
  const list = make("ul", "nv-rows");
  for (const row of content.rows) {
    const line = make("li", row.current ? "nv-current" : "");
    const name = make("span", "nv-name", row.criterion);
    name.title = row.sentence;
    const mark = make("span", "nv-chip", row.text);
    mark.title = row.title;
    paint(mark, row);
    line.append(name, mark);
    if (row.partner) line.append(make("span", "nv-note", row.partner));
    list.append(line);
  }
  box.append(list);
  return box;
}

// What stays over the text when it scrolls: Streamlit's header, and beneath it the row of verdicts.
function header() {
  const bar = document.querySelector(".st-key-verdict_bar");
  return 72 + (bar ? bar.offsetHeight : 0);
}

// Scroll only where the chosen span is out of sight or under the card.
function reveal(view, root) {
  const piece = view.querySelector(".nv-selected") ?? view.querySelector(".nv-place");
  if (!piece) return;
  const box = piece.getBoundingClientRect();
  const aside = root.querySelector(".nv-card")?.getBoundingClientRect();
  const below = aside && aside.left <= box.left && aside.right >= box.right;
  const floor = below ? aside.top : window.innerHeight;
  const ceiling = header() + 18;
  if (box.top >= ceiling && box.bottom <= floor - 90) return;
  piece.style.scrollMarginTop = `max(25vh, ${ceiling}px)`;
  piece.scrollIntoView({ block: below ? "start" : "center", inline: "nearest" });
}
