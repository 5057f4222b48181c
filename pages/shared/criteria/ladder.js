// The ladder of criteria: the steps of `ladder_state.js`, drawn by `ladder_drawing.js`, wired to the page and the server.

const LADDER_OPEN_AFTER = 300; // milliseconds after which the server is told which step is open

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const view = (parentElement.nerevalLadder ??= newLadder(parentElement));
  view.setStateValue = setStateValue;
  view.act(takeLadder, data);
  return () => {
    view.stop();
    parentElement.nerevalLadder = null;
  };
}

function newLadder(parentElement) {
  const view = { state: ladderState(newMount()), parts: buildLadder(parentElement) };
  view.act = (change, ...values) => {
    const before = view.state;
    view.state = change(before, ...values);
    sendNew(view, before, LADDER_OPEN_AFTER);
    if (view.state !== before) drawLadder(view);
  };
  view.parts.list.addEventListener("click", (event) => {
    const entry = event.target.closest("[data-number]");
    if (entry) view.act(openStepNumber, Number(entry.dataset.number));
  });
  const pressed = (event) => pressInLadder(view, event);
  document.addEventListener("keydown", pressed);
  view.stop = () => {
    stopSending(view);
    document.removeEventListener("keydown", pressed);
  };
  return view;
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
