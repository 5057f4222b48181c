// Annotated text: the document as plain text nodes, and its spans as thin lines laid over the very characters, gold
// above and predictions below, in lanes, and over gold what a reviewer says is right. Python sends segments of text,
// never offsets (it counts code points, this language UTF-16 units), and every string goes in as textContent or an
// attribute.

const LANE = 17; // height of a lane with labels, in pixels
const QUIET = 6; // height of a lane without labels
const LINE = 26; // height of a line of text without lanes
const ALIKE = 1.2; // widths of cuts of one length differ by less than this
const LABEL_GAP = 6; // between a label and the next span of its lane

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

// A name of the data as readers see it, as `name_text` of Python has it: with escapes for characters that do not print,
// and in quotes where it would be taken for a dash, a comma or another name.
function nameText(name) {
  const escaped = (character) => {
    const code = character.codePointAt(0);
    const short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
    const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return short ?? `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  };
  const line = name.replace(/[\p{C}\p{Z}]/gu, (character) => (character === " " ? " " : escaped(character)));
  return line === line.trim() && (!line || /[\p{L}\p{N}]/u.test(line)) ? line : `'${line}'`;
}

function paint(element, colours) {
  if (!colours?.fill) return; // what has no decision has no colour
  element.style.setProperty("--nv-fill", `light-dark(${colours.fill[0]}, ${colours.fill[1]})`);
  element.style.setProperty("--nv-ink", `light-dark(${colours.ink[0]}, ${colours.ink[1]})`);
}

function place(element, left, top, width, height) {
  Object.assign(element.style, {
    left: `${left}px`,
    top: `${top}px`,
    width: `${width}px`,
    height: `${height}px`,
  });
}

function legend(items, notes) {
  const box = make("div", "nv-legend");
  for (const item of items) {
    const chip = make("span", "nv-chip", item.text);
    chip.title = item.title;
    paint(chip, item);
    box.append(chip);
  }
  for (const note of notes) box.append(make("span", "nv-note", note));
  return box;
}

// Correct spans are quiet: a grey line without a label, unless labels are asked for.
function isQuiet(mark, options) {
  return mark.code === "COR" && !options.labels && mark.record !== options.selected;
}

const isAbove = ({ side }) => side === "gold" || side === "right";

// A bar at the edge that keys move, the start (0) or the end (1) of a fragment, where a piece of that ends with it.
function edgeBar({ edge: { fragment, side }, parts }, from, order, pieces, piece) {
  if (parts[fragment]?.[0] !== from || order !== (side ? pieces.length - 1 : 0)) return [];
  const bar = make("span", "nv-edge");
  bar.setAttribute("aria-hidden", "true");
  place(bar, (side === 1) === !piece.rtl ? piece.right - 1 : piece.left - 1, piece.middle - LINE / 2, 2, LINE);
  return [bar];
}

// A reader of a text: `options` are { selected, labels, clickable, paints }, where `paints` gives colours by type.
function reader(data, options) {
  const view = make("div", "nv-reader");
  const under = make("div", "nv-under");
  under.setAttribute("aria-hidden", "true");
  const text = make("div", "nv-text");
  const needs = lanesOf(data, options);
  view.nvData = data;
  view.nvLanes = needs.lanes;
  view.nvNodes = [];
  view.nvBlocks = [];
  data.paragraphs.forEach((paragraph, number) => {
    const block = make("div", "nv-paragraph");
    block.dir = "auto";
    for (const piece of paragraph.texts) {
      const node = document.createTextNode(piece);
      const { above, below } = needs.segments[view.nvNodes.length];
      view.nvNodes.push(node);
      view.nvBlocks.push(number);
      if (!above && !below) {
        block.append(node);
        continue;
      }
      // The outer box asks for room above and below on each line that it runs over; the inner one keeps the baseline.
      const outer = make("span", "nv-words");
      const inner = make("span", "nv-words");
      const shift = (above - below) / 2;
      Object.assign(outer.style, { lineHeight: `${LINE + above + below}px`, verticalAlign: `${shift}px` });
      Object.assign(inner.style, { lineHeight: `${LINE}px`, verticalAlign: `${-shift}px` });
      inner.append(node);
      outer.append(inner);
      block.append(outer);
    }
    text.append(block);
  });
  view.append(under, text, make("div", "nv-over"));
  return view;
}

// The heights of the lanes of each paragraph, and the room that each segment needs above and below its line.
function lanesOf(data, options) {
  const blocks = data.paragraphs.flatMap((paragraph, number) => paragraph.texts.map(() => number));
  const lanes = data.paragraphs.map(() => ({ gold: [], right: [], prediction: [] }));
  for (const mark of data.marks) {
    const height = isQuiet(mark, options) ? QUIET : LANE;
    for (const [from, to] of mark.parts)
      // A span over several lines of a hard-wrapped text is in each of their paragraphs.
      for (let block = blocks[from]; block <= blocks[to]; block += 1) {
        const row = lanes[block][mark.side];
        for (let lane = 0; lane <= mark.lane; lane += 1) row[lane] = Math.max(row[lane] ?? QUIET, lane === mark.lane ? height : 0);
      }
  }
  const sum = (row, to) => row.slice(0, to).reduce((total, height) => total + height, 0);
  const segments = blocks.map(() => ({ above: 0, below: 0 }));
  for (const mark of data.marks)
    for (const [from, to] of mark.parts)
      for (let at = from; at <= to; at += 1) {
        const own = lanes[blocks[at]];
        const base = mark.side === "right" ? sum(own.gold, Infinity) : 0;
        const height = isQuiet(mark, options) ? QUIET : own[mark.side][mark.lane];
        const need = base + sum(own[mark.side], mark.lane) + height + 2;
        const side = isAbove(mark) ? "above" : "below";
        segments[at][side] = Math.max(segments[at][side], need);
      }
  // An even sum: half a pixel would move the words off the line.
  for (const need of segments) need.above += (need.above + need.below) % 2;
  return { lanes, segments };
}

// Where each text node lies: one box per line it runs over, and per direction.
function boxes(view) {
  const origin = view.getBoundingClientRect();
  const range = document.createRange();
  const blocks = view.querySelectorAll(".nv-paragraph");
  const directions = [...blocks].map((block) => getComputedStyle(block).direction === "rtl");
  return view.nvNodes.map((node, number) => {
    range.selectNodeContents(node);
    const block = view.nvBlocks[number];
    return [...range.getClientRects()].map((box) => ({
      block,
      rtl: directions[block],
      left: Math.max(0, box.left - origin.left),
      right: Math.min(origin.width, box.right - origin.left),
      middle: Math.round((box.top + box.bottom) / 2 - origin.top),
    }));
  });
}

// Boxes of one fragment that touch on one line become one piece.
function joined(boxesOfFragment) {
  const pieces = [];
  const sorted = [...boxesOfFragment].sort((a, b) => a.middle - b.middle || a.left - b.left);
  for (const box of sorted) {
    const last = pieces.at(-1);
    if (last && Math.abs(last.middle - box.middle) < 3 && box.left - last.right < 2) last.right = Math.max(last.right, box.right);
    else pieces.push({ ...box });
  }
  const wide = pieces.filter((piece) => piece.right - piece.left > 1);
  return wide.length ? wide : pieces.slice(0, 1);
}

// A span of characters that take no room, such as a lone carriage return, stands after the text before it.
function edge(view, places, number) {
  const block = view.nvBlocks[number];
  for (let before = number - 1; before >= 0 && view.nvBlocks[before] === block; before -= 1) {
    const box = places[before].at(-1);
    if (box) return box.rtl ? { ...box, right: box.left } : { ...box, left: box.right };
  }
  const paragraph = view.querySelectorAll(".nv-paragraph")[block];
  const frame = paragraph.getBoundingClientRect();
  const rtl = getComputedStyle(paragraph).direction === "rtl";
  const left = rtl ? frame.width - 5 : 0;
  return { block, rtl, left, right: left, middle: Math.round(frame.top - view.getBoundingClientRect().top + LINE / 2) };
}

function layout(view, data, options) {
  view.nvWidth = view.clientWidth;
  const under = view.querySelector(".nv-under");
  const over = view.querySelector(".nv-over");
  const places = boxes(view);
  const elements = [];
  const labels = [];
  const shades = [];
  view.nvPieces = [];
  data.marks.forEach((mark, number) => {
    const quiet = isQuiet(mark, options);
    const isSelected = Boolean(options.selected) && mark.record === options.selected;
    let first = true;
    let before = null;
    for (const [from, to] of mark.parts) {
      const pieces = joined(places.slice(from, to + 1).flat());
      if (!pieces.length) pieces.push(edge(view, places, from));
      if (pieces[0].rtl) pieces.sort((a, b) => a.middle - b.middle || b.left - a.left);
      for (const [order, piece] of pieces.entries()) {
        piece.right = Math.max(piece.right, piece.left + 5);
        const lanes = view.nvLanes[piece.block];
        const sum = (row, last) => row.slice(0, last).reduce((total, height) => total + height, 0);
        const height = lanes[mark.side][mark.lane];
        const base = sum(lanes[mark.side], mark.lane) + (mark.side === "right" ? sum(lanes.gold, Infinity) : 0);
        const above = isAbove(mark);
        const top = above ? piece.middle - LINE / 2 - base - height + 3 : piece.middle + LINE / 2 + base - 3;
        const element = make(first && options.clickable ? "button" : "span", `nv-piece nv-${mark.side}`);
        element.dataset.mark = number;
        element.dataset.key = `${mark.side}|${mark.key}`;
        const verdict = options.verdicts?.[mark.record];
        const title = verdict ? `${mark.title}; verdict: ${verdict}` : mark.title;
        element.title = title;
        paint(element, options.paints?.[mark.type] ?? mark);
        element.classList.toggle("nv-quiet", quiet);
        element.classList.toggle("nv-selected", isSelected);
        if (first) {
          element.setAttribute("aria-label", title);
          element.classList.toggle("nv-reviewed", Boolean(verdict));
          if (options.clickable) element.setAttribute("aria-pressed", String(isSelected));
          else element.setAttribute("role", "img");
        } else element.setAttribute("aria-hidden", "true");
        const label = make("span", "nv-label");
        label.dataset.label = first ? `${mark.glyph} ${mark.name}` : `… ${mark.name}`;
        label.dir = piece.rtl ? "rtl" : "ltr";
        element.append(label);
        place(element, piece.left, top, piece.right - piece.left, height);
        labels.push({ label, isQuiet: quiet, top: Math.round(top), ...piece });
        elements.push(element);
        view.nvPieces.push({ number, left: piece.left, right: piece.right, middle: piece.middle });
        const previous = order === 0 && before && Math.abs(before.middle - piece.middle) < 3 ? before : null;
        if (previous) {
          const [left, right] = previous.right < piece.left ? [previous.right, piece.left] : [piece.right, previous.left];
          const gap = make("span", "nv-gap");
          gap.setAttribute("aria-hidden", "true");
          paint(gap, options.paints?.[mark.type] ?? mark);
          place(gap, left, above ? top + height - 2 : top, Math.max(0, right - left), 0);
          elements.push(gap);
        }
        if (mark.edge) elements.push(...edgeBar(mark, from, order, pieces, piece));
        if (isSelected) {
          const shade = make("span", "nv-shade");
          paint(shade, options.paints?.[mark.type] ?? mark);
          place(shade, piece.left - 1, piece.middle - LINE / 2 + 2, piece.right - piece.left + 2, LINE - 4);
          shades.push(shade);
        }
        first = false;
        before = piece;
      }
    }
  });
  // A place that is asked for need not be annotated: it is outlined for itself.
  for (const piece of joined((data.place ?? []).flatMap((number) => places[number]))) {
    const shade = make("span", "nv-place");
    place(shade, piece.left - 1, piece.middle - LINE / 2, piece.right - piece.left + 2, LINE);
    shades.push(shade);
  }
  over.replaceChildren(...elements);
  under.replaceChildren(...shades);
  drawBorders(under, data, (number) => places[number], (box) => box.middle - LINE / 2, LINE);
  fitLabels(view, labels);
}

// Where tokens begin, and sentences, as far as the text says so: `boxesOf` gives the boxes of a segment, `topOf` their top.
function drawBorders(under, data, boxesOf, topOf, height) {
  for (const [name, numbers] of [["nv-token", data.tokens], ["nv-begin", data.tokens?.length ? data.sentences : []]])
    for (const number of numbers ?? []) {
      const box = boxesOf(number)[0];
      if (!box) continue;
      const border = make("span", name);
      place(border, (box.rtl ? box.right : box.left) - 1, topOf(box), 1, height);
      under.append(border);
    }
}

let labelCanvas = null; // what widths are measured on

// The width of a label, in pixels.
function labelWidths(view, font = "600 11px") {
  const context = (labelCanvas ??= document.createElement("canvas")).getContext("2d");
  const family = getComputedStyle(view).fontFamily;
  const widths = new Map();
  return (text) => {
    if (!widths.has(text)) {
      context.font = `${font} ${family}`;
      widths.set(text, Math.ceil(context.measureText(text).width) + 1);
    }
    return widths.get(text);
  };
}

// A label runs on beside its span as far as its lane is free, at the end of a line also before it.
function fitLabels(view, labels) {
  const widthOf = labelWidths(view);
  const names = [...new Set(labels.map(({ label }) => label.dataset.label))];
  const end = view.clientWidth;
  labels.sort((a, b) => a.top - b.top || a.left - b.left);
  labels.forEach(({ label, isQuiet, top, left, right, rtl }, number) => {
    const [before, after] = [labels[number - 1], labels[number + 1]];
    const from = before?.top === top ? before.used + LABEL_GAP : 0;
    const to = after?.top === top ? after.left - LABEL_GAP : end;
    const needed = widthOf(label.dataset.label);
    const beyond = Math.max(rtl ? right - from : to - left, right - left);
    const back = isQuiet ? 0 : Math.min(Math.max(0, needed - beyond), Math.max(0, rtl ? to - right : left - from));
    const room = beyond + back;
    label.dataset.fitted = isQuiet ? label.dataset.label : cutLabel(label.dataset.label, room, widthOf, names);
    const width = Math.min(room, widthOf(label.dataset.fitted));
    label.style.width = `${width}px`;
    if (back) label.style.insetInlineStart = `${-back}px`;
    labels[number].used = Math.max(right, rtl ? right : left - back + width);
  });
}

/**
 * A label that fits into `room` pixels. It is cut in the middle, and only so that no other of `names` can be meant;
 * where there is no such cut it stays whole.
 *
 * @param {string} text
 * @param {number} room
 * @param {(text: string) => number} widthOf
 * @param {string[]} names
 */
function cutLabel(text, room, widthOf, names) {
  if (widthOf(text) <= room) return text;
  const others = names.filter((name) => name !== text);
  const characters = [...text];
  for (let length = characters.length - 1; length > 3; length -= 1) {
    const middle = Math.floor((length - 2) / 2);
    // Cuts of one length differ little in width: where the first is far too wide, the others are not looked at.
    const halves = [characters.slice(0, length - middle), middle ? characters.slice(-middle) : []];
    if (widthOf(halves.map((half) => half.join("")).join("…")) > ALIKE * room) continue;
    for (let step = 0; step < 2 * length; step += 1) {
      // The end is as long as the beginning, then longer and shorter by turns.
      const end = middle + (step % 2 ? Math.ceil(step / 2) : -step / 2);
      if (end < 0 || end > length - 1) continue;
      const [head, tail] = [characters.slice(0, length - end).join(""), end ? characters.slice(-end).join("") : ""];
      const isUnique = !others.some((name) => name.startsWith(head) && name.endsWith(tail));
      if (isUnique && widthOf(`${head}…${tail}`) <= room) return `${head}…${tail}`;
    }
  }
  return text;
}

// The mark that a click means: that of a line or label, else the shortest span over the characters clicked on.
function markAt(view, event) {
  const piece = event.target.closest?.(".nv-piece");
  if (piece) return Number(piece.dataset.mark);
  if (!document.getSelection()?.isCollapsed) return null;
  const origin = view.getBoundingClientRect();
  const [x, y] = [event.clientX - origin.left, event.clientY - origin.top];
  const hit = (view.nvPieces ?? []).filter(
    ({ left, right, middle }) => left <= x && x <= right && Math.abs(middle - y) < LINE / 2,
  );
  hit.sort((a, b) => a.right - a.left - (b.right - b.left));
  return hit.length ? hit[0].number : null;
}

// All pieces of a record are emphasised together; `root` holds one text or several.
function hoverRecords(root, listen) {
  for (const [name, on] of [["pointerover", true], ["pointerout", false]])
    listen(root, name, (event) => {
      const piece = event.target.closest(".nv-piece");
      const view = piece?.closest(".nv-reader");
      if (!view) return;
      const record = view.nvData.marks[piece.dataset.mark]?.record;
      for (const other of view.querySelectorAll(".nv-piece"))
        if (view.nvData.marks[other.dataset.mark]?.record === record) other.classList.toggle("nv-hover", on);
    });
}

// What is copied is the document's own text, exactly: nothing else in here is text.
function copyText(root, event) {
  const selection = document.getSelection();
  if (!selection?.rangeCount) return;
  const range = selection.getRangeAt(0).cloneRange();
  if (!root.contains(range.startContainer)) range.setStart(root, 0);
  if (!root.contains(range.endContainer)) range.setEnd(root, root.childNodes.length);
  event.clipboardData.setData("text/plain", range.toString());
  event.preventDefault();
}
