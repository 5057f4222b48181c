// The state of the workbench as plain data, and the functions that return the next one: for an answer of the server
// (`take`) and for what the reader does (`press`, `choose`, `decide` …). `workbench_drawing.js` draws it.
//
// What the reader does is shown at once, and is an event that the server is told, see `events.js`.

const MOST_CACHED = 400; // texts and cards of earlier answers
const VERDICT_KEYS = "12345";

// `data` is the last answer; `open` the document and record on screen, `at` its number in the queue, or halfway between
// two where it is not listed; `step` is 1 or -1 while a record beyond `data.entries` is waited for, and `heldKeys` are
// keys that wait with it, or for the card of a record that is to be edited (`awaitsCard`); `labels` are the verdicts
// that no answer has yet, and `corrected` the spans that these say are right. `edit` is the record that is edited in
// the text, with its editor (`span_editor.js`), or an entity that nobody had marked: then `record` is empty, and `entity`
// what was kept of it before. `drafts` are editors that were left for another record, and those whose spans were sent;
// `entities` are entities that no answer has yet.
function initialState(mount, heard) {
  return {
    ...newEvents(mount, heard),
    data: null,
    texts: new Map(),
    cards: new Map(),
    open: ["", ""],
    at: -0.5,
    textKey: "",
    step: 0,
    heldKeys: [],
    awaitsCard: false,
    labels: {},
    corrected: {},
    entities: {},
    edit: null,
    drafts: {},
    lastType: "",
    notes: {},
    message: null,
    colour: null,
    isCorrectLabelled: false,
    isComparing: false,
    isLate: false,
  };
}

const recordKey = (doc, record) => `${doc}\n${record}`;
const windowKey = (doc, number) => `${number}|${doc}`;
const openKey = (state) => recordKey(...state.open);
const openCard = (state) => state.cards.get(openKey(state));
const entryAt = (state, at) => state.data.entries[at - state.data.first];

// The number of a record in the queue, null where it is not in the part that was sent.
function numberOf({ data }, doc, record) {
  const place = data.entries.findIndex((entry) => entry[0] === doc && entry[1] === record);
  return place < 0 ? null : data.first + place;
}

// What the server is told: the open record, and all events that it has not acknowledged.
function messageOf({ mount, open, at, events }) {
  return { mount, at: [...open, Number.isInteger(at) ? at : -1], events };
}

// After undo, "go to" and "next" the server says which record is open, and of another system what its records are.
const leadsAway = ({ act }) => act === "undo" || act === "jump" || act === "next" || act === "system";

// An event about the open record.
function withRecordEvent(state, event) {
  const [doc, record] = state.open;
  return withEvent(state, { ...event, doc, record });
}

function withLatest(cached, latest) {
  const all = new Map(cached);
  for (const [key, value] of Object.entries(latest)) {
    const before = all.get(key);
    all.delete(key);
    // What was sent again stays the object that it was: so the drawing sees that nothing has changed.
    all.set(key, before && JSON.stringify(before) === JSON.stringify(value) ? before : value);
  }
  for (const key of all.keys()) if (all.size > MOST_CACHED) all.delete(key);
  return all;
}

// Cards share most of their rows, which are sent once: each card has their numbers.
function withRows({ cards, rows }) {
  const whole = (card) => ({ ...card, rows: card.rows.map((number) => rows[number]) });
  return Object.fromEntries(Object.entries(cards).map(([key, card]) => [key, whole(card)]));
}

// An answer of the server. What the reader has done since the events that it acknowledges stays as it is.
function take(before, data) {
  const said = newOutcome(before, data.verdicts.said);
  const state = { ...before, drafts: draftsAfter(before, acknowledgedBy(before, data), !said?.wrong) };
  const isForgotten = state.data && state.data.session !== data.session;
  const { lastEvent, events, waiting } = isForgotten
    ? forNewSession(state, data, unacknowledged(state, data))
    : { lastEvent: state.lastEvent, events: unacknowledged(state, data), waiting: [] };
  const isSame = state.data?.facts === data.facts;
  let next = {
    ...state,
    data,
    lastEvent,
    events,
    isLate: state.isLate && events.some(isVerdict),
    texts: withLatest(isSame ? state.texts : [], data.texts),
    cards: withLatest(isSame ? state.cards : [], withRows(data)),
    step: 0,
    heldKeys: [],
    awaitsCard: false,
    labels: isSame ? state.labels : {},
    corrected: isSame ? state.corrected : {},
    entities: isSame ? state.entities : {},
    edit: isSame ? state.edit : null,
    // Of other records, or texts that are cut otherwise, the spans alone remain.
    drafts: isSame ? state.drafts : state.data?.draftsOf === data.draftsOf && state.data ? draftsToStore(state) : {},
    heard: said?.id ?? state.heard,
    message: said ?? (state.message?.untilAnswered && !events.length ? null : state.message),
  };
  if (events.length) next.at = numberOf(next, ...next.open) ?? next.at;
  else Object.assign(next, { open: data.open, at: data.at, textKey: data.text, labels: {}, corrected: {}, entities: {} });
  next = waiting.reduce(withShown, next);
  if (next.edit && !isOpen(next, next.edit)) Object.assign(next, leaveEdit(next));
  const moved = state.step ? stepAgain(next, state.step) : next;
  // Keys are for the record that was waited for: without it they are for none.
  return isSame && moved ? state.heldKeys.reduce(press, moved) : next;
}

// The drafts without those that were decided on with an answer, which are drafts again where a verdict was not kept.
function draftsAfter({ drafts, events }, acknowledged, isKept) {
  const decided = events.filter(({ act, seq }) => act === "verdict" && seq <= acknowledged);
  const keys = new Set(decided.map(({ doc, record }) => recordKey(doc, record)).filter((key) => drafts[key]?.isDecided));
  if (!keys.size) return drafts;
  const entries = Object.entries(drafts).map(([key, draft]) => [key, keys.has(key) ? { ...draft, isDecided: false } : draft]);
  return Object.fromEntries(entries.filter(([key]) => !isKept || !keys.has(key)));
}

// Take a step that waited for this answer, or wait for the next one; null where none is to come.
function stepAgain(state, step) {
  const at = neighbour(state, step);
  if (entryAt(state, at)) return chooseNumber(state, at);
  return state.events.length ? { ...state, step } : null;
}

// A key of the editor where one is open, else one that gives a verdict, moves, takes back, stars, or shows the whole
// document.
//
// A stretch of the text that was dragged over may stand in the place of a key.
function press(state, key) {
  const isNextSystem = key === "[" || key === "]";
  if (isWaiting(state) && !(isNextSystem && state.events.at(-1)?.act === "system"))
    return { ...state, heldKeys: [...state.heldKeys, key] };
  if (Array.isArray(key)) return dragOver(state, ...key);
  if (state.edit) return pressInEditor(state, key);
  if (isAnswerOnDrafts(state, key)) return DRAFT_KEYS[key](state);
  if (isAnswerOnConflicts(state, key)) return answerByKey(state, key);
  return KEYS[key]?.(state) ?? state;
}

// Whether keys are kept for the record that an answer will open.
const isWaiting = (state) => Boolean(state.step) || state.awaitsCard || state.events.some(leadsAway);

// Whether a key is for the editor, which may open only with the next answer.
const isEditing = (state) => Boolean(state.edit) || (isWaiting(state) && state.heldKeys.some(opensEditor));

const EDIT_KEY = "4";
const opensEditor = (key) => key === EDIT_KEY || key === "m" || Array.isArray(key);
// The keys: what each does, and in words.
const VERDICT_WORDS = ["gold is right", "the prediction is right", "both are right", "neither: mark what is right", "unclear"];
/** @type {[string, (state: any) => any, string][]} key, what it does, in words */
const KEY_TABLE = [
  ["j", (state) => move(state, 1), "next record"],
  ["k", (state) => move(state, -1), "previous record"],
  ...[...VERDICT_KEYS].map(/** @returns {[string, (state: any) => any, string]} */ (key, number) => [
    key, key === EDIT_KEY ? openEditor : (state) => decide(state, number), VERDICT_WORDS[number],
  ]),
  ["m", markNextWord, "mark an entity that nobody has marked"],
  ["u", undo, "take the last verdict back"],
  ["s", star, "star the record for Present"],
  ["[", (state) => readSystem(state, -1), "read the system before, on the same record"],
  ["]", (state) => readSystem(state, 1), "read the next system, on the same record"],
  ["w", showWhole, "whole document, or the queue"],
];

// All keys with their words, in which verdicts are called as on the page: by annotators' names where there is no gold.
function keyRows({ data }) {
  const words = data.verdicts.words ?? [];
  const rows = KEY_TABLE.map(([key, ...rest]) => [key, (key !== EDIT_KEY && words[VERDICT_KEYS.indexOf(key)]) || rest.at(-1)]);
  return [...rows, ["n", "write a note"], ["t y", "where somebody was first: theirs counts, mine counts; with Shift in all"], ["While a span is marked (4, M or a drag)"], ...editKeyRows()];
}
const KEYS = Object.fromEntries(KEY_TABLE.map(([key, act]) => [key, act]));
// Those that answer the line about drafts that are back.
const DRAFT_KEYS = { Enter: goOnWithDraft, Escape: dropDrafts };
const isAnswerOnDrafts = (state, key) => key in DRAFT_KEYS && !state.edit && draftsAskedAbout(state).length > 0;
// Those that change nothing but what is on screen.
const isLook = (key) => "jkw[]".includes(key);

// Whoever edits another record finds the draft again when the editor is opened there.
function choose(state, doc, record, at = numberOf(state, doc, record)) {
  const textKey = state.cards.get(recordKey(doc, record))?.key ?? state.textKey;
  return withEvent({ ...leaveEdit(state), open: [doc, record], at: at ?? state.at, textKey }, { act: "open" });
}

function chooseNumber(state, at) {
  const entry = entryAt(state, at);
  return entry ? choose(state, entry[0], entry[1], at) : state;
}

// The number of the next record of the queue, or of the one before.
const neighbour = ({ at }, step) => (step > 0 ? Math.floor(at) + 1 : Math.ceil(at) - 1);

function move(state, step) {
  const next = neighbour(state, step);
  if (next < 0 || next >= state.data.total) return state;
  if (entryAt(state, next)) return chooseNumber(state, next);
  const waiting = { ...state, step };
  // The part of the queue around the open record comes with the answer to its event.
  return state.events.length ? waiting : withEvent(waiting, { act: "open" });
}

// Give the verdict of a key; `right` are the spans that are right where neither side is.
function decide(state, number, right = []) {
  const { verdicts } = state.data;
  const [key, card, kind] = [openKey(state), openCard(state), verdicts.kinds?.[number]];
  if (!isDecidable(state)) return state;
  const event = { act: "verdict", kind, note: noteOf(state) };
  if (kind === "neither") event.right = right;
  if (card && !(key in state.labels)) event.version = card.version;
  const next = withRecordEvent(state, event);
  next.labels = { ...state.labels, [key]: verdicts.labels[number] };
  next.corrected = { ...state.corrected, [key]: right };
  if (key in state.drafts) next.drafts = { ...state.drafts, [key]: { ...state.drafts[key], isDecided: true } };
  next.message = withoutIdleQuestion(next).message;
  return verdicts.advance ? advance(next) : next;
}

// Open the editor on the open record: it begins with what was decided before, else with gold's span.
function openEditor(state) {
  const [card, text] = [openCard(state), state.texts.get(state.textKey)];
  if (!isDecidable(state)) return state;
  if (!card || text?.doc !== state.open[0]) {
    return state.events.length ? { ...state, awaitsCard: true, heldKeys: [...state.heldKeys, EDIT_KEY] } : state;
  }
  const [doc, record] = state.open;
  const right = correctedSpans(state, openKey(state));
  const draft = right.length || state.drafts[openKey(state)]?.isDecided ? null : state.drafts[openKey(state)];
  const begun = newEditor(...editorSources(state, text, card, right));
  const editor = draft ? continued(begun, draft) : begun;
  return editor.sources.length ? { ...state, edit: { doc, record, editor } } : state;
}

// What an editor of a record is made of: the text, the types, and the spans that it may start from.
/** @returns {[EditedText, string[], Span[][]]} */
function editorSources(state, text, card, right) {
  const [low, high] = text.window;
  const edited = editedText(text.paragraphs.flatMap(({ texts }) => texts), low);
  const isShown = ({ fragments }) => fragments.every(([start, end]) => low <= start && start < end && end <= high);
  const sources = [right, [card.sides.gold], [card.sides.pred]]
    .map((spans) => spans.filter((span) => span && isShown(span)).map((span) => shifted(span, -low)))
    .filter((spans) => spans.length);
  const unique = new Map(sources.map((spans) => [JSON.stringify(spans), spans]));
  return [edited, typesToChoose(state), [...unique.values()]];
}

// The types that exist, with new ones of this reader that the server does not have yet.
function typesToChoose(state) {
  const named = state.events.flatMap(({ right }) => right ?? []).map(({ type }) => type);
  return [...new Set([...state.data.verdicts.types, ...named])];
}

// A key that comes so many milliseconds after the last one.
function pressAfter(state, key, pause) {
  return press(state.edit ? withEditor(state, afterPause(state.edit.editor, key, pause)) : state, key);
}

function pressInEditor(state, key) {
  if (key === ENTITY_KEY && state.edit.record && !state.edit.editor.filter) return editAsEntity(state);
  return withEditor(state, editKey(state.edit.editor, key));
}

// The editor after one of its functions: a click on a button, or a stretch of the text that was dragged over.
function changeEditor(state, change, ...values) {
  return state.edit ? withEditor(state, change(state.edit.editor, ...values)) : state;
}

function withEditor(state, editor) {
  const isRecord = Boolean(state.edit.record);
  if (editor.outcome === "keep") return isRecord ? keepEdit(state, editor) : keepEntity(state, editor);
  if (editor.outcome === "leave") return withoutIdleQuestion({ ...state, edit: null, drafts: withoutDraft(state) });
  return { ...state, edit: { ...state.edit, editor } };
}

// A stretch of the open document that was dragged over, in its code points. It is for the editor, which opens on the
// record that the stretch shares characters with: the open one before others. Elsewhere it is an entity that nobody had
// marked.
function dragOver(state, from, to, isFragment) {
  if (isWaiting(state)) return { ...state, heldKeys: [...state.heldKeys, [from, to, isFragment]] };
  if (state.edit) return dragInEditor(state, from, to, isFragment);
  const [doc, open] = state.open;
  const text = windowsOf(state).find((each) => each && each.window[0] < to && from < each.window[1]);
  if (state.data.verdicts.reason || !text) return state;
  const record = recordAt(text, from, to, open);
  if (record === null) {
    const entity = entityAt(state, doc, from, to) ?? null;
    return openEntity(state, text, entity, stretchOf(from, to, isFragment));
  }
  const opened = openEditor(record === open ? state : choose(state, doc, record));
  if (opened.awaitsCard) return { ...opened, heldKeys: [...opened.heldKeys, [from, to, isFragment]] };
  return dragInEditor(opened, from, to, isFragment);
}

// A stretch of the document as a change of an editor, which has a window of it.
const stretchOf = (from, to, isFragment) => (editor) => {
  const { offset, points } = editor.text;
  const isInWindow = from < offset + points.length && offset < to;
  return isInWindow ? editStretch(editor, from - offset, to - offset, isFragment) : editor;
};

const dragInEditor = (state, from, to, isFragment) => changeEditor(state, stretchOf(from, to, isFragment));

// The record that shares characters with a stretch: the one that is `preferred`, else the one that shares most.
function recordAt(text, from, to, preferred) {
  const starts = segmentStarts(text.paragraphs).map((start) => start + text.window[0]);
  const shared = new Map();
  for (const { side, record, parts } of text.marks) {
    if (side === "beside" || !record) continue;
    for (const [first, last] of parts) {
      const common = Math.min(to, starts[last + 1]) - Math.max(from, starts[first]);
      if (common > 0) shared.set(record, Math.max(common, shared.get(record) ?? 0));
    }
  }
  if (shared.has(preferred)) return preferred;
  const [most] = [...shared].sort((a, b) => b[1] - a[1]);
  return most ? most[0] : null;
}

// The entity that was kept before and shares characters with a stretch.
function entityAt(state, doc, from, to) {
  const isIn = ([start, end]) => from < end && start < to;
  return entitiesIn(state, doc).find(({ right }) => right.some(({ fragments }) => fragments.some(isIn)));
}

// Open the editor on an entity that nobody had marked: one that was kept before, or a new one.
function openEntity(state, text, entity, begin = (editor) => editor, draftKey = "") {
  const [low] = text.window;
  const sources = entity ? [entity.right.map((span) => shifted(span, -low))] : [];
  const edited = editedText(text.paragraphs.flatMap(({ texts }) => texts), low);
  const editor = begin(newEditor(edited, typesToChoose(state), sources, state.lastType));
  // Whoever drags over blanks marks nothing.
  const edit = { doc: text.doc, record: "", entity, editor, draftKey };
  return editor.spans.length ? { ...leaveEdit(state), edit } : state;
}

// Open the editor on an entity that was kept before, or is a draft, in a window of the open document.
function editEntity(state, id, part) {
  const text = windowsOf(state)[part];
  const draft = state.drafts[id];
  if (draft && text && !isWaiting(state) && !state.data.verdicts.reason) return openEntity(state, text, null, (editor) => continued(editor, draft), id);
  const entity = text && entitiesIn(state, text.doc).find((each) => entityId(each) === id);
  return entity && !isWaiting(state) && !state.data.verdicts.reason ? openEntity(state, text, entity) : state;
}

// Begin a new entity on the word behind the open record: keys move it from there.
function markNextWord(state) {
  const text = state.texts.get(state.textKey);
  if (state.data.verdicts.reason || text?.doc !== state.open[0]) return state;
  const starts = segmentStarts(text.paragraphs);
  const parts = text.marks.filter(({ record }) => record === state.open[1]).flatMap((mark) => mark.parts);
  const [from, to] = [parts[0] ? starts[parts[0][0]] : 0, parts.length ? starts[parts.at(-1)[1] + 1] : 0];
  return openEntity(state, text, null, (editor) => {
    const word = wordBeside(editor.text, to, from);
    return word ? editStretch(editor, ...word, false) : editor;
  });
}

const ENTITY_KEY = "*";

// The spans that were drawn on a record are a new entity beside it.
function editAsEntity(state) {
  const { doc, editor } = state.edit;
  return { ...state, edit: { doc, record: "", entity: null, draftKey: "", editor: { ...editor, sources: [], source: 0 } } };
}

// Send an entity that nobody had marked; one without spans is none any more.
function keepEntity(state, editor) {
  const { doc, entity } = state.edit;
  const right = editedSpans(editor);
  const closed = { ...state, edit: null, drafts: withoutDraft(state), lastType: right.at(-1)?.type ?? state.lastType };
  if (!right.length && !entity) return closed;
  const span = entity?.span ?? { fragments: right[0].fragments, type: right[0].type };
  const event = { act: "entity", doc, span, right };
  if (entity?.version !== undefined) event.version = entity.version;
  const sent = { doc, span, right };
  return withEvent({ ...closed, entities: { ...closed.entities, [entityId(sent)]: sent } }, event);
}

// An entity stays what it was first drawn as, whatever its spans are now.
const entityId = ({ doc, span }) => JSON.stringify([doc, span.fragments, span.type]);

// The entities of a document that nobody had marked, with those that the server does not have yet.
function entitiesIn(state, doc) {
  const known = state.data.entities.map((entity) => [entityId(entity), entity]);
  const entities = Object.values({ ...Object.fromEntries(known), ...state.entities });
  return entities.filter((entity) => entity.doc === doc && entity.right.length);
}

// Send the spans of the editor as a verdict: those of one side alone say that this side is right.
function keepEdit(state, editor) {
  const { sides } = openCard(state);
  const spans = editedSpans(editor);
  const only = JSON.stringify(spans.map(({ fragments, type }) => [fragments, type]));
  const side = ["gold", "pred"].find((name) => sides[name] && only === JSON.stringify([[sides[name].fragments, sides[name].type]]));
  const drafts = side ? withoutDraft(state) : { ...state.drafts, [openKey(state)]: editor };
  const lastType = spans.at(-1)?.type ?? state.lastType;
  const number = state.data.verdicts.kinds.indexOf(side ?? "neither");
  return decide({ ...state, edit: null, drafts, lastType }, number, side ? [] : spans);
}

// The drafts without that of what is edited.
function withoutDraft(state) {
  const { [draftKeyOf(state.edit)]: _, ...drafts } = state.drafts;
  return drafts;
}

const draftKeyOf = ({ doc, record, draftKey }) => (record ? recordKey(doc, record) : draftKey);

// Without the editor, of which a draft stays where something was changed.
function leaveEdit(state) {
  const { edit } = state;
  // An entity that was kept before stays as it was kept.
  if (!edit || edit.entity || !edit.editor.past) return { ...state, edit: null };
  const spans = editedSpans(edit.editor);
  if (edit.record) return { ...state, edit: null, drafts: { ...state.drafts, [recordKey(edit.doc, edit.record)]: edit.editor } };
  const drafts = withoutDraft(state);
  return { ...state, edit: null, drafts: spans.length ? { ...drafts, [draftedEntity(edit.doc, spans)]: edit.editor } : drafts };
}

// Whether the reader is asked for a name: from the first verdict on, which wait for it.
function isNaming({ data, events }) {
  const { reason, who, waiting } = data.verdicts;
  const isAnswered = events.some(({ act }) => act === "name");
  return !reason && !who && !isAnswered && (waiting > 0 || events.some(isVerdict));
}

// How many verdicts wait for a name, with those on the records of other pages.
function waitingLine({ data }) {
  const { waiting, elsewhere } = data.verdicts;
  const number = Math.max(1, waiting);
  const others = elsewhere?.number ? ` (${elsewhere.number} on ${elsewhere.names.join(", ")})` : "";
  return `${number} ${number === 1 ? "verdict waits" : "verdicts wait"} for your name${others}: Enter leads to its field, all other keys go on.`;
}

// Answer the question for a name; without one it stays.
function giveName(state, typed) {
  const name = typed.trim();
  return name ? withEvent({ ...state, message: null }, { act: "name", value: name }) : state;
}

// Whether something would be lost with the page: spans that are edited, drafts that no verdict was made of, and verdicts
// that the server has not, or which wait there for a name.
function isUnsaved(state) {
  const { edit, events, drafts, data } = state;
  if (!data) return false;
  const isEdited = edit && (edit.editor.past || !(edit.record || edit.entity));
  const isSent = events.some((event) => isVerdict(event) || event.act === "over");
  const hasVerdicts = isSent || data.verdicts.waiting > 0 || openConflicts(state).length;
  return Boolean(isEdited || hasVerdicts || Object.keys(drafts).some((key) => isOpenDraft(state, key)));
}

const isOpen = ({ open }, { doc, record }) => open[0] === doc && (!record || open[1] === record);

// The spans that a verdict of neither on a record says are right, in the document's code points.
const correctedSpans = (state, key) => state.corrected[key] ?? state.data.corrected[key] ?? [];

// Verdicts are about the records of a system and gold, not about those of the system beside it.
function isDecidable(state) {
  const card = openCard(state);
  return !state.data.verdicts.reason && Boolean(state.open[1]) && !(card && card.version === undefined);
}

// The verdict on a record of the queue in a word: the reader's, though the server may not have it yet.
const verdictOf = (state, [doc, record, , , , , verdict]) => state.labels[recordKey(doc, record)] ?? verdict;

// Open the next record without a verdict, behind the last one the first of the queue, and where none is open the next
// record; the verdict before it says so to the server, which finds those beyond the part that it has sent.
function advance(state) {
  const { first, entries, total } = state.data;
  const next = neighbour(state, 1);
  const openOnes = entries.flatMap((entry, place) => (verdictOf(state, entry) ? [] : [first + place]));
  const isWhole = entries.length >= total;
  const at = openOnes.find((number) => number >= next) ?? (isWhole ? (openOnes[0] ?? next) : null);
  if (at === null) return withRecordEvent(state, { act: "next", value: Math.ceil(state.at) });
  const entry = entryAt(state, at);
  if (!entry) return state;
  const textKey = state.cards.get(recordKey(entry[0], entry[1]))?.key ?? state.textKey;
  return { ...state, open: [entry[0], entry[1]], at, textKey };
}

// Whether a record is on the playlist; cards are later than the list of all that are.
function isStarred(state, key) {
  return state.cards.get(key)?.starred ?? state.data.starred.includes(key);
}

function undo(state) {
  return state.data.verdicts.reason ? state : withEvent(state, { act: "undo" });
}

function star(state) {
  const card = openCard(state);
  if (!state.data.verdicts.stars || !card) return state;
  const starred = !card.starred;
  const cards = new Map(state.cards).set(openKey(state), { ...card, starred });
  return withRecordEvent({ ...state, cards }, { act: "star", value: starred });
}

function showWhole(state) {
  return withRecordEvent(state, { act: "whole", value: !state.data.whole });
}

// Ask for windows of the open document, one request at a time.
function askForWindows(state, numbers) {
  const isAsked = state.step || state.events.some((event) => event.act === "windows" || leadsAway(event));
  return isAsked || !numbers.length ? state : withRecordEvent(state, { act: "windows", value: numbers });
}

// The windows of the open document in its order, undefined where they were not sent yet.
function windowsOf({ texts, open, textKey }) {
  const text = texts.get(textKey);
  if (text?.doc !== open[0]) return [];
  return Array.from({ length: text.parts }, (_, number) => texts.get(windowKey(open[0], number)));
}

function jumpTo(state, number) {
  return withEvent(state, { act: "jump", value: Math.min(Math.max(0, Math.trunc(number)), state.data.total - 1) });
}

// Show a system with the one that is read, or no longer.
function compareWith(state, system, isOn) {
  const { compared, most } = state.data;
  const others = comparedNow(state, compared).filter((name) => name !== system);
  return withEvent(state, { act: "beside", value: (isOn ? [...others, system] : others).slice(0, most) });
}

// The systems that were chosen last, though the server may not have answered yet.
const comparedNow = ({ events }, compared) => events.findLast(({ act }) => act === "beside")?.value ?? compared;

function unfoldSystems(state, isComparing) {
  return { ...state, isComparing };
}

function markTokens(state, isOn) {
  return withEvent(state, { act: "tokens", value: isOn });
}

// Read the next system, of those that are compared or else of all; the open record stays.
function readSystem(state, step) {
  const { system, compared, systems } = state.data;
  const names = systems.filter((name) => !compared.length || name === system || compared.includes(name));
  const last = state.events.findLast(({ act }) => act === "system")?.value ?? system;
  if (names.length < 2) return state;
  const value = names.at((names.indexOf(last) + step) % names.length);
  return withEvent(leaveEdit(state), { act: "system", value });
}

function colourBy(state, colour) {
  return withEvent({ ...state, colour }, { act: "colour", value: colour });
}

function labelCorrect(state, isCorrectLabelled) {
  return { ...state, isCorrectLabelled };
}

// The verdicts that others came before and which were not answered for. They are asked about one by one, whatever record
// is open: that one stays, and keys are for it.
function openConflicts({ data, events }) {
  const isAnswered = ({ id }) => events.some(({ act, value }) => (act === "over" || act === "leave") && value === id);
  return (data.verdicts.conflicts ?? []).filter((conflict) => !isAnswered(conflict));
}

// Answer to verdicts of others that came first: "over" gives one's own all the same, "leave" does not.
function answerConflict(state, id, act) {
  return withRecordEvent({ ...state, message: null }, { act, value: id });
}

// Keys that answer: those with Shift in all places where others came first.
const CONFLICT_KEYS = { t: ["leave", false], y: ["over", false], T: ["leave", true], Y: ["over", true] };
const isAnswerOnConflicts = (state, key) => key in CONFLICT_KEYS && openConflicts(state).length > 0;

function answerByKey(state, key) {
  const [act, isForAll] = CONFLICT_KEYS[key];
  const conflicts = openConflicts(state);
  return (isForAll ? conflicts : conflicts.slice(0, 1)).reduce((next, { id }) => answerConflict(next, id, act), state);
}

function takeNote(state, text) {
  return { ...state, notes: { ...state.notes, [openKey(state)]: text } };
}

const noteOf = (state) => state.notes[openKey(state)] ?? openCard(state)?.note ?? "";
