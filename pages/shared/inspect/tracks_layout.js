// Tracks: gold and several systems as lanes under a sentence. These functions say as plain data which spans a lane has
// and where bars and labels lie; `tracks_drawing.js` measures the sentence and draws them.

const TRACK_ROW = 18; // height of a row of a lane, in pixels
const TRACK_GAP = 4; // between lanes
const TRACK_LABEL_GAP = 8; // between a label and the next span or label of its row
const TRACK_ROWS = 6; // rows of a lane before labels are cut

/**
 * @typedef {[number, number]} Run the first and the last segment of a fragment
 * @typedef {{line: number, left: number, right: number, rtl: boolean}} Box a stretch of one line, in pixels
 * @typedef {{mark: number, code: string, runs: Run[], begins: boolean, label: string, missedBy: string}} TrackSpan
 *   `begins` tells whether the span begins in this sentence, `missedBy` the system where gold's span stands in its lane
 * @typedef {{name: string, side: string, spans: TrackSpan[], right: number, wrong: number}} Lane
 * @typedef {{span: number, line: number, row: number, left: number, right: number, first: boolean}} Bar
 * @typedef {{span: number, line: number, row: number, left: number, width: number, text: string, rtl: boolean}} Label
 * @typedef {{tops: number[], bars: Bar[], labels: Label[]}} LaidLane `tops` by line, from its text downwards
 */

/**
 * The sentences of a text as runs of segments; without sentences each line of the text is one.
 *
 * @returns {Run[]}
 */
function sentenceRuns({ paragraphs, sentences }) {
  const starts = new Set(sentences);
  let count = 0;
  for (const { texts } of paragraphs) {
    starts.add(count);
    count += texts.length;
  }
  const ordered = [...starts].filter((start) => start < count).sort((a, b) => a - b);
  return ordered.map((start, number) => [start, (ordered[number + 1] ?? count) - 1]);
}

/**
 * The lanes of a sentence: gold, what a reviewer says is right where there is something, and one for each system.
 *
 * @param {{marks: object[]}} text
 * @param {Run} sentence
 * @param {{reference: string, system: string, systems: string[]}} names `system` is the one that is read, among `systems`
 * @returns {Lane[]}
 */
function lanesOfSentence({ marks }, [first, last], { reference, system, systems }) {
  const inSentence = marks.flatMap((mark, number) => {
    const runs = mark.parts.filter(([from, to]) => from <= last && to >= first);
    const clipped = runs.map(([from, to]) => [Math.max(from, first), Math.min(to, last)]);
    return clipped.length ? [{ mark, number, runs: clipped, begins: mark.parts[0][0] >= first }] : [];
  });
  const spanOf = ({ mark, number, runs, begins }, missedBy = "") => ({
    mark: number,
    code: missedBy ? "MIS" : mark.code,
    runs,
    begins,
    label: `${begins ? "" : "… "}${missedBy ? "–" : mark.glyph} ${mark.name ?? mark.type}`,
    missedBy,
  });
  const lane = (name, side, spans) => {
    const own = spans.filter(({ begins }) => begins);
    const right = own.filter(({ code }) => code === "COR").length;
    return { name, side, spans, right, wrong: own.length - right };
  };
  const ofSide = (side) => inSentence.filter(({ mark }) => mark.side === side);
  const isMissedBy = (mark, name) => (name === system ? mark.code === "MIS" : (mark.missed ?? []).includes(name));
  const lanes = systems.map((name) => {
    const predicted = name === system ? ofSide("prediction") : ofSide("beside").filter(({ mark }) => mark.system === name);
    const missed = ofSide("gold").filter(({ mark }) => isMissedBy(mark, name));
    const spans = [...predicted.map((each) => spanOf(each)), ...missed.map((each) => spanOf(each, name))];
    return lane(name, name === system ? "prediction" : "beside", spans);
  });
  const corrected = ofSide("right").map((each) => spanOf(each));
  return [
    lane(reference, "gold", ofSide("gold").map((each) => spanOf(each))),
    ...(corrected.length ? [lane("corrected", "right", corrected)] : []),
    ...lanes,
  ];
}

/**
 * Where the bars and labels of lanes lie: no two of a row overlap, labels are whole as long as there are rows for them.
 *
 * @param {Lane[]} lanes
 * @param {(segment: number) => Box[]} boxesOf the boxes of a segment
 * @param {number} width of the lines
 * @param {(text: string) => number} widthOf the width of a label
 * @param {number} lines
 * @returns {{lanes: LaidLane[], heights: number[]}} the lanes, and their height below each line: nothing below a line
 *   without spans
 */
function layoutLanes(lanes, boxesOf, width, widthOf, lines) {
  const names = [...new Set(lanes.flatMap(({ spans }) => spans.map(({ label }) => label)))];
  const laid = lanes.map(({ spans }) => {
    const rows = [];
    const [bars, labels] = [[], []];
    const pieces = spans.map(({ runs }) => runs.flatMap(([from, to]) => joinedBoxes(from, to, boxesOf)));
    const order = [...spans.keys()].sort((a, b) => inReadingOrder(pieces[a], pieces[b]));
    for (const span of order) {
      if (!pieces[span].length) continue;
      const labelled = labelBox(pieces[span][0], Math.min(widthOf(spans[span].label), width), width);
      const occupied = [...pieces[span], labelled];
      let row = rows.findIndex((taken) => !occupied.some((box) => taken.some((other) => isOver(box, other))));
      let box = labelled;
      if (row < 0 && rows.length >= TRACK_ROWS) {
        // The bar goes where no bar is; its label takes the room that there is.
        row = rows.findIndex((taken) => !pieces[span].some((piece) => taken.some((other) => isOver(piece, other))));
        if (row >= 0) box = { ...labelled, right: Math.max(roomAfter(rows[row], pieces[span][0], width), pieces[span][0].right), left: pieces[span][0].left };
      }
      if (row < 0) row = rows.push([]) - 1;
      rows[row].push(...pieces[span], box);
      pieces[span].forEach((piece, number) => bars.push({ span, row, first: number === 0, line: piece.line, left: piece.left, right: piece.right }));
      const text = cutLabel(spans[span].label, box.right - box.left, widthOf, names);
      labels.push({ span, row, line: box.line, left: box.left, width: box.right - box.left, text, rtl: box.rtl });
    }
    return { tops: [], bars, labels };
  });
  const rowsOfLanes = laid.map(({ bars, labels }) => rowsByLine([...bars, ...labels], lines));
  const heights = [];
  for (let line = 0; line < lines; line += 1) {
    const isBare = rowsOfLanes.every((rows) => !rows[line]);
    let top = 0;
    laid.forEach(({ tops }, number) => {
      tops.push(top);
      if (!isBare) top += Math.max(1, rowsOfLanes[number][line]) * TRACK_ROW + TRACK_GAP;
    });
    heights.push(top);
  }
  return { lanes: laid, heights };
}

// How many rows of a lane each line has.
function rowsByLine(placed, lines) {
  const rows = new Array(lines).fill(0);
  for (const { line, row } of placed) rows[line] = Math.max(rows[line], row + 1);
  return rows;
}

const isOver = (box, other) => box.line === other.line && box.left < other.right + TRACK_LABEL_GAP && other.left < box.right + TRACK_LABEL_GAP;

// Longer spans that begin at one place come first: those inside of them lie below.
function inReadingOrder(ours, others) {
  const [[a], [b]] = [ours, others];
  if (!a || !b) return a ? -1 : b ? 1 : 0;
  return a.line - b.line || a.left - b.left || b.right - a.right;
}

// The label begins with its span, and moves back only where the line ends.
function labelBox({ line, left, right, rtl }, labelWidth, width) {
  const start = rtl ? Math.max(0, right - labelWidth) : Math.max(0, Math.min(left, width - labelWidth));
  return { line, rtl, left: start, right: start + labelWidth };
}

function roomAfter(taken, { line, left }, width) {
  const following = taken.filter((other) => other.line === line && other.left > left).map((other) => other.left - TRACK_LABEL_GAP);
  return Math.min(width, ...following);
}

// The boxes of a run of segments; those that touch on one line become one.
function joinedBoxes(from, to, boxesOf) {
  const boxes = [];
  for (let segment = from; segment <= to; segment += 1) boxes.push(...boxesOf(segment));
  boxes.sort((a, b) => a.line - b.line || a.left - b.left);
  const pieces = [];
  for (const box of boxes) {
    const last = pieces.at(-1);
    if (last && last.line === box.line && box.left - last.right < 2) last.right = Math.max(last.right, box.right);
    else pieces.push({ ...box, right: Math.max(box.right, box.left + 5) });
  }
  return pieces;
}
