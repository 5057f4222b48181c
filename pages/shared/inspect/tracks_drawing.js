// The drawing of tracks: each sentence with its lanes below, gold on top, and the names of the lanes at their heads.
// Names and labels are in attributes, not text: what is copied is the document's own text.

const TRACK_LINE = 26; // height of a line of text
const TRACK_PAD = 8; // between the lanes of a line and the next line
const WIDE_ENOUGH = 420; // width from which on sentences wrap; below, lanes scroll sideways in their box

// A window of the text as tracks. `names` are { reference, system, systems }.
function tracksReader(data, names) {
  const view = make("div", "nv-reader nt");
  const text = make("div", "nv-text nt-text");
  view.append(text);
  const segments = data.paragraphs.flatMap(({ texts }) => texts);
  const starts = new Set(data.sentences);
  view.nvData = data;
  view.ntSentences = sentenceRuns(data).map(([first, last], number) => {
    const lanes = lanesOfSentence(data, [first, last], names);
    const hasSpans = lanes.some(({ spans }) => spans.length);
    const block = make("div", hasSpans ? "nt-sentence" : "nt-sentence nt-bare");
    const box = make("div", "nt-box");
    const line = make("div", "nt-line");
    line.dir = "auto";
    const nodes = segments.slice(first, last + 1).map((piece) => document.createTextNode(piece));
    line.append(...nodes);
    const [under, over] = [make("div", "nt-under"), make("ul", "nt-lanes")];
    over.setAttribute("role", "list");
    under.setAttribute("aria-hidden", "true");
    box.append(under, line);
    const heads = make("div", "nt-heads");
    heads.setAttribute("aria-hidden", "true");
    if (hasSpans) {
      box.append(over);
      box.tabIndex = -1;
    }
    block.append(heads, box);
    if (starts.size) block.dataset.sentence = starts.has(first) ? "start" : "";
    text.append(block);
    return { number, first, nodes, lanes, hasSpans, block, box, line, under, over, heads };
  });
  return view;
}

function layoutTracks(view, data, options) {
  view.nvWidth = view.clientWidth;
  const widthOf = labelWidths(view);
  const sentences = view.ntSentences.filter(({ hasSpans }) => hasSpans);
  const names = [...new Set(sentences.flatMap(({ lanes }) => lanes.map(({ name }) => nameText(name))))];
  const headWidth = Math.min(Math.max(...names.map(widthOf), 40) + 66, Math.max(118, Math.round(view.clientWidth * 0.26)));
  view.style.setProperty("--nt-head", `${headWidth}px`);
  const isWide = view.clientWidth - headWidth >= WIDE_ENOUGH;
  view.classList.toggle("nt-wide", isWide);
  for (const { line } of sentences) Object.assign(line.style, { lineHeight: `${TRACK_LINE}px`, top: "0" });
  // Measure all sentences before anything is written.
  const bare = view.ntSentences.filter(({ hasSpans }) => !hasSpans).map(({ block, line }) => [block, line.offsetHeight]);
  const measured = sentences.map((sentence) => ({ sentence, ...measureSentence(sentence) }));
  for (const { sentence, boxes, lines, width } of measured) {
    const laid = layoutLanes(sentence.lanes, (segment) => boxes[segment - sentence.first] ?? [], width, widthOf);
    drawSentence(sentence, laid, { data, options, lines, width, boxes, widthOf, headWidth, names });
    reserveHeight(sentence.block, lines * sentence.height);
  }
  for (const [block, height] of bare) reserveHeight(block, height);
}

// A sentence out of sight is not laid out: it is as high as it will be, so that a record is scrolled to where it stands.
function reserveHeight(block, height) {
  block.style.containIntrinsicHeight = `${height}px`;
}

// The boxes of the segments of a sentence by line, in pixels from the start of its box.
function measureSentence({ nodes, line, box }) {
  const origin = line.getBoundingClientRect();
  const rtl = getComputedStyle(line).direction === "rtl";
  const range = document.createRange();
  let lines = 1;
  const boxes = nodes.map((node) => {
    range.selectNodeContents(node);
    return [...range.getClientRects()].map(({ left, right, top, bottom }) => {
      const number = Math.max(0, Math.floor(((top + bottom) / 2 - origin.top) / TRACK_LINE));
      lines = Math.max(lines, number + 1);
      return { line: number, left: Math.max(0, left - origin.left), right: right - origin.left, rtl };
    });
  });
  return { boxes, lines, width: Math.max(line.scrollWidth, box.clientWidth) };
}

function drawSentence(sentence, laid, context) {
  const { line, under, over, heads, lanes } = sentence;
  const { data, options, lines, width } = context;
  const height = TRACK_LINE + laid.height + TRACK_PAD;
  // The text stands at the top of its line, the lanes in the room below.
  Object.assign(line.style, { lineHeight: `${height}px`, top: `${(TRACK_LINE - height) / 2}px` });
  over.style.width = `${width}px`;
  over.replaceChildren(...lanes.map((lane, number) => laneElement(lane, laid.lanes[number], height, context)));
  heads.replaceChildren(
    ...Array.from({ length: lines }, (_, at) =>
      lanes.map((lane, number) => laneHead(lane, at * height + TRACK_LINE + laid.lanes[number].top, context)),
    ).flat(),
  );
  const places = [];
  for (const number of data.place ?? [])
    for (const box of context.boxes[number - sentence.first] ?? []) {
      const outline = make("span", "nv-place");
      place(outline, box.left - 1, box.line * height, box.right - box.left + 2, TRACK_LINE);
      places.push(outline);
    }
  under.replaceChildren(...places);
  drawBorders(under, data, (number) => context.boxes[number - sentence.first] ?? [], (box) => box.line * height, TRACK_LINE);
  Object.assign(sentence, { laid, height });
  selectInSentence(sentence, data, options);
}

// Where lanes lie does not depend on the open record: another one changes only what is emphasised.
function selectInTracks(view, options) {
  for (const sentence of view.ntSentences) if (sentence.laid) selectInSentence(sentence, view.nvData, options);
}

function selectInSentence({ over, under, lanes, laid, height }, data, options) {
  const isSelected = ({ record }) => Boolean(options.selected) && record === options.selected;
  for (const piece of over.querySelectorAll(".nt-piece")) {
    const isOn = isSelected(data.marks[piece.dataset.mark]);
    piece.classList.toggle("nv-selected", isOn);
    if (piece.hasAttribute("aria-pressed")) piece.setAttribute("aria-pressed", String(isOn));
  }
  for (const shade of under.querySelectorAll(".nv-shade")) shade.remove();
  lanes.forEach(({ side, spans }, number) => {
    if (side !== "gold" && side !== "prediction") return;
    for (const { span, line, left, right } of laid.lanes[number].bars) {
      const mark = data.marks[spans[span].mark];
      if (!isSelected(mark)) continue;
      const shade = make("span", "nv-shade");
      paint(shade, options.paints?.[mark.type] ?? mark);
      place(shade, left - 1, line * height + 2, right - left + 2, TRACK_LINE - 4);
      under.append(shade);
    }
  });
}

// The name of a lane, and how often it is right and wrong in the sentence.
function laneHead({ name, side, right, wrong }, top, { widthOf, headWidth, names }) {
  const head = make("span", `nt-head nt-of-${side}`);
  const counts = side === "prediction" || side === "beside" ? `✓${right} ✗${wrong}` : "";
  const shownName = nameText(name);
  head.title = side === "prediction" || side === "beside" ? `${shownName}: ${laneCounts(right, wrong)}` : shownName;
  head.append(make("span", "nt-name"), make("span", "nt-counts"));
  head.firstChild.dataset.label = cutLabel(shownName, headWidth - (counts ? 62 : 14), widthOf, names);
  head.lastChild.dataset.label = counts;
  if (wrong) head.classList.add("nt-wrong");
  head.style.top = `${top}px`;
  return head;
}

const laneCounts = (right, wrong) => `${right} right, ${wrong} wrong in this sentence`;

function laneElement(lane, laid, height, { data, options }) {
  const element = make("li", "nt-lane");
  const isSystem = lane.side === "prediction" || lane.side === "beside";
  element.setAttribute("aria-label", isSystem ? `${nameText(lane.name)}: ${laneCounts(lane.right, lane.wrong)}` : nameText(lane.name));
  const topOf = ({ line, row }) => line * height + TRACK_LINE + laid.top + row * TRACK_ROW;
  const buttons = new Map();
  for (const bar of laid.bars) {
    const span = lane.spans[bar.span];
    const mark = data.marks[span.mark];
    const piece = make(bar.first && mark.record ? "button" : "span", `nv-piece nt-piece nv-${lane.side}`);
    const verdict = options.verdicts?.[mark.record];
    const words = span.missedBy ? `missed by ${nameText(span.missedBy)}: ${mark.title}` : mark.title;
    const title = verdict ? `${words}; verdict: ${verdict}` : words;
    piece.dataset.mark = span.mark;
    piece.dataset.key = `${lane.side}|${lane.name}|${mark.key}`;
    piece.title = title;
    paint(piece, options.paints?.[mark.type] ?? (span.missedBy ? options.looks.MIS : mark));
    piece.classList.toggle("nt-missed", Boolean(span.missedBy));
    piece.classList.toggle("nv-quiet", span.code === "COR");
    if (bar.first) {
      piece.setAttribute("aria-label", title);
      piece.classList.toggle("nv-reviewed", Boolean(verdict));
      if (piece.tagName === "BUTTON") {
        piece.type = "button";
        piece.setAttribute("aria-pressed", "false");
      }
      buttons.set(bar.span, piece);
    } else piece.setAttribute("aria-hidden", "true");
    place(piece, bar.left, topOf(bar), bar.right - bar.left, TRACK_ROW - 2);
    element.append(piece);
  }
  for (const label of laid.labels) {
    const bar = laid.bars.find((each) => each.span === label.span && each.first);
    const words = make("span", "nt-label");
    words.dataset.label = label.text;
    words.dir = label.rtl ? "rtl" : "ltr";
    Object.assign(words.style, { left: `${label.left - bar.left}px`, width: `${label.width}px` });
    buttons.get(label.span).append(words);
  }
  return element;
}
