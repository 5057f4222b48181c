// The keys of a slide show. Ids are absolute, so that fast keys lose no step; what is shown is Python's.

const STALE = 4000; // how long an answer to an older request may still arrive, in milliseconds
const NEXT = ["ArrowRight", "ArrowDown", "PageDown"];
const PREVIOUS = ["ArrowLeft", "ArrowUp", "PageUp"];

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  // This function runs again after every rerun, its clean-up only when the view goes: undo the last run first.
  const memory = (parentElement.nerevalSlides ??= { sent: null, ids: [], at: 0, blank: null });
  memory.stop?.();
  const stops = [];
  memory.stop = () => stops.splice(0).forEach((stop) => stop());

  // Answers to earlier keys may arrive after later keys were pressed: they must not move back.
  const current = data.ids[data.at] ?? null;
  const waiting = memory.sent && memory.sent.id !== current && Date.now() - memory.sent.time < STALE;
  if (!waiting) {
    memory.sent = null;
    memory.ids = data.ids;
    memory.at = data.at;
  }

  const go = (id) => {
    light();
    memory.sent = { id, time: Date.now() };
    setTriggerValue("step", { id });
  };
  const step = (forward) => {
    const next = forward ? Math.floor(memory.at) + 1 : Math.ceil(memory.at) - 1;
    if (next < 0 || next >= memory.ids.length) return light();
    memory.at = next;
    go(memory.ids[next]);
  };
  const jump = (id) => {
    const place = memory.ids.indexOf(id);
    // A slide that is out of sight: its neighbours come with the answer.
    if (place >= 0) memory.at = place;
    go(id);
  };
  const leave = () => setTriggerValue("leave", true);
  const light = () => {
    memory.blank?.remove();
    memory.blank = null;
  };
  const blank = () => {
    if (memory.blank) return light();
    memory.blank = make("div", "nv-blank");
    memory.blank.addEventListener("click", light);
    parentElement.append(memory.blank);
  };

  const bar = make("nav", "nv-bar");
  bar.setAttribute("aria-label", "Slides");
  for (const [sign, words, act] of [
    ["‹", "previous slide (left arrow)", () => step(false)],
    ["›", "next slide (right arrow, space)", () => step(true)],
    ["×", "leave (Escape)", leave],
  ]) {
    const button = make("button", "nv-bar-button", sign);
    button.title = words;
    button.setAttribute("aria-label", words);
    button.addEventListener("click", act);
    bar.append(button);
  }
  parentElement.querySelector(":scope > .nv-bar")?.remove();
  parentElement.append(bar);

  const press = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select, button, a, [contenteditable='true']") && [" ", "Enter"].includes(event.key)) return;
    if (NEXT.includes(event.key) || (event.key === " " && !event.shiftKey)) step(true);
    else if (PREVIOUS.includes(event.key) || event.key === " ") step(false);
    else if (event.key === "Home") jump(data.ends[0]);
    else if (event.key === "End") jump(data.ends[1]);
    else if (event.key === "b" || event.key === "B" || event.key === ".") blank();
    else if (event.key === "Escape") memory.blank ? light() : leave();
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", press);
  stops.push(() => document.removeEventListener("keydown", press));

  return () => {
    memory.stop();
    light();
    delete parentElement.nerevalSlides;
  };
}

function make(tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}
