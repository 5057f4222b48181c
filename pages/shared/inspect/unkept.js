// Verdicts that the server has not kept: it has not acknowledged them, they wait there for a name, or somebody was first
// and the reader has not said whose counts. They stay with the browser's tab, as drafts do, and are sent again after a
// reload, or once the server has forgotten the session. Each has the mount and number that it was first sent with, its
// `origin`: by these the server keeps it once.

const UNKEPT_KEY = "nereval verdicts";

const isVerdict = ({ act }) => act === "verdict" || act === "entity";
const withOrigin = ({ mount }, event) => ({ ...event, origin: event.origin ?? [mount, event.seq] });

// The verdicts that are not kept, in order, without those that were taken back.
function unkeptVerdicts(state) {
  const unkept = new Map();
  for (const event of [...(state.data?.waiting ?? []), ...state.events.map((each) => withOrigin(state, each))]) {
    if (isVerdict(event)) unkept.set(String(event.origin), event);
    else if (event.act === "undo") unkept.delete([...unkept.keys()].at(-1));
  }
  return [...unkept.values()];
}

// Those that others came before, on the records at hand, unless the reader leaves it at that.
function contestedVerdicts({ data, events }) {
  const isLeft = ({ id }) => events.some(({ act, value }) => act === "leave" && value === id);
  return (data?.verdicts.conflicts ?? []).flatMap((conflict) => (conflict.event && !isLeft(conflict) ? [conflict.event] : []));
}

// What would be lost with the page.
const verdictsToStore = (state) => [...contestedVerdicts(state), ...unkeptVerdicts(state)];

// The verdicts that are not among others.
function verdictsBeyond(verdicts, others) {
  const known = new Set(others.map(({ origin }) => String(origin)));
  return verdicts.filter(({ origin }) => !known.has(String(origin)));
}

// The state in which a verdict shows that is sent again.
function withShown(state, { act, doc, record, kind, span, right = [] }) {
  if (act === "entity") return { ...state, entities: { ...state.entities, [entityId({ doc, span })]: { doc, span, right } } };
  const { kinds, labels } = state.data.verdicts;
  const key = recordKey(doc, record);
  return {
    ...state,
    labels: { ...state.labels, [key]: labels[kinds.indexOf(kind)] },
    corrected: { ...state.corrected, [key]: right },
  };
}

// The state that sends the verdicts which the tab has stored, but for those that the server has.
function withStoredVerdicts(state, stored) {
  if (state.data.verdicts.reason) return state;
  // Those that waited for a name may have been answered while the reader was at other records.
  const answered = (state.data.answered ?? []).map((origin) => ({ origin }));
  const sendable = stored.filter((event) => isVerdict(event) && event.doc && event.origin);
  const verdicts = verdictsBeyond(sendable, [...verdictsToStore(state), ...answered]);
  if (!verdicts.length) return state;
  const number = verdicts.length === 1 ? "A verdict that was not kept yet is" : `${verdicts.length} verdicts that were not kept yet are`;
  const next = verdicts.reduce((before, verdict) => withEvent(withShown(before, verdict), verdict), state);
  return { ...next, message: { text: `${number} back.`, lines: [], untilAnswered: true } };
}

// The fields of a state for a session of the server that knows nothing of the one before: all that was not kept has new
// numbers, so that it is sent, those first that waited for an answer or a name.
function forNewSession(state, data, events) {
  const waiting = verdictsBeyond([...contestedVerdicts(state), ...(state.data.waiting ?? [])], verdictsToStore({ data, events: [] }));
  const all = [...waiting, ...events.map((event) => withOrigin(state, event))];
  const renumbered = all.map((event, place) => ({ ...event, seq: state.lastEvent + 1 + place }));
  return { lastEvent: state.lastEvent + all.length, events: renumbered, waiting };
}

// Say what is not kept if the server has not acknowledged verdicts up to a number.
function sayLate(state, number) {
  const isLate = state.events.some((event) => isVerdict(event) && event.seq <= number);
  return isLate === state.isLate ? state : { ...state, isLate };
}

// What is not kept in words, "" unless it is late.
function lateLine(state) {
  const number = state.isLate ? unkeptVerdicts(state).length : 0;
  const verdicts = number === 1 ? "1 verdict" : `${number} verdicts`;
  return number ? `${verdicts} not kept yet: the server does not answer. They are sent again once it does.` : "";
}

// What the tab has stored, [] where that cannot be read.
function readUnkept(owner) {
  try {
    const stored = JSON.parse(sessionStorage.getItem(`${UNKEPT_KEY} ${owner}`));
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}

// Store the verdicts that are not kept where they have changed.
function storeUnkept(workbench) {
  const { state } = workbench;
  const unkept = verdictsToStore(state);
  const text = unkept.length ? JSON.stringify(unkept) : "";
  const key = `${UNKEPT_KEY} ${state.data.draftsOf}`;
  if (workbench.unkept?.key === key && workbench.unkept.text === text) return;
  workbench.unkept = { key, text };
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // Full, or forbidden: the browser still asks before it leaves the page.
  }
}
