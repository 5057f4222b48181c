// Drafts: spans that were edited and not kept. They stay with the browser's tab, for a reload, and never count as
// verdicts. A draft is the editor that was left, or `{ spans }` in the document's code points, as it is stored;
// `isDecided` where a verdict on its record is on its way to the server.

const DRAFTS_KEY = "nereval drafts";

// The key of an entity that nobody had marked, beside the records of its document.
const draftedEntity = (doc, spans) => recordKey(doc, `new ${spans[0].fragments[0][0]}`);
const isDraftedEntity = (key, doc) => key.startsWith(recordKey(doc, "new "));

const draftSpans = (draft) =>
  draft.text ? editedSpans(draft).map(({ fragments, type }) => ({ fragments, type })) : draft.spans;

// Whether no verdict was given on the record of a draft.
const isOpenDraft = (state, key) =>
  !state.drafts[key]?.isDecided && !correctedSpans(state, key).length && !state.labels[key] && !state.data.reviewed?.[key];

// The drafts by key, with the spans that are being edited: what would be lost with the page.
function draftsToStore(state) {
  const { drafts } = state.data ? leaveEdit(state) : state;
  const keys = Object.keys(drafts).filter((key) => isOpenDraft(state, key));
  return Object.fromEntries(keys.map((key) => [key, { spans: draftSpans(drafts[key]) }]));
}

// The state with drafts that were stored; those that are no drafts are left out, and what is newer stays.
function withStoredDrafts(state, stored) {
  const isFragment = ([start, end]) => Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start < end;
  const isSpan = ({ fragments, type }) => typeof type === "string" && fragments.length > 0 && fragments.every(isFragment);
  const isDraft = ([key, { spans }]) => !(key in state.drafts) && isOpenDraft(state, key) && spans.every(isSpan);
  const restored = Object.entries(stored).filter(isDraft);
  if (!restored.length) return state;
  const [number, first, all] = restored.length === 1 ? ["A draft is", "it", "it"] : [`${restored.length} drafts are`, "the first", "them"];
  const text = `${number} back, see ✎ in the queue and the text: Enter goes on with ${first}, Esc drops ${all}.`;
  const message = { text, lines: [], drafts: restored.map(([key]) => key) };
  return { ...state, drafts: { ...Object.fromEntries(restored), ...state.drafts }, message };
}

// The drafts that the line above asks about, as far as nobody has kept or dropped them since.
const draftsAskedAbout = (state) => (state.message?.drafts ?? []).filter((key) => key in state.drafts && isOpenDraft(state, key));

// The state without the line about drafts once it asks about none any more.
const withoutIdleQuestion = (state) =>
  state.message?.drafts && !draftsAskedAbout(state).length ? { ...state, message: null } : state;

// Drop the drafts that the line asks about, and the line.
function dropDrafts(state) {
  const dropped = draftsAskedAbout(state);
  const drafts = Object.fromEntries(Object.entries(state.drafts).filter(([key]) => !dropped.includes(key)));
  return { ...state, drafts, message: null };
}

// Go on with the first of the drafts that the line asks about: open its record, or its place in the text.
function goOnWithDraft(state) {
  const [key] = draftsAskedAbout(state);
  const [doc, record] = key.split("\n");
  if (!isDraftedEntity(key, doc)) {
    const isOpenRecord = state.open[0] === doc && state.open[1] === record;
    return press(isOpenRecord ? state : choose(state, doc, record), EDIT_KEY);
  }
  const [{ fragments: [[start]] }] = draftSpans(state.drafts[key]);
  const part = windowsOf(state).findIndex((each) => each?.doc === doc && each.window[0] <= start && start < each.window[1]);
  if (part >= 0) return editEntity(state, key, part);
  const isOpenDocument = state.open[0] === doc;
  const at = state.data.entries.findIndex((entry) => entry[0] === doc);
  const missing = isOpenDocument ? missingWindowsAround(state, start) : [];
  // Each answer narrows down where the draft is; the key is pressed again with it.
  const asked = isOpenDocument ? missing.join() : doc;
  if ((isOpenDocument ? missing.length : at >= 0) && asked !== state.message.asked) {
    const next = isOpenDocument ? askForWindows(state, missing) : chooseNumber(state, state.data.first + at);
    const message = next === state ? state.message : { ...state.message, asked };
    return { ...next, awaitsCard: true, heldKeys: ["Enter"], message };
  }
  const text = "The draft is on no record, in a document that is not listed here: open it, and click its ✎ in the text.";
  return { ...state, message: { ...state.message, text } };
}

const WINDOWS_AT_ONCE = 8; // windows that are asked for in one request

// The numbers of windows of the open document that were not sent, of those around a place in code points.
function missingWindowsAround(state, place) {
  const all = windowsOf(state);
  const before = all.findLastIndex((each) => each && each.window[0] <= place);
  const after = all.findIndex((each) => each && place < each.window[0]);
  const last = after < 0 ? all.length : after;
  const low = before < 0 ? 0 : all[before].window[1];
  const high = after < 0 ? state.texts.get(state.textKey)?.window[2] : all[after].window[0];
  const number = last - before - 1;
  const likeliest = Math.floor(((place - low) / (high - low)) * number);
  const first = Math.max(0, Math.min(likeliest - WINDOWS_AT_ONCE / 2, number - WINDOWS_AT_ONCE));
  return Array.from({ length: Math.min(number, WINDOWS_AT_ONCE) }, (_, each) => before + 1 + first + each);
}

// An editor that goes on from a draft; undo leads to what it would have begun with.
function continued(editor, draft) {
  if (draft.text) return { ...draft, filter: "", outcome: "" };
  const spans = draft.spans.map((span) => shifted(span, -editor.text.offset));
  const { length } = editor.text.points;
  const isInText = spans.every(({ fragments }) => fragments.every(([start, end]) => 0 <= start && end <= length));
  return isInText ? withSpans(editor, spans, firstEdge(spans, editor.sources[0] ?? [])) : editor;
}

// What the tab has stored, {} where that cannot be read.
function readDrafts(owner) {
  try {
    return JSON.parse(sessionStorage.getItem(`${DRAFTS_KEY} ${owner}`)) ?? {};
  } catch {
    return {};
  }
}

// Store the drafts where they have changed. A tab that stores nothing loses them with the page.
function storeDrafts(workbench) {
  const { state } = workbench;
  const drafts = draftsToStore(state);
  const text = Object.keys(drafts).length ? JSON.stringify(drafts) : "";
  const key = `${DRAFTS_KEY} ${state.data.draftsOf}`;
  if (workbench.stored?.key === key && workbench.stored.text === text) return;
  workbench.stored = { key, text };
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // Full, or forbidden: the browser still asks before it leaves the page.
  }
}
