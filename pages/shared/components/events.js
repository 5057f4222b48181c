// Events that a component tells the server: each has a number, and is sent with all later ones until the server has
// acknowledged it. So none is lost where a run of the page is cut short for the next, or the connection breaks off.

const ANSWER_PATIENCE = 3000; // milliseconds after which events that the server has not acknowledged are late

// What a component's state has of its events; `mount` is its own name, made when it was mounted, and `heard` the id of
// the last outcome that the reader was told.
const newEvents = (mount, heard = "") => ({ mount, lastEvent: 0, events: [], heard });
const newMount = () => crypto.randomUUID?.() ?? String(Math.random());

function withEvent(state, event) {
  // Of moves in a row the last one counts.
  const isRepeated = event.act === "open" && state.events.at(-1)?.act === "open";
  const lastEvent = state.lastEvent + 1;
  const earlier = isRepeated ? state.events.slice(0, -1) : state.events;
  return { ...state, lastEvent, events: [...earlier, { ...event, seq: lastEvent }] };
}

// The number up to which an answer acknowledges events; one about a component that was mounted before knows of none.
const acknowledgedBy = (state, { mount, seen }) => (mount === state.mount ? seen : 0);
const unacknowledged = (state, answer) => state.events.filter(({ seq }) => seq > acknowledgedBy(state, answer));

// What became of the last verdict comes with every answer: it is said once.
const newOutcome = ({ heard }, said) => (said && said.id !== heard ? said : null);
const lastOutcome = (globalThis.nerevalOutcome ??= { id: "" });

const eventsOf = ({ mount, events }) => ({ mount, events });

// Send the events that are new in the state of a component, moves after a pause. `message` makes what is sent of a
// state; `later` is told up to which number events are late.
function sendNew(view, before, pause, message = eventsOf, later = (_) => {}) {
  const { state } = view;
  view.sendNow = () => view.state.events.length && view.setStateValue("out", message(view.state));
  if (state.lastEvent !== before.lastEvent) {
    clearTimeout(view.timer);
    if (state.events.at(-1).act === "open") view.timer = setTimeout(view.sendNow, pause);
    else view.sendNow();
  }
  if (state.heard) lastOutcome.id = state.heard;
  awaitAnswer(view, later);
}

// Events that are late are sent again where the server is idle: then it has not received them.
function awaitAnswer(view, later) {
  const { events, lastEvent } = view.state;
  if (!events.length) {
    clearTimeout(view.patience);
    view.patience = 0;
  }
  if (!events.length || view.patience) return;
  view.patience = setTimeout(() => {
    view.patience = 0;
    if (view.state.events[0]?.seq <= lastEvent && isIdle()) view.sendNow();
    later(lastEvent);
    awaitAnswer(view, later);
  }, ANSWER_PATIENCE);
}

const stopSending = (view) => [view.timer, view.patience].forEach(clearTimeout);

// Whether the page is connected to the server and waits for no run of it.
function isIdle() {
  const { testConnectionState, testScriptState } = /** @type {HTMLElement} */ (document.querySelector("[data-testid='stApp']"))?.dataset ?? {};
  return testConnectionState === "CONNECTED" && testScriptState === "notRunning";
}
