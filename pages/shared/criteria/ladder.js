// The ladder of criteria: the steps of `ladder_state.js`, drawn by `ladder_drawing.js`, wired to the page and the server.

const LADDER_OPEN_AFTER = 300; // milliseconds after which the server is told which step is open

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const view = (parentElement.nerevalLadder ??= newLadder(parentElement));
  view.send = (event) => setStateValue("out", event);
  view.act(takeLadder, data);
  return () => {
    view.stop();
    parentElement.nerevalLadder = null;
  };
}

function newLadder(parentElement) {
  const view = { state: ladderState(crypto.randomUUID?.() ?? String(Math.random())), parts: buildLadder(parentElement) };
  view.act = (change, ...values) => {
    const before = view.state;
    view.state = change(before, ...values);
    if (view.state.event !== before.event) tellOfLadder(view, view.state.event);
    if (view.state !== before) drawLadder(view);
  };
  view.parts.list.addEventListener("click", (event) => {
    const entry = event.target.closest("[data-number]");
    if (entry) view.act(openStepNumber, Number(entry.dataset.number));
  });
  const pressed = (event) => pressInLadder(view, event);
  document.addEventListener("keydown", pressed);
  view.stop = () => {
    clearTimeout(view.timer);
    document.removeEventListener("keydown", pressed);
  };
  return view;
}

function tellOfLadder(view, event) {
  clearTimeout(view.timer);
  if (event.act === "open") view.timer = setTimeout(() => view.send(event), LADDER_OPEN_AFTER);
  else view.send(event);
}

function pressInLadder(view, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !view.state.data) return;
  if (document.querySelector("[data-testid='stDialog']")) return;
  if (event.target.closest?.("input, textarea, select, canvas, [contenteditable='true'], [role='combobox'], [role='grid']")) return;
  // Enter on a button or a link is a click on it.
  if (event.key === "Enter" && event.target.closest?.("button:not(.ncl-entry), a, summary")) return;
  const key = { ArrowDown: "j", ArrowUp: "k" }[event.target.closest?.(".ncl-list") && event.key] ?? event.key;
  if (!LADDER_KEYS.some(([name]) => name === key)) return;
  event.preventDefault();
  view.act(pressLadderKey, key);
}
