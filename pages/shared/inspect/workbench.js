// The workbench: queue, text and verdicts in one component, which owns the keys. This module wires `workbench_state.js`
// and `workbench_drawing.js` to the page and to the server.

const SEND_AFTER = 60; // milliseconds that moves are gathered for before the server is told
const LINK = "a.nv-link, a[data-testid='stPageLink-NavLink']";
const LINK_PATIENCE = 4000; // milliseconds that a link to another page waits for the server to acknowledge events
const TOUCH_PATIENCE = 700; // milliseconds that the handles of a selection by touch rest before it is taken
const WIDTH_SETTLES = 150; // milliseconds that the page takes for another width of the window
const REMOUNT_PATIENCE = 3000; // milliseconds after which a workbench that comes back is a new one

// Outlives the component: an element inserted above it may have the page mount it anew.
const lasting = (globalThis.nerevalWorkbench ??= { workbench: null, unmounted: 0 });

export default function (component) {
  const { data, parentElement } = component;
  const isNew = !lasting.workbench || (lasting.unmounted && Date.now() - lasting.unmounted > REMOUNT_PATIENCE);
  if (isNew) lasting.workbench = newWorkbench();
  lasting.unmounted = 0;
  const { workbench } = lasting;
  workbench.setStateValue = component.setStateValue;
  if (workbench.parent !== parentElement) {
    workbench.stop();
    workbench.parent = parentElement;
    mount(workbench, parentElement);
  }
  const { open, events } = workbench.state;
  const owner = workbench.state.data?.draftsOf;
  workbench.act(owner === data.draftsOf ? take : takeWithDrafts, data);
  const isMoved = !events.length && String(open) !== String(workbench.state.open);
  if (isNew || isMoved) closeGate(workbench, workbench.parts.root);
  if (!workbench.state.events.length) followLink(workbench);
  return () => {
    if (workbench.parent !== parentElement) return;
    workbench.stop();
    workbench.parent = null;
    lasting.unmounted = Date.now();
  };
}

function newWorkbench() {
  const workbench = { state: initialState(newMount(), lastOutcome.id), stop: () => {} };
  // Change the state by one of its functions, send what is new in it, and draw it.
  workbench.act = (change, ...values) => {
    const before = workbench.state;
    workbench.state = change(before, ...values);
    sendNew(workbench, before, SEND_AFTER, messageOf, (number) => workbench.act(sayLate, number));
    if (workbench.state.drafts !== before.drafts || workbench.state.edit !== before.edit || change === take) storeDrafts(workbench);
    storeUnkept(workbench);
    draw(workbench);
  };
  return workbench;
}

// An answer about another corpus or system than the last one, with the verdicts and drafts that this tab has of it.
function takeWithDrafts(state, data) {
  const next = withStoredVerdicts(take(state, data), readUnkept(data.draftsOf));
  return withStoredDrafts(next, readDrafts(data.draftsOf));
}

// Build the fixed parts, with listeners that live as long as the component is mounted.
function mount(workbench, parentElement) {
  const stops = [];
  workbench.stop = () => stops.splice(0).forEach((stop) => stop());
  const listen = (target, name, handle, options) => {
    target.addEventListener(name, handle, options);
    stops.push(() => target.removeEventListener(name, handle, options));
  };
  const parts = (workbench.parts = buildParts(parentElement));
  workbench.drawn = {};
  // Its windows are elements of the parts before.
  workbench.document = null;
  workbench.fit = () => fitHeight(workbench);
  const resize = new ResizeObserver(workbench.fit);
  resize.observe(parts.root);
  const main = document.querySelector("[data-testid='stMainBlockContainer']");
  if (main) resize.observe(main);
  stops.push(() => resize.disconnect());
  listen(window, "resize", () => fitToWindow(workbench));
  document.fonts?.ready.then(() => {
    layoutAgain(workbench);
    revealAgain(workbench);
  });
  // The browser asks in its own words, and only whoever has clicked or typed here.
  listen(window, "beforeunload", (event) => isUnsaved(workbench.state) && event.preventDefault());
  listen(document, "keydown", (event) => leaveSearch(event) || pressKey(workbench, event));
  listen(document, "focusin", rememberSearch);
  listen(document, "click", (event) => delayLink(workbench, event), true);
  listen(parts.root, "pointerdown", () => openGate(workbench, parts.root));
  listen(parts.queue, "click", (event) => {
    const entry = event.target.closest("[data-at]");
    if (entry) workbench.act(chooseNumber, Number(entry.dataset.at));
  });
  listen(parts.scroll, "click", (event) => {
    const view = event.target.closest(".nv-reader");
    const number = view ? markAt(view, event) : null;
    const mark = number === null ? null : view.nvData.marks[number];
    if (mark?.entity) workbench.act(editEntity, mark.entity, view.nvData.part);
    else if (mark && mark.record !== DRAWN) workbench.act(choose, view.nvData.doc, mark.record);
  });
  const scrolled = () => {
    noteSight(workbench);
    askForMissing(workbench);
  };
  listen(parts.scroll, "scroll", scrolled, { passive: true });
  hoverRecords(parts.scroll, listen);
  listen(parts.scroll, "copy", (event) => copyText(parts.scroll, event));
  listen(document, "copy", (event) => copyEdited(workbench, event));
  listenToDrags(workbench, listen);
}

// On a narrow screen the page scrolls, not the text: with another width of the window the open record is looked for again.
function fitToWindow(workbench) {
  const wasInSight = workbench.wasInSight;
  workbench.fit();
  if (workbench.windowWidth === window.innerWidth) return;
  workbench.windowWidth = window.innerWidth;
  if (!wasInSight) return;
  clearTimeout(workbench.refitting);
  workbench.refitting = setTimeout(() => {
    workbench.isRevealed = false;
    reveal(workbench);
  }, WIDTH_SETTLES);
}

// What was dragged over is for the editor, which has it copied too.
function copyEdited({ state }, event) {
  const span = state.edit && activeSpan(state.edit.editor);
  if (!span || !document.getSelection().isCollapsed || event.target.closest?.("input, textarea")) return;
  event.clipboardData.setData("text/plain", quoteOf(state.edit.editor.text, span));
  event.preventDefault();
}

// A stretch of the text that is selected, by the pointer or by touch, is for the editor.
function listenToDrags(workbench, listen) {
  const { scroll } = workbench.parts;
  let isTouch = false;
  let timer = 0;
  const take = (isFragment) => {
    const stretch = selectedStretch(scroll);
    if (!stretch) return;
    const before = workbench.state.edit;
    workbench.act(dragOver, ...stretch, isFragment);
    if (workbench.state.edit === before) return;
    document.getSelection().removeAllRanges();
    // The click put the focus on the text; keys are for the editor.
    scroll.blur();
  };
  listen(scroll, "pointerdown", (event) => {
    isTouch = event.pointerType === "touch";
    if (!isTouch) document.addEventListener("pointerup", (end) => setTimeout(take, 0, end.ctrlKey || end.metaKey), { once: true });
  });
  // By touch a stretch is selected with handles of the browser: it is taken once they rest.
  listen(document, "selectionchange", () => {
    clearTimeout(timer);
    if (isTouch) timer = setTimeout(take, TOUCH_PATIENCE, false);
  });
}

// The code points of the document that are selected within one window of it, as [start, end), null where none are.
function selectedStretch(scroll) {
  const selection = document.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0).cloneRange();
  const view = [...scroll.querySelectorAll(".nv-reader")].find((each) => range.intersectsNode(each));
  if (!view) return null;
  const text = view.querySelector(".nv-text");
  if (!text.contains(range.startContainer)) range.setStart(text, 0);
  if (!text.contains(range.endContainer)) range.setEnd(text, text.childNodes.length);
  const before = document.createRange();
  before.setStart(text, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const start = view.nvData.window[0] + pointsIn(before.toString());
  return [start, start + pointsIn(range.toString())];
}

function pressKey(workbench, event) {
  if (event.defaultPrevented || typeForSearch(event)) return;
  const field = event.target.closest?.("input, textarea, select, [contenteditable='true'], [role='combobox']");
  if (field) {
    if (field.closest(".nw-name") && event.key === "Enter") return;
    if (field.closest(".nw") && (event.key === "Enter" || event.key === "Escape")) field.blur();
    return;
  }
  if (document.querySelector("[data-testid='stDialog']")) return;
  if (isEditing(workbench.state)) return pressInEditorOf(workbench, event);
  // Where brackets are typed with AltGr or Option they are typed so here.
  const isBracket = event.altKey && (event.key === "[" || event.key === "]");
  if ((event.ctrlKey || event.metaKey || event.altKey) && !isBracket) return;
  const arrow = event.target.closest?.(".nw-queue") && { ArrowDown: "j", ArrowUp: "k" }[event.key];
  const key = arrow || event.key;
  if (pressPageKey(event, keyRows(workbench.state))) return;
  // A button that has the focus is pressed by Enter; but a row of the queue keeps the focus of the click before.
  const isOnButton = key === "Enter" && event.target.closest?.("button:not(.nw-entry), a, summary");
  const isAnswer = !isOnButton && (isAnswerOnDrafts(workbench.state, key) || isAnswerOnConflicts(workbench.state, key));
  if (!isLook(key) && !isForReader(workbench, workbench.parts.root)) return;
  const isForName = key === "Enter" && !isOnButton && !isAnswer && workbench.nameForm;
  if (key === "n") workbench.parts.bar.querySelector(".nw-note")?.focus();
  else if (isForName) workbench.nameForm.querySelector("input").focus();
  else if (key in KEYS || isAnswer) workbench.act(press, key);
  else return;
  event.preventDefault();
}

// A button of the editor that has the focus is pressed by its own keys; one of the queue keeps the focus of the click before.
function pressInEditorOf(workbench, event) {
  const key = chordOf(event);
  if (key === "?" && !workbench.state.edit?.editor.filter && pressPageKey(event, keyRows(workbench.state))) return;
  const isOnButton = event.target.closest?.("button:not(.nw-entry)") && (event.key === "Enter" || event.key === " ");
  if (isOnButton || !isEditKey(key)) return;
  const now = performance.now();
  workbench.act(pressAfter, key, now - (workbench.editedAt ?? now));
  workbench.editedAt = now;
  event.preventDefault();
}

// Whoever leaves by a link while the server has not acknowledged all events leaves once it has.
function delayLink(workbench, event) {
  const link = event.isTrusted && workbench.state.events.length && event.target.closest?.(LINK);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  workbench.delayedPath = link.pathname;
  setTimeout(() => followLink(workbench), LINK_PATIENCE);
}

function followLink(workbench) {
  const path = workbench.delayedPath;
  workbench.delayedPath = null;
  if (path) [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(LINK))].find((link) => link.pathname === path)?.click();
}
