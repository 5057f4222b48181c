// The state of Patterns as plain data, and the functions that return the next one. `patterns_drawing.js` draws it.
//
// What the server is to be told are events, see `events.js`; `asking` is the number of the verdict that waits to be
// confirmed for the whole group, null for none, and `message` what became of the last one.

const PATTERN_VERDICT_KEYS = "12345";

function patternsState(mount, heard) {
  return { ...newEvents(mount, heard), data: null, open: "", asking: null, who: "", message: null };
}

const openPattern = ({ data, open }) => data.groups.find(({ key }) => key === open) ?? data.groups[0];
const placeOf = (state) => state.data.groups.indexOf(openPattern(state));

// An answer of the server. The pattern that the reader has opened meanwhile stays open.
function takePatterns(state, data) {
  const isSame = state.data?.facts === data.facts;
  const isListed = data.groups.some(({ key }) => key === state.open);
  const said = newOutcome(state, data.said);
  return {
    ...state,
    data,
    events: unacknowledged(state, data),
    open: isSame && isListed ? state.open : data.open,
    asking: isSame ? state.asking : null,
    heard: said?.id ?? state.heard,
    message: said ?? (isSame ? state.message : null),
  };
}

const told = (state, event) => withEvent({ ...state, message: null }, event);

function openNumber(state, number) {
  const group = state.data.groups[number];
  if (!group || group.key === openPattern(state).key) return state;
  return told({ ...state, open: group.key, asking: null }, { act: "open", key: group.key });
}

// Ask whether every record of the pattern gets a verdict: those that have one keep it.
function ask(state, number) {
  const { verdicts } = state.data;
  const group = openPattern(state);
  if (verdicts.reason || !verdicts.kinds[number] || group.decided === group.records) return state;
  return { ...state, asking: number };
}

function confirmPattern(state) {
  const who = state.data.verdicts.who || state.who.trim();
  if (state.asking === null || !who) return state;
  const { key } = openPattern(state);
  const event = { act: "decide", key, kind: state.data.verdicts.kinds[state.asking], who };
  return told({ ...state, asking: null }, event);
}

const cancelPattern = (state) => ({ ...state, asking: null });
const nameReviewer = (state, who) => ({ ...state, who });
const showRecords = (state, key = openPattern(state).key) => told(state, { act: "records", key });
const showRecord = (state, doc, record) => told(state, { act: "record", key: openPattern(state).key, doc, record });
const takeBackPattern = (state) => (state.data.verdicts.reason ? state : told(state, { act: "undo" }));

// The keys: what each does, and in words.
/** @type {[string, (state: any) => any, string][]} key, what it does, in words */
const PATTERN_KEYS = [
  ["j", (state) => openNumber(state, placeOf(state) + 1), "next pattern"],
  ["k", (state) => openNumber(state, placeOf(state) - 1), "previous pattern"],
  ["Enter", (state) => (state.asking === null ? showRecords(state) : confirmPattern(state)), "its records; or confirm"],
  ...[...PATTERN_VERDICT_KEYS].map(/** @returns {[string, (state: any) => any, string]} */ (key, number) => [key, (state) => ask(state, number), ""]),
  ["u", takeBackPattern, "take the last verdict or batch back"],
  ["Escape", cancelPattern, "do not give it"],
];

// The keys with their words, in which verdicts are called as on the page.
function patternKeyRows({ data }) {
  const words = (data.verdicts.words ?? []).map((word) => `${word}, in all its records`);
  return PATTERN_KEYS.map(([key, , meaning]) => [key, meaning || words[PATTERN_VERDICT_KEYS.indexOf(key)]]);
}

// Whether a key changes nothing but what is on screen.
const isLookAtPatterns = ({ asking }, key) => ["j", "k", "Escape"].includes(key) || (key === "Enter" && asking === null);

function pressPatternKey(state, key) {
  return PATTERN_KEYS.find(([name]) => name === key)?.[1](state) ?? state;
}
