// Patterns: the groups of errors of `patterns_state.js`, drawn by `patterns_drawing.js`, wired to the page and the server.

const OPEN_AFTER = 300; // milliseconds after which the server is told which pattern is open

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const view = (parentElement.nerevalPatterns ??= newPatterns(parentElement));
  view.setStateValue = setStateValue;
  const isNew = !view.state.data;
  view.act(takePatterns, data);
  if (isNew) closeGate(view, view.parts.root);
  return () => {
    view.stop();
    parentElement.nerevalPatterns = null;
  };
}

function newPatterns(parentElement) {
  const view = { state: patternsState(newMount(), lastOutcome.id), parts: buildPatterns(parentElement) };
  view.act = (change, ...values) => {
    const before = view.state;
    view.state = change(before, ...values);
    sendNew(view, before, OPEN_AFTER);
    if (view.state !== before) drawPatterns(view);
  };
  const pressed = (event) => pressInPatterns(view, event);
  document.addEventListener("keydown", pressed);
  view.stop = () => {
    stopSending(view);
    document.removeEventListener("keydown", pressed);
  };
  view.parts.root.addEventListener("pointerdown", () => openGate(view, view.parts.root));
  view.parts.list.addEventListener("click", (event) => {
    const entry = event.target.closest("[data-number]");
    if (entry) view.act(openNumber, Number(entry.dataset.number));
  });
  return view;
}

function pressInPatterns(view, event) {
  if (event.defaultPrevented || typeForSearch(event)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("[data-testid='stDialog']")) return;
  const isName = event.target.matches?.(".np-name") && ["Enter", "Escape"].includes(event.key);
  if (!isName && event.target.closest?.("input, textarea, select, [contenteditable='true'], [role='combobox']")) return;
  if (pressPageKey(event, patternKeyRows(view.state))) return;
  // Enter on a button or a link is a click on it.
  if (event.key === "Enter" && !isName && event.target.closest?.("button:not(.np-entry), a, summary")) return;
  const key = { ArrowDown: "j", ArrowUp: "k" }[event.target.closest?.(".np-list") && event.key] ?? event.key;
  if (!PATTERN_KEYS.some(([name]) => name === key)) return;
  if (!isLookAtPatterns(view.state, key) && !isName && !isForReader(view, view.parts.root)) return;
  event.preventDefault();
  view.act(pressPatternKey, key);
}
