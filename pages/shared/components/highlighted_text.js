// A text with its marks: a click, Enter, j or k chooses a record. Record ids are absolute, so that fast keys lose no step.

const STALE = 4000; // how long an answer to an older request may still arrive, in milliseconds

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  // This function runs again after every rerun, its clean-up only when the view goes: undo the last run first.
  const memory = (parentElement.nerevalReading ??= { sent: null, queue: [], at: -0.5, revealed: null, focus: null });
  memory.stop?.();
  const stops = [];
  memory.stop = () => stops.splice(0).forEach((stop) => stop());
  const listen = (target, name, act) => {
    target.addEventListener(name, act);
    stops.push(() => target.removeEventListener(name, act));
  };

  const options = { selected: data.selected, labels: true, clickable: data.clickable };
  const root = make("div", "nv-reading");
  root.append(legend(data.legend, [...data.notes, ...data.keys]), reader(data, options));
  parentElement.querySelector(":scope > .nv-reading")?.remove();
  parentElement.append(root);

  const select = (where) => {
    memory.sent = { id: JSON.stringify(where), time: Date.now() };
    setTriggerValue("select", { doc: where[0], record: where[1] });
  };

  const move = (forward) => {
    const next = forward ? Math.floor(memory.at) + 1 : Math.ceil(memory.at) - 1;
    if (!memory.queue[next]) return false;
    memory.at = next;
    memory.focus = null;
    select(memory.queue[next]);
    return true;
  };

  const view = root.querySelector(".nv-reader");
  const draw = () => layout(view, data, options);
  draw();
  const resize = new ResizeObserver(() => {
    if (view.clientWidth !== view.nvWidth) draw();
  });
  resize.observe(view);
  stops.push(() => resize.disconnect());
  document.fonts?.ready.then(() => view.isConnected && draw());

  // Answers to earlier keys may arrive after later keys were pressed: they must not move the cursor back.
  const current = JSON.stringify([data.doc, data.selected ?? ""]);
  const placeKey = JSON.stringify([current, data.place ?? null]);
  const waiting = memory.sent && memory.sent.id !== current && Date.now() - memory.sent.time < STALE;
  if (!waiting) {
    memory.sent = null;
    memory.queue = data.queue ?? [];
    memory.at = data.at ?? -0.5;
  }

  listen(view, "click", (event) => {
    const number = data.clickable ? markAt(view, event) : null;
    if (number === null) return;
    const { record, side, key } = data.marks[number];
    memory.focus = `${side}|${key}`;
    const id = JSON.stringify([data.doc, record]);
    const queued = memory.queue.findIndex((item) => JSON.stringify(item) === id);
    if (queued >= 0) memory.at = queued;
    select([data.doc, record]);
  });
  hoverRecords(view, listen);
  listen(view, "copy", (event) => copyText(view, event));
  if (data.queue) {
    listen(document, "keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest?.("input, textarea, select, [contenteditable='true'], [role='combobox']")) return;
      if (event.key === "Escape" && data.selected) select([data.doc, ""]);
      if (event.key !== "j" && event.key !== "k") return;
      if (move(event.key === "j")) event.preventDefault();
    });
  }

  if ((data.selected || data.place) && memory.revealed !== placeKey) reveal(view);
  memory.revealed = placeKey;
  if (memory.focus)
    [...view.querySelectorAll("button.nv-piece")]
      .find((piece) => piece.dataset.key === memory.focus)
      ?.focus({ preventScroll: true });

  return () => {
    memory.stop();
    delete parentElement.nerevalReading;
  };
}

// Scroll only where the chosen span is out of sight.
function reveal(view) {
  const piece = view.querySelector(".nv-selected") ?? view.querySelector(".nv-place");
  if (!piece) return;
  const box = piece.getBoundingClientRect();
  if (box.top >= 90 && box.bottom <= window.innerHeight - 90) return;
  piece.style.scrollMarginTop = "25vh";
  piece.scrollIntoView({ block: "center", inline: "nearest" });
}
