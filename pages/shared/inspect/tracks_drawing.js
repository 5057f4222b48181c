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
    const texts = segments.slice(first, last + 1);
    return { number, first, texts, nodes, lanes, hasSpans, block, box, line, under, over, heads };
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
  for (const sentence of sentences) closeLines(sentence);
  // Measure all sentences before anything is written.
  const bare = view.ntSentences.filter(({ hasSpans }) => !hasSpans).map(({ block, line }) => [block, line.offsetHeight]);
  const measured = sentences.map((sentence) => ({ sentence, ...measureSentence(sentence) }));
  for (const { sentence, boxes, lines, width } of measured) {
    const laid = layoutLanes(sentence.lanes, (segment) => boxes[segment - sentence.first] ?? [], width, widthOf, lines.length);
    drawSentence(sentence, laid, { data, options, lines, width, boxes, widthOf, headWidth, names });
    reserveHeight(sentence.block, sentence.tops.at(-1));
  }
  for (const [block, height] of bare) reserveHeight(block, height);
}

// A sentence out of sight is not laid out: it is as high as it will be, so that a record is scrolled to where it stands.
function reserveHeight(block, height) {
  block.style.containIntrinsicHeight = `${height}px`;
}

// The text as it stands without room for lanes: its lines are as high as each other.
function closeLines({ texts, nodes, line }) {
  line.style.lineHeight = `${TRACK_LINE}px`;
  if (!line.firstElementChild) return;
  nodes.forEach((node, number) => (node.data = texts[number]));
  line.replaceChildren(...nodes);
}

// Room for lanes below each line: the outer box of its words asks for it, the inner one keeps them at the top.
function openLines({ nodes, line }, lines, heights) {
  // From the end: what is cut off a node does not move what stands before it.
  const starts = lines.toReversed().map(({ node, at }) => (at ? nodes[node].splitText(at) : nodes[node]));
  let inner = null;
  for (const node of [...line.childNodes]) {
    const number = starts.length - 1 - starts.indexOf(node);
    if (number < starts.length) {
      const outer = make("span");
      inner = make("span");
      const shift = (heights[number] - TRACK_LINE) / 2;
      Object.assign(outer.style, { lineHeight: `${heights[number]}px`, verticalAlign: `${-shift}px` });
      Object.assign(inner.style, { lineHeight: `${TRACK_LINE}px`, verticalAlign: `${shift}px` });
      outer.append(inner);
      line.insertBefore(outer, node);
    }
    inner.append(node);
  }
}

// The boxes of the segments of a sentence by line, in pixels from the start of its box, and where each line begins: at a
// character of a node.
function measureSentence({ nodes, line, box }) {
  const origin = line.getBoundingClientRect();
  const rtl = getComputedStyle(line).direction === "rtl";
  const range = document.createRange();
  const numberOf = ({ top, bottom }) => Math.max(0, Math.floor(((top + bottom) / 2 - origin.top) / TRACK_LINE));
  const lineAt = (node, at) => {
    range.setStart(nodes[node], at);
    range.setEnd(nodes[node], at + 1);
    const [first] = range.getClientRects();
    return first ? numberOf(first) : -1;
  };
  const lines = [{ node: 0, at: 0 }];
  const boxes = nodes.map((text, node) => {
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()];
    const last = Math.max(-1, ...rects.map(numberOf));
    while (lines.length <= last) lines.push({ node, at: firstAt(text.length, (at) => lineAt(node, at) >= lines.length) });
    return rects.map((rect) => ({ line: numberOf(rect), left: Math.max(0, rect.left - origin.left), right: rect.right - origin.left, rtl }));
  });
  return { boxes, lines, width: Math.max(line.scrollWidth, box.clientWidth) };
}

// The first number below `length` for which a test holds; it holds for all that follow.
function firstAt(length, holds) {
  let [low, high] = [0, length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return Math.max(0, low);
}

function drawSentence(sentence, laid, context) {
  const { under, over, heads, lanes } = sentence;
  const { data, options, lines, width } = context;
  // The text stands at the top of its line, the lanes in the room below.
  const heights = laid.heights.map((height) => TRACK_LINE + (height ? height + TRACK_PAD : 0));
  const tops = [0];
  for (const height of heights) tops.push(tops.at(-1) + height);
  openLines(sentence, lines, heights);
  over.style.width = `${width}px`;
  over.replaceChildren(...lanes.map((lane, number) => laneElement(lane, laid.lanes[number], tops, context)));
  heads.replaceChildren(
    ...laid.heights.flatMap((height, at) =>
      height ? lanes.map((lane, number) => laneHead(lane, tops[at] + TRACK_LINE + laid.lanes[number].tops[at], context)) : [],
    ),
  );
  const places = [];
  for (const number of data.place ?? [])
    for (const box of context.boxes[number - sentence.first] ?? []) {
      const outline = make("span", "nv-place");
      place(outline, box.left - 1, tops[box.line], box.right - box.left + 2, TRACK_LINE);
      places.push(outline);
    }
  under.replaceChildren(...places);
  drawBorders(under, data, (number) => context.boxes[number - sentence.first] ?? [], (box) => tops[box.line], TRACK_LINE);
  Object.assign(sentence, { laid, tops });
  selectInSentence(sentence, data, options);
}

// Where lanes lie does not depend on the open record: another one changes only what is emphasised.
function selectInTracks(view, options) {
  for (const sentence of view.ntSentences) if (sentence.laid) selectInSentence(sentence, view.nvData, options);
}

function selectInSentence({ over, under, lanes, laid, tops }, data, options) {
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
      place(shade, left - 1, tops[line] + 2, right - left + 2, TRACK_LINE - 4);
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

function laneElement(lane, laid, tops, { data, options }) {
  const element = make("li", "nt-lane");
  const isSystem = lane.side === "prediction" || lane.side === "beside";
  element.setAttribute("aria-label", isSystem ? `${nameText(lane.name)}: ${laneCounts(lane.right, lane.wrong)}` : nameText(lane.name));
  const topOf = ({ line, row }) => tops[line] + TRACK_LINE + laid.tops[line] + row * TRACK_ROW;
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
