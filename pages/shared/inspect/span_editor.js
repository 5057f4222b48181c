// The editor of spans as plain data, and the functions that return the next one: for a key (`editKey`), for a stretch
// of the text that was dragged over (`editStretch`) and for buttons (`editType` …). `workbench_state.js` opens it on a
// record and sends what it holds as one event; `workbench_drawing.js` draws it.
//
// Everything in here counts code points of the text that is shown, as Python does. The browser counts UTF-16 units:
// `editedText` and `pointsIn` are the only places that convert.

/**
 * @typedef {[number, number]} Fragment code points [start, end) of the text that is shown
 * @typedef {{fragments: Fragment[], type: string}} Span fragments in order, apart from one another
 * @typedef {{span: number, fragment: number, side: 0 | 1}} Edge a start (0) or an end (1)
 * @typedef {{points: string[], characters: number[], starts: number[], ends: number[], offset: number}} EditedText
 *   its code points; the bounds of a reader's characters, those at which words start and end, and the document's code
 *   points before it
 * @typedef {{spans: Span[], edge: Edge, source: number, before: Moment | null}} Moment what a step of undo goes back to
 * @typedef {object} Editor
 * @property {EditedText} text
 * @property {string[]} types the types that exist
 * @property {string} type that of spans that are drawn
 * @property {Span[][]} sources what the spans may start from: those decided on before, gold's, the prediction's
 * @property {number} source the one that they started from
 * @property {Span[]} spans
 * @property {Edge} edge the edge that keys move; its span is the one that is edited
 * @property {string} filter what was typed to find a type
 * @property {boolean} unfolded whether all types are offered, however many there are
 * @property {Moment | null} past
 * @property {Moment | null} future
 * @property {string} message why the last key did nothing
 * @property {"" | "keep" | "leave"} outcome
 */

const FILTER_CHARACTERS = 100; // of a new type
const TYPE_KEYS = /^[^\s+&-]$/u; // the first letter that is typed of a type
const APOSTROPHES = /['’]/gu; // words are cut at both sides of them: l'Europe, Crohn's

/**
 * The text that is edited, from the segments that it is drawn in: spans begin and end at their bounds.
 *
 * @param {string[]} segments
 * @param {number} offset
 * @returns {EditedText}
 */
function editedText(segments, offset) {
  const text = segments.join("");
  const points = [...text];
  // The code point that each UTF-16 unit belongs to; the end of the text is one more.
  const pointOfUnit = new Uint32Array(text.length + 1);
  let unit = 0;
  points.forEach((point, number) => {
    pointOfUnit.fill(number, unit, unit + point.length);
    unit += point.length;
  });
  pointOfUnit[unit] = points.length;
  const split = (granularity) => [...new Intl.Segmenter(undefined, { granularity }).segment(text)];
  const characters = [...split("grapheme").map(({ index }) => pointOfUnit[index]), points.length];
  const edges = [];
  for (const { segment, index } of split("word")) {
    if (!segment.trim()) continue;
    edges.push(index, index + segment.length);
    for (const { index: at } of segment.matchAll(APOSTROPHES)) edges.push(index + at, index + at + 1);
  }
  unit = 0;
  for (const segment of segments) edges.push((unit += segment.length));
  const bounds = [...new Set(edges.map((edge) => pointOfUnit[edge]))].sort((a, b) => a - b);
  const isBlank = (at) => !points[at]?.trim();
  return {
    points,
    characters,
    starts: bounds.filter((at) => !isBlank(at)),
    ends: bounds.filter((at) => at > 0 && !isBlank(at - 1)),
    offset,
  };
}

// The code points of a string: those before a place of the text, where it is the text before that place.
const pointsIn = (text) => [...text].length;

/**
 * @param {EditedText} text
 * @param {string[]} types
 * @param {Span[][]} sources
 * @param {string} type that of spans that are drawn, "" where one is to be chosen first
 * @returns {Editor}
 */
function newEditor(text, types, sources, type = sources.flat()[0]?.type ?? types[0] ?? "") {
  const [spans, other] = [sources[0] ?? [], sources[1] ?? []];
  return {
    text,
    types,
    type,
    sources,
    source: 0,
    spans,
    edge: firstEdge(spans, other),
    filter: "",
    unfolded: false,
    past: null,
    future: null,
    message: "",
    outcome: "",
  };
}

// The edge to be moved first: the one at which both sides differ.
/** @returns {Edge} */
function firstEdge(spans, other) {
  const last = Math.max(0, (spans[0]?.fragments.length ?? 1) - 1);
  const [own, others] = [spans[0]?.fragments, other[0]?.fragments];
  const isStart = own && others && own[0][0] !== others[0][0] && own.at(-1)[1] === others.at(-1)[1];
  return isStart ? { span: 0, fragment: 0, side: 0 } : { span: 0, fragment: last, side: 1 };
}

const activeSpan = ({ spans, edge }) => spans[edge.span];
const momentOf = ({ spans, edge, source }, before) => ({ spans, edge, source, before });

// The editor with other spans, which undo takes back; the same spans are no step.
function withSpans(editor, spans, edge, source = editor.source) {
  const next = { ...editor, message: "", spans, edge, source };
  if (JSON.stringify(spans) === JSON.stringify(editor.spans)) return next;
  return { ...next, past: momentOf(editor, editor.past), future: null };
}

function stepBack(editor) {
  const { past } = editor;
  if (!past) return editor;
  const { spans, edge, source, before } = past;
  return { ...editor, spans, edge, source, filter: "", message: "", past: before, future: momentOf(editor, editor.future) };
}

function stepForward(editor) {
  const { future } = editor;
  if (!future) return editor;
  const { spans, edge, source, before } = future;
  return { ...editor, spans, edge, source, filter: "", message: "", future: before, past: momentOf(editor, editor.past) };
}

// Fragments in order; those that share characters or touch are one.
function joinedFragments(fragments) {
  const joined = [];
  for (const [start, end] of [...fragments].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

// The editor with other fragments of the span that is edited; the active edge is the one at `at`, or the next one out.
function withFragments(editor, fragments, at, side) {
  const joined = joinedFragments(fragments);
  const fragment = Math.max(0, joined.findIndex(([start, end]) => start <= at && at <= end));
  const spans = editor.spans.map((span, number) => (number === editor.edge.span ? { ...span, fragments: joined } : span));
  return withSpans(editor, spans, { ...editor.edge, fragment, side });
}

const after = (bounds, at) => bounds.find((bound) => bound > at);
const before = (bounds, at) => bounds.findLast((bound) => bound < at);

/** @param {Editor} editor @param {1 | -1} step @param {boolean} byCharacter @returns {Editor} */
function moveEdge(editor, step, byCharacter) {
  const span = activeSpan(editor);
  if (!span) return editor;
  const { text, edge } = editor;
  const [start, end] = span.fragments[edge.fragment];
  const words = edge.side ? text.ends : text.starts;
  // By character, too, no span begins or ends with a blank.
  const isBlank = (at) => !text.points[edge.side ? at - 1 : at]?.trim();
  const bounds = byCharacter ? text.characters.filter((at) => !isBlank(at)) : words;
  const at = (step > 0 ? after : before)(bounds, edge.side ? end : start);
  if (at === undefined) return { ...editor, message: "The text shown here ends there." };
  if (edge.side ? at <= start : at >= end) {
    const message = byCharacter ? "A span has at least a character." : "A span has at least a word; Shift+Alt moves by character.";
    return { ...editor, message };
  }
  const moved = edge.side ? [start, at] : [at, end];
  return withFragments(editor, span.fragments.with(edge.fragment, moved), at, edge.side);
}

// Another edge becomes the one that keys move; those of all spans follow one another.
function turnToEdge(editor, step) {
  const edges = editor.spans.flatMap(({ fragments }, span) =>
    fragments.flatMap((_, fragment) => [0, 1].map((side) => ({ span, fragment, side }))),
  );
  const { span, fragment, side } = editor.edge;
  const at = edges.findIndex((edge) => edge.span === span && edge.fragment === fragment && edge.side === side);
  return { ...editor, message: "", filter: "", edge: edges[Math.min(Math.max(0, at + step), edges.length - 1)] ?? editor.edge };
}

// The span goes a word further, with as many words as it has.
function shiftSpan(editor, step) {
  const span = activeSpan(editor);
  const { starts, ends } = editor.text;
  if (span?.fragments.length !== 1) return editor;
  const [[start, end]] = span.fragments;
  const [from, to] = step > 0 ? [after(starts, start), after(ends, end)] : [before(starts, start), before(ends, end)];
  if (from === undefined || to === undefined) return editor;
  return withFragments(editor, [[from, Math.max(to, after(ends, from))]], Math.max(to, after(ends, from)), 1);
}

// The first word behind a place, or the last one before another; null in a text without any.
/** @returns {Fragment | null} */
function wordBeside({ starts, ends }, behind, ahead) {
  const next = starts.find((start) => start >= behind && after(ends, start) !== undefined);
  if (next !== undefined) return [next, after(ends, next)];
  const end = ends.findLast((bound) => bound <= ahead);
  const start = end === undefined ? undefined : before(starts, end);
  return start === undefined ? null : [start, end];
}

// A further span, of the same type, on the word behind the one that is edited.
function addSpan(editor) {
  const span = activeSpan(editor) ?? editor.sources.flat()[0];
  const ends = span ? [span.fragments.at(-1)[1], span.fragments[0][0]] : [0, 0];
  const word = wordBeside(editor.text, ...ends);
  if (!word) return editor;
  const type = span?.type ?? editor.type;
  const added = { ...editor, filter: "" };
  return withSpans(added, [...editor.spans, { fragments: [word], type }], { span: editor.spans.length, fragment: 0, side: 1 });
}

// A further fragment, on the word behind the last one but one that touches it.
function addFragment(editor) {
  const span = activeSpan(editor);
  if (!span) return addSpan(editor);
  const word = wordBeside(editor.text, span.fragments.at(-1)[1] + 1, span.fragments[0][0] - 1);
  return word ? withFragments(editor, [...span.fragments, word], word[1], 1) : editor;
}

// The active fragment goes, or the span that it is all of.
function removeActive(editor) {
  const span = activeSpan(editor);
  if (!span) return editor;
  const { edge } = editor;
  if (span.fragments.length > 1) {
    const rest = span.fragments.filter((_, fragment) => fragment !== edge.fragment);
    return withFragments(editor, rest, rest[Math.max(0, edge.fragment - 1)][1], 1);
  }
  const spans = editor.spans.filter((_, number) => number !== edge.span);
  const number = Math.max(0, Math.min(edge.span, spans.length - 1));
  const fragment = Math.max(0, (spans[number]?.fragments.length ?? 1) - 1);
  return withSpans({ ...editor, filter: "" }, spans, { span: number, fragment, side: 1 });
}

// The spans of the next source take the place of what is there: gold's, then the prediction's.
function turnToSource(editor) {
  if (!editor.sources.length) return editor;
  const source = editor.spans.length ? (editor.source + 1) % editor.sources.length : editor.source;
  const spans = editor.sources[source];
  const other = editor.sources[(source + 1) % editor.sources.length];
  return withSpans({ ...editor, filter: "" }, spans, firstEdge(spans, other), source);
}

/**
 * A stretch of the text that was dragged over, blanks at its ends left out, becomes the span that is edited, or with
 * `isFragment` a further fragment of it.
 *
 * @param {Editor} editor @param {number} from @param {number} to @param {boolean} isFragment @returns {Editor}
 */
function editStretch(editor, from, to, isFragment) {
  const stretch = trimmedStretch(editor.text, from, to);
  if (!stretch) return editor;
  const span = activeSpan(editor);
  if (span) return withFragments(editor, isFragment ? [...span.fragments, stretch] : [stretch], stretch[1], 1);
  const { type } = editor;
  return withSpans(editor, [{ fragments: [stretch], type }], { span: 0, fragment: 0, side: 1 });
}

// A stretch of whole characters without blanks at its ends, null where nothing remains.
function trimmedStretch({ points, characters }, from, to) {
  let low = characters.findLast((bound) => bound <= Math.max(0, Math.min(from, to))) ?? 0;
  let high = characters.find((bound) => bound >= Math.min(points.length, Math.max(from, to))) ?? points.length;
  while (low < high && !points[low].trim()) low += 1;
  while (low < high && !points[high - 1].trim()) high -= 1;
  return low < high ? [low, high] : null;
}

/**
 * The types that are offered: those that begin with what was typed, those that hold it, and, where none is called so,
 * a new one. Without anything typed all that exist.
 *
 * @param {Editor} editor @returns {{type: string, isNew: boolean}[]}
 */
function typeChoices({ types, filter }) {
  const typed = filter.trim();
  const isIn = (type) => type.toLowerCase().indexOf(typed.toLowerCase());
  const begins = types.filter((type) => isIn(type) === 0);
  const choices = [...begins, ...types.filter((type) => isIn(type) > 0)].map((type) => ({ type, isNew: false }));
  if (typed && !types.includes(typed)) choices.push({ type: typed, isNew: true });
  return choices;
}

const TYPES_OFFERED = 12; // types that are offered at once

/**
 * The types that are offered: those about the span's own, or all; and how many there are beside them.
 *
 * @param {Editor} editor
 */
function offeredTypes(editor) {
  const choices = typeChoices(editor);
  if (editor.unfolded) return { choices, more: 0 };
  const at = choices.findIndex(({ type }) => type === activeSpan(editor)?.type);
  const first = Math.max(0, Math.min(at - TYPES_OFFERED / 2, choices.length - TYPES_OFFERED));
  return { choices: choices.slice(first, first + TYPES_OFFERED), more: Math.max(0, choices.length - TYPES_OFFERED) };
}

/** @param {Editor} editor @returns {Editor} */
const foldTypes = (editor) => ({ ...editor, unfolded: !editor.unfolded });

/** @param {Editor} editor @param {string} type @returns {Editor} */
function editType(editor, type) {
  const spans = editor.spans.map((span, number) => (number === editor.edge.span ? { ...span, type } : span));
  return withSpans(editor, spans, editor.edge);
}

// What is typed finds a type that exists; a new one is for the arrow keys and the pointer alone.
function typeFilter(editor, filter) {
  const next = { ...editor, filter, message: "" };
  const [first] = typeChoices(next);
  if (!filter.trim() || !activeSpan(editor)) return next;
  if (first && !first.isNew) return editType(next, first.type);
  return { ...next, message: `No type is called “${filter.trim()}” yet: ↓ takes it as a new one, Esc forgets it.` };
}

// The type before or after the span's own among those that are offered.
function turnToType(editor, step) {
  const choices = typeChoices(editor);
  const span = activeSpan(editor);
  if (!span || !choices.length) return editor;
  const at = choices.findIndex(({ type }) => type === span.type);
  const next = at < 0 ? (step > 0 ? 0 : choices.length - 1) : Math.min(Math.max(0, at + step), choices.length - 1);
  return editType(editor, choices[next].type);
}

function keepSpans(editor) {
  const typed = editor.filter.trim();
  const span = activeSpan(editor);
  const isFound = !typed || !span || typeChoices(editor).some(({ type }) => type === span.type);
  if (!isFound) return { ...editor, message: `No type is called “${typed}” yet: ↓ takes it as a new one.` };
  if (editor.spans.some(({ type }) => !type)) return { ...editor, message: "Which type? Type its first letters." };
  return { ...editor, outcome: "keep" };
}

const sayCharacterKeys = (editor) => ({ ...editor, message: "Shift+Alt+← and Shift+Alt+→ move the edge by a character." });

/**
 * The keys: how they are called, what each does by its chord, in words, and in a word or two for the line of hints. A key
 * without chords is the component's.
 *
 * @type {[string, Record<string, (editor: Editor) => Editor>, string, string][]}
 */
const EDIT_TABLE = [
  ["Enter", { Enter: keepSpans }, "keep what is marked", ""],
  ["Esc", { Escape: (editor) => (editor.filter ? { ...editor, filter: "", message: "" } : { ...editor, outcome: "leave" }) }, "forget the letters typed; leave without keeping", ""],
  ["Shift + ← →", { "Shift+ArrowLeft": (editor) => moveEdge(editor, -1, false), "Shift+ArrowRight": (editor) => moveEdge(editor, 1, false) }, "move the edge by a word", "edge by word"],
  ["Shift + Alt + ← →", { "Alt+Shift+ArrowLeft": (editor) => moveEdge(editor, -1, true), "Alt+Shift+ArrowRight": (editor) => moveEdge(editor, 1, true) }, "move the edge by a character", "by character"],
  ["← →", { ArrowLeft: (editor) => turnToEdge(editor, -1), ArrowRight: (editor) => turnToEdge(editor, 1) }, "turn to the edge before, to the next one", "other edge"],
  ["Ctrl + ← →", { "Control+ArrowLeft": (editor) => shiftSpan(editor, -1), "Control+ArrowRight": (editor) => shiftSpan(editor, 1) }, "move the whole span by a word", ""],
  ["a–z", {}, "find a type by its first letters; after a pause they begin anew", "type"],
  ["Backspace", { Backspace: (editor) => typeFilter(editor, [...editor.filter].slice(0, -1).join("")) }, "take back the last letter", ""],
  ["↑ ↓", { ArrowUp: (editor) => turnToType(editor, -1), ArrowDown: (editor) => turnToType(editor, 1) }, "the type before, the next one, or what was typed as a new type", ""],
  ["4", { 4: turnToSource }, "begin with the span of the other side", "other side"],
  ["+", { "+": addSpan }, "a further span", "further span"],
  ["&", { "&": addFragment }, "a further fragment of the span", ""],
  ["Ctrl + drag", {}, "a further fragment of the span", "fragment"],
  ["−", { "-": removeActive, Delete: removeActive }, "remove the fragment or the span; without any there is no entity", "remove"],
  ["*", {}, "keep the span as an entity of its own, beside the record", ""],
  ["Ctrl + Z", { "Control+z": stepBack }, "undo", "undo"],
  ["Ctrl + Y", { "Control+y": stepForward, "Control+Shift+z": stepForward }, "redo", ""],
];
const CHORDS = Object.assign({}, ...EDIT_TABLE.map(([, chords]) => chords));
const isLetter = (key) => [...key].length === 1;
const EDIT_KEYS = {
  ...Object.fromEntries(Object.entries(CHORDS).filter(([key]) => !isLetter(key))),
  // The browser would go back a page, and the edit with it.
  "Alt+ArrowLeft": sayCharacterKeys,
  "Alt+ArrowRight": sayCharacterKeys,
};
const FIRST_KEYS = Object.fromEntries(Object.entries(CHORDS).filter(([key]) => isLetter(key)));

// The keys with their words, and those of the line of hints.
const editKeyRows = () => EDIT_TABLE.map(([key, , words]) => [key, words]);
const editHints = () => EDIT_TABLE.flatMap(([key, , , hint]) => (hint ? [[key.replaceAll(" + ", "+"), hint]] : []));

/**
 * The editor after a key, which is named as `chordOf` does.
 *
 * @param {Editor} editor @param {string} key @returns {Editor}
 */
function editKey(editor, key) {
  if (key in EDIT_KEYS) return EDIT_KEYS[key](editor);
  // Once a type is being typed, digits and signs belong to it: cell_line, CD-4, B+.
  if (!editor.filter && key in FIRST_KEYS) return FIRST_KEYS[key](editor);
  const isTyped = editor.filter ? isLetter(key) : TYPE_KEYS.test(key);
  return isTyped && editor.filter.length < FILTER_CHARACTERS ? typeFilter(editor, editor.filter + key) : editor;
}

// Whether a key means something to the editor; all others are the browser's.
const isEditKey = (key) => key in EDIT_KEYS || isLetter(key);

const TYPE_PAUSE = 1000; // milliseconds after which letters find a type anew, as in any list
const NAME_PAUSE = 3000; // milliseconds, where no type is called so: a new one is thought about

/**
 * The editor before a key that comes so many milliseconds after the last one: letters after a pause begin anew.
 *
 * @param {Editor} editor @param {string} key @param {number} pause @returns {Editor}
 */
function afterPause(editor, key, pause) {
  const patience = typeChoices(editor)[0]?.isNew ? NAME_PAUSE : TYPE_PAUSE;
  return editor.filter && isLetter(key) && pause > patience ? { ...editor, filter: "", message: "" } : editor;
}

// A key with what was held down beside it. The command key of a Mac is its control key.
function chordOf({ key, altKey, ctrlKey, metaKey, shiftKey }) {
  const isNamed = key.length > 1 || ctrlKey || metaKey;
  const held = [altKey && isNamed && "Alt", (ctrlKey || metaKey) && "Control", shiftKey && isNamed && "Shift"];
  return [...held.filter(Boolean), isNamed && key.length === 1 ? key.toLowerCase() : key].join("+");
}

// The fragments of a span in the document's own code points, or those of the document in the text that is shown.
const shifted = ({ fragments, type }, by) => ({ fragments: fragments.map(([start, end]) => [start + by, end + by]), type });

/**
 * The spans as the server takes them: each once, in the document's code points; `isNew` where the type is.
 *
 * @param {Editor} editor
 */
function editedSpans({ spans, types, text }) {
  const unique = new Map(spans.map((span) => [JSON.stringify(span), span]));
  return [...unique.values()].map((span) => ({ ...shifted(span, text.offset), isNew: !types.includes(span.type) }));
}

// The words that a span covers, its fragments apart.
function quoteOf(text, { fragments }) {
  return fragments.map(([start, end]) => text.points.slice(start, end).join("")).join(" … ");
}

/**
 * The state of the editor in words, for readers of screens: “troponin I”, protein, characters 12 to 22.
 *
 * @param {Editor} editor
 */
function editorWords(editor) {
  const span = activeSpan(editor);
  if (!span) return "no entity";
  const places = span.fragments.map(([start, end]) => `${start + editor.text.offset} to ${end + editor.text.offset}`);
  const number = editor.spans.length > 1 ? `, span ${editor.edge.span + 1} of ${editor.spans.length}` : "";
  const isNew = span.type && !editor.types.includes(span.type);
  const type = isNew ? `new type ${nameText(span.type)}` : nameText(span.type) || "no type yet";
  return `${quoteOf(editor.text, span)}, ${type}, characters ${places.join(" and ")}${number}`;
}

/**
 * The data of a text with further marks: its segments are cut where their fragments begin and end. `marks` come with
 * `fragments` in place of `parts`; each gets a lane of its side.
 *
 * @param {{paragraphs: {texts: string[]}[], marks: object[], place: number[] | null}} data
 */
function withMarks(data, marks) {
  const cuts = [...new Set(marks.flatMap(({ fragments }) => fragments.flat()))].sort((a, b) => a - b);
  const firstOf = []; // the new number of the first segment of each old one
  const startOf = new Map(); // new segment by the code point that it begins at
  let [number, start] = [0, 0];
  const paragraphs = data.paragraphs.map((paragraph) => ({
    ...paragraph,
    texts: paragraph.texts.flatMap((text) => {
      const points = [...text];
      const inside = cuts.filter((cut) => start < cut && cut < start + points.length).map((cut) => cut - start);
      const bounds = [0, ...inside, points.length];
      firstOf.push(number);
      for (const bound of bounds.slice(0, -1)) startOf.set(start + bound, number++);
      start += points.length;
      return bounds.slice(1).map((end, at) => points.slice(bounds[at], end).join(""));
    }),
  }));
  firstOf.push(number);
  startOf.set(start, number);
  const lastOf = (old) => firstOf[old + 1] - 1;
  const moved = data.marks.map((mark) => ({ ...mark, parts: mark.parts.map(([from, to]) => [firstOf[from], lastOf(to)]) }));
  const place = data.place?.flatMap((old) => numbersFrom(firstOf[old], lastOf(old))) ?? data.place;
  const placed = marks.map(({ fragments, ...mark }) => ({
    ...mark,
    parts: fragments.map(([from, to]) => [startOf.get(from), startOf.get(to) - 1]),
  }));
  return { ...data, paragraphs, marks: [...moved, ...inLanes(placed)], place };
}

// The code point at which each segment begins, and the end of the text.
function segmentStarts(paragraphs) {
  const starts = [0];
  for (const { texts } of paragraphs) for (const text of texts) starts.push(starts.at(-1) + pointsIn(text));
  return starts;
}

const numbersFrom = (first, last) => Array.from({ length: last - first + 1 }, (_, step) => first + step);

// Marks of one side with their lanes: no two in a lane share a segment.
function inLanes(marks) {
  const lanes = [];
  return marks.map((mark) => {
    const [from, to] = [mark.parts[0][0], mark.parts.at(-1)[1]];
    let lane = lanes.findIndex((taken) => taken.every(([low, high]) => to < low || high < from));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push([from, to]);
    return { ...mark, lane };
  });
}
