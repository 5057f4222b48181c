// The keys of Inspect that every tab has, when keys count, and the sheet that shows all keys, made from the tables that
// wire them.

const SEARCH_BOX = ".st-key-widget_q input";
const SEARCH_PATIENCE = 4000; // milliseconds that letters wait for a search box that is not there yet
const GATE_CLOSED = 350; // milliseconds for which a record that comes up unasked takes no keys that change anything
const GATE_CLOSED_AT_MOST = 2000; // milliseconds after which it takes them though keys were pressed all the time
/** @type {[string, (rows: any) => any, string][]} */
const PAGE_KEYS = [
  ["/", () => focusSearch(), "search"],
  ["?", (rows) => toggleKeySheet(rows), "show or hide all keys"],
];

// A gate is closed when a record comes up that the reader has not gone to. Keys that arrive before anybody can have read
// it were meant for what was there before, and so were those that follow them without a pause.
const closedGate = (now) => ({ opens: now + GATE_CLOSED, latest: now + GATE_CLOSED_AT_MOST });
const OPEN_GATE = { opens: 0, latest: 0 };
const isGateOpen = (gate, now) => now >= gate.opens;
const gateAfterKey = (gate, now) =>
  isGateOpen(gate, now) ? gate : { ...gate, opens: Math.min(gate.latest, now + GATE_CLOSED) };

// Close the gate of a component, and mark its root for as long.
function closeGate(component, root) {
  component.gate = closedGate(performance.now());
  root.dataset.quiet = "";
  const openWhenDue = () => {
    const wait = component.gate.opens - performance.now();
    if (wait > 0) setTimeout(openWhenDue, wait);
    else delete root.dataset.quiet;
  };
  openWhenDue();
}

// Whoever points at something has seen what is there.
function openGate(component, root) {
  component.gate = OPEN_GATE;
  delete root.dataset.quiet;
}

// Whether a key is for what a component shows: the reader has had the time to see it, and it is on the screen.
function isForReader(component, root) {
  const now = performance.now();
  const isOpen = isGateOpen(component.gate, now);
  component.gate = gateAfterKey(component.gate, now);
  const { top, bottom, width } = root.getBoundingClientRect();
  return isOpen && width > 0 && top < window.innerHeight && bottom > 0 && (root.checkVisibility?.() ?? true);
}

// Do what a key of the page does; `rows` are the rows of the table of the tab, each with a key first and words last, or
// a heading alone.
function pressPageKey(event, rows) {
  const row = PAGE_KEYS.find(([key]) => key === event.key);
  if (!row) return false;
  row[1](rows);
  event.preventDefault();
  return true;
}

// Enter applies a search, Escape leaves what is applied as it is: the keys that follow are for the queue.
function leaveSearch(event) {
  const box = event.target.closest?.(SEARCH_BOX);
  if (!box || event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return false;
  // What the box is left with is applied.
  if (event.key === "Escape") restoreSearch(box);
  event.preventDefault();
  box.blur();
  const entry = /** @type {HTMLElement | null} */ (document.querySelector(".nw-entry[aria-current]"));
  entry?.focus({ preventScroll: true });
  return true;
}

function restoreSearch(box) {
  if (box.value !== (box.nerevalApplied ?? "")) setValue(box, box.nerevalApplied ?? "");
}

// The frame of the page sees a value only where it is set as by typing.
function setValue(box, value) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, value);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function rememberSearch({ target }) {
  const box = target.closest?.(SEARCH_BOX);
  if (box) box.nerevalApplied = box.value;
}

const searchBox = () => /** @type {HTMLInputElement | null} */ (document.querySelector(SEARCH_BOX));

function focusSearch() {
  const box = searchBox();
  if (!box) return waitForSearch("");
  const fold = document.querySelector("details.nf");
  if (fold instanceof HTMLDetailsElement && !box.checkVisibility()) fold.open = true;
  box.focus();
  box.select();
}

// What is typed for a search box that is not drawn yet, null where none is waited for; and the box that was typed in
// last, which the page may exchange for another.
const awaited = { typed: null, until: 0, box: null, at: 0 };

function waitForSearch(typed) {
  Object.assign(awaited, { typed, until: Date.now() + SEARCH_PATIENCE });
  const tryAgain = () => {
    const box = searchBox();
    if (awaited.typed === null) return;
    if (box) typeInto(box);
    else if (Date.now() < awaited.until) setTimeout(tryAgain, 60);
    else awaited.typed = null;
  };
  tryAgain();
}

function typeInto(box) {
  const { typed } = awaited;
  awaited.typed = null;
  box.focus();
  if (!typed) return box.select();
  setValue(box, typed);
  box.setSelectionRange(typed.length, typed.length);
}

// Keep a key for the search box that is waited for, or that went away from under the reader's hands.
function typeForSearch(event) {
  const box = event.target.closest?.(SEARCH_BOX);
  if (box) Object.assign(awaited, { box, at: Date.now(), typed: null });
  const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (box || event.isComposing || !isLetter) return false;
  const isGone = awaited.box && !awaited.box.isConnected && Date.now() - awaited.at < 1000;
  if (awaited.typed === null && !isGone) return false;
  event.preventDefault();
  const before = awaited.typed ?? awaited.box.value;
  awaited.box = null;
  if (awaited.typed === null) waitForSearch(before + event.key);
  else awaited.typed += event.key;
  return true;
}

function toggleKeySheet(rows) {
  const open = /** @type {HTMLDialogElement | null} */ (document.querySelector(".nk-sheet"));
  if (open) return open.close();
  const sheet = make("dialog", "nk-sheet");
  sheet.setAttribute("aria-label", "Keys");
  const close = make("button", "nk-close", "Close (Esc)");
  close.type = "button";
  close.addEventListener("click", () => sheet.close());
  // The button has the focus: it stands above the keys, or a low window would begin with their end.
  const head = make("div", "nk-head");
  head.append(make("strong", "", "Keys"), close);
  const body = make("div", "nk-body");
  body.append(...sheetSections([...PAGE_KEYS, ...rows]));
  sheet.append(head, body);
  sheet.addEventListener("close", () => sheet.remove());
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  sheet.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "?") sheet.close();
  });
  // Within the component, whose colours are those of the page.
  (document.querySelector(".nw, .np") ?? document.body).append(sheet);
  sheet.showModal();
}

// The rows in lists: a heading alone begins the next one.
function sheetSections(rows) {
  const sections = [make("section")];
  let list = make("dl", "nk-keys");
  sections[0].append(list);
  for (const [key, ...rest] of rows) {
    if (!rest.length) {
      const section = make("section");
      section.append(make("strong", "", key), (list = make("dl", "nk-keys")));
      sections.push(section);
      continue;
    }
    const term = make("dt");
    term.append(make("kbd", "", key.length === 1 ? key.toUpperCase() : key));
    list.append(term, make("dd", "", rest.at(-1)));
  }
  return sections;
}
