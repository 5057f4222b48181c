// The state of the ladder of criteria as plain data, and the functions that return the next one. `ladder_drawing.js` draws it.
//
// What the server is to be told are events, see `events.js`.

function ladderState(mount) {
  return { ...newEvents(mount), data: null, open: "" };
}

const openStep = ({ data, open }) => data.steps.find(({ criterion }) => criterion === open) ?? data.steps[0];
const stepNumber = (state) => state.data.steps.indexOf(openStep(state));

// An answer of the server. The step that the reader has opened meanwhile stays open.
function takeLadder(state, data) {
  const isSame = state.data?.facts === data.facts;
  const isListed = data.steps.some(({ criterion }) => criterion === state.open);
  return { ...state, data, events: unacknowledged(state, data), open: isSame && isListed ? state.open : data.open };
}

function openStepNumber(state, number) {
  const step = state.data.steps[number];
  if (!step || step === openStep(state)) return state;
  return withEvent({ ...state, open: step.criterion }, { act: "open", step: step.criterion });
}

// The records of a step, and of a part of it: against the criterion above it, or against the first one.
const showStep = (state, step = openStep(state)) => withEvent(state, { act: "step", step: step.criterion });
function showPart(state, step, against, { kind, gains }) {
  return withEvent(state, { act: "part", step: step.criterion, against, kind, gains });
}
const showDecision = (state, step, code) => withEvent(state, { act: "decision", step: step.criterion, code });
function showLadderRecord(state, step, { document, record }) {
  return withEvent(state, { act: "record", step: step.criterion, doc: document, record });
}
const showScorer = (state, name) => withEvent(state, { act: "scorer", name });

// The part of a step against the first criterion, which the server sends for the open step alone: null until it has.
const partsOfWhole = ({ data }, step) => (data.whole.criterion === step.criterion ? data.whole : null);

// The keys: what each does, and in words.
/** @type {[string, (state: any) => any, string][]} key, what it does, in words */
const LADDER_KEYS = [
  ["j", (state) => openStepNumber(state, stepNumber(state) + 1), "the next step, more lenient"],
  ["k", (state) => openStepNumber(state, stepNumber(state) - 1), "the step above, stricter"],
  ["Enter", (state) => showStep(state), "the records of the step"],
];

function pressLadderKey(state, key) {
  return LADDER_KEYS.find(([name]) => name === key)?.[1](state) ?? state;
}
