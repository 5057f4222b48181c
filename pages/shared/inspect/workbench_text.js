// The drawing of the open document. It consists of windows, which are drawn by themselves: another record changes only
// those that it and the last one lie in. Windows that were not sent yet keep their place, and are asked for once they
// come into sight; a whole document is asked for at once.

const DRAWN_AT_ONCE = 30; // milliseconds for drawing in one frame, beside the window of the open record
const MOST_WINDOWS = 80; // windows of a whole document that are asked for before they come into sight
const AROUND = 1; // heights of the frame above and below in which windows are asked for
const ROOM_AROUND = 60; // pixels that the open record has to the edges of the page
const CHARACTERS_OF_LINE = 90; // of a window that was not sent yet

function drawText(workbench) {
  const { parts, state } = workbench;
  const [doc, record] = state.open;
  const text = state.texts.get(state.textKey);
  parts.pane.classList.toggle("nw-late", text?.doc !== doc);
  if (text?.doc !== doc) return;
  const places = placesOf(workbench, text);
  drawWindow(workbench, places[text.part], text);
  if (isChanged(workbench, "place", state.textKey, record, text.place, state.data.whole)) {
    revealRecord(parts.scroll);
    workbench.isRevealed = false;
  }
  // A draft that is gone on with may lie anywhere in the document.
  const draft = state.edit?.draftKey ?? "";
  const edited = draft && windowsOf(state).find((each) => each && editIn(state, each));
  if (isChanged(workbench, "draft", draft) && edited) {
    drawWindow(workbench, places[edited.part], edited);
    workbench.isRevealed = false;
  }
  drawOthers(workbench);
  if (isChanged(workbench, "map", state.textKey, state.data.map)) drawMap(workbench);
  drawHead(workbench, text);
}

// The places of the windows of the open document: the element of each, and what it was drawn from.
function placesOf(workbench, { doc, parts: count, window: [low, high] }) {
  const { parts, facts } = workbench;
  const last = workbench.document;
  if (last?.doc === doc && last.places.length === count) {
    if (last.facts !== facts) forgetWindows(last, facts);
    return last.places;
  }
  const lines = Math.ceil((high - low) / CHARACTERS_OF_LINE);
  const places = Array.from({ length: count }, () => ({ element: missingWindow(lines * LINE), text: null, facts: "" }));
  workbench.document = { doc, facts, places };
  parts.scroll.replaceChildren(...places.map(({ element }) => element));
  parts.scroll.scrollTop = 0;
  return places;
}

function missingWindow(height) {
  const element = make("div", "nw-missing");
  element.style.height = `${height}px`;
  return element;
}

// Without what was drawn from other facts, each place as high as it was.
function forgetWindows(drawn, facts) {
  drawn.facts = facts;
  for (const place of drawn.places) {
    if (!place.text) continue;
    const element = missingWindow(place.element.offsetHeight);
    place.element.replaceWith(element);
    Object.assign(place, { element, text: null, facts: "" });
  }
}

// Draw a window unless it is as it was.
function drawWindow(workbench, place, plainText) {
  const options = optionsOf(workbench.state, plainText);
  const text = textWithCorrections(workbench.state, place, plainText);
  const facts = JSON.stringify({ ...options, selected: options.tracks ? "" : options.selected });
  if (place.text === text && place.facts === facts) {
    if (options.tracks && place.element.nvOptions.selected !== options.selected) selectInTracks(place.element, options);
    place.element.nvOptions = options;
    return;
  }
  const view = options.tracks ? tracksReader(text, options.tracks) : reader(withoutOthers(text), options);
  view.nvOptions = options;
  keepInSight(workbench.parts.scroll, () => {
    place.element.replaceWith(view);
    layoutWindow(view, options);
  });
  Object.assign(place, { element: view, text, facts });
}

const layoutWindow = (view, options) => (options.tracks ? layoutTracks : layout)(view, view.nvData, options);

// A text with gold and the system that is read alone.
function withoutOthers(text) {
  const marks = text.marks.filter(({ side }) => side !== "beside");
  return marks.length === text.marks.length ? text : { ...text, marks };
}

function optionsOf(state, text) {
  const [doc, record] = state.open;
  const isIn = text.doc === doc && text.marks.some((mark) => mark.record === record);
  return {
    selected: state.edit && !state.edit.record ? DRAWN : isIn ? record : "",
    labels: state.isCorrectLabelled,
    clickable: true,
    tracks: tracksIn(state, text),
    looks: state.data.looks,
    paints: colouredBy(state) === "type" ? state.data.types : undefined,
    verdicts: verdictsIn(state, text),
  };
}

// The lanes of a text where systems are compared, in an order that stays when another of them is read. A span is edited
// in the text without them.
function tracksIn(state, text) {
  const { system, compared, reference, systems } = state.data;
  if (!compared.length || editIn(state, text)) return undefined;
  return { reference, system, systems: systems.filter((name) => name === system || compared.includes(name)) };
}

// Do what may change heights, with the open record where it was if it is in sight, else the first window that is.
function keepInSight(scroll, change) {
  const frame = scroll.getBoundingClientRect();
  const record = scroll.querySelector(".nv-selected")?.getBoundingClientRect();
  const isRecordInSight = record && record.bottom > frame.top && record.top < frame.bottom;
  const first = [...scroll.children].findIndex((element) => element.getBoundingClientRect().bottom > frame.top);
  const held = () => (isRecordInSight ? scroll.querySelector(".nv-selected") : scroll.children[first]);
  const before = held()?.getBoundingClientRect().top;
  change();
  const after = held()?.getBoundingClientRect().top;
  if (before !== undefined && after !== undefined) scroll.scrollTop += after - before;
}

// The other windows, nearest to the open record first, over as many frames as they take; and ask for what is missing.
function drawOthers(workbench) {
  cancelAnimationFrame(workbench.frame);
  const { state } = workbench;
  const { places } = workbench.document;
  const texts = windowsOf(state);
  const open = state.texts.get(state.textKey)?.part ?? 0;
  const numbers = [...places.keys()].sort((a, b) => Math.abs(a - open) - Math.abs(b - open));
  const start = performance.now();
  for (const number of numbers) {
    if (texts[number]) drawWindow(workbench, places[number], texts[number]);
    if (performance.now() - start > DRAWN_AT_ONCE) {
      workbench.frame = requestAnimationFrame(() => drawOthers(workbench));
      return;
    }
  }
  askForMissing(workbench, numbers, texts);
}

function askForMissing(workbench, numbers = [...workbench.document?.places.keys() ?? []], texts = windowsOf(workbench.state)) {
  const { parts, state } = workbench;
  const missing = numbers.filter((number) => !texts[number]);
  if (!missing.length) return;
  const frame = parts.scroll.getBoundingClientRect();
  const isNear = (number) => {
    const box = workbench.document.places[number].element.getBoundingClientRect();
    return box.bottom > frame.top - AROUND * frame.height && box.top < frame.bottom + AROUND * frame.height;
  };
  const near = missing.filter(isNear);
  const isWhole = state.data.whole && numbers.length <= MOST_WINDOWS;
  const wanted = near.length || !isWhole ? near : missing;
  // Not while the workbench is being drawn.
  if (wanted.length) setTimeout(() => workbench.act(askForWindows, wanted.slice(0, WINDOWS_AT_ONCE)));
}

// Lay out the windows anew, or those for which a test holds.
function layoutAgain(workbench, isDue = (_view) => true) {
  for (const { element, text } of workbench.document?.places ?? [])
    if (text && element.isConnected && isDue(element)) layoutWindow(element, element.nvOptions);
}

// The text with the spans that reviewers say are right, and those of the editor. It stays the same object while they do.
function textWithCorrections(state, place, text) {
  const marks = correctionMarks(state, text);
  const facts = JSON.stringify(marks);
  if (place.corrections?.text !== text || place.corrections.facts !== facts)
    place.corrections = { text, facts, shown: marks.length ? withMarks(text, marks) : text };
  return place.corrections.shown;
}

function correctionMarks(state, text) {
  const [low, high] = text.window;
  const isInWindow = ({ fragments }) => fragments.every(([start, end]) => low <= start && end <= high);
  const inWindow = (spans) => spans.filter(isInWindow).map((span) => shifted(span, -low));
  const edit = editIn(state, text);
  const edited = edit && (edit.record ? edit.record : edit.entity && entityId(edit.entity));
  const records = [...new Set(text.marks.map((mark) => mark.record))].filter((record) => record !== edited);
  const corrections = records.flatMap((record) => {
    const spans = inWindow(correctedSpans(state, recordKey(text.doc, record)));
    return marksOf(spans, { record, title: "right, as a reviewer says" });
  });
  const entities = entitiesIn(state, text.doc).flatMap((entity) => {
    const id = entityId(entity);
    const title = `nobody had marked it${entity.who ? `, ${entity.who} did` : ""}`;
    return id === edited ? [] : marksOf(inWindow(entity.right), { record: id, entity: id, title });
  });
  const drafts = draftMarks(state, text, inWindow, edit && (edit.record || edit.draftKey));
  if (!edit) return [...corrections, ...entities, ...drafts];
  const { spans, edge } = edit.editor;
  const drawn = marksOf(spans, { record: edit.record || DRAWN, title: "being edited" });
  if (drawn[edge.span]) drawn[edge.span].edge = edge;
  return [...corrections, ...entities, ...drafts, ...drawn];
}

// The marks of drafts in a window but that of `edited`: spans that were edited and that nobody has kept.
function draftMarks(state, text, inWindow, edited) {
  const title = "a draft, which nobody has kept";
  const records = [...new Set(text.marks.map(({ record }) => record))].filter((record) => record && record !== edited);
  const fieldsOf = new Map(records.map((record) => [recordKey(text.doc, record), { record, entity: undefined, title }]));
  for (const key of Object.keys(state.drafts))
    if (isDraftedEntity(key, text.doc) && key !== edited) fieldsOf.set(key, { record: DRAWN, entity: key, title });
  return [...fieldsOf].flatMap(([key, fields]) => {
    const draft = state.drafts[key];
    if (!draft || !isOpenDraft(state, key)) return [];
    const marks = marksOf(inWindow(draftSpans(draft)), fields);
    return marks.map((mark) => ({ ...mark, key: `${key}|${mark.key}`, name: `${mark.name} (draft)` }));
  });
}

// What is edited in a window, undefined where nothing is.
function editIn({ edit }, { doc, window: [low] }) {
  return edit?.doc === doc && edit.editor.text.offset === low ? edit : undefined;
}

// The marks of spans that a reviewer says are right.
function marksOf(spans, fields) {
  return spans.map(({ fragments, type }, number) => ({
    ...CORRECTION_COLOURS,
    fragments,
    type,
    name: nameText(type) || "type?",
    side: "right",
    key: `${fields.record}|${number}`,
    code: "RIGHT",
    glyph: "✎",
    ...fields,
    title: `${fields.title}: type ${nameText(type)}`,
  }));
}

const DRAWN = "drawn"; // stands for the record of an entity that is being drawn

// Neutral: colours of decisions are for decisions.
const CORRECTION_COLOURS = { fill: ["#e6e8ee", "#413e37"], ink: ["#1f2430", "#f1eee6"] };

// The verdicts on the records of a text by record, whether the queue lists these or not.
function verdictsIn(state, text) {
  const labels = { ...state.data.reviewed, ...state.labels };
  const records = new Set(text.marks.map((mark) => mark.record));
  const decided = [...records].filter((record) => labels[recordKey(text.doc, record)]);
  return Object.fromEntries(decided.map((record) => [record, labels[recordKey(text.doc, record)]]));
}

const colouredBy = (state) => state.colour ?? state.data.colour;

function drawHead(workbench, text) {
  const { parts, state } = workbench;
  const windows = windowsOf(state);
  const length = text.window[2];
  const here = windows.reduce((total, each) => total + (each ? each.window[1] - each.window[0] : 0), 0);
  const size = `${length.toLocaleString()} characters`;
  const count = here < length ? `${here.toLocaleString()} of ${size}` : size;
  if (!isChanged(workbench, "head", text.doc, text.notes, count)) return;
  const notes = [...text.notes, ...(windows.length > 1 ? [count] : [])];
  parts.head.replaceChildren(make("bdi", "nw-doc", nameText(text.doc)), make("span", "nv-note", notes.join(" · ")));
}

// Ticks beside a whole document where its errors are; a click on one opens the error.
function drawMap(workbench) {
  const { parts, state } = workbench;
  const [doc] = state.open;
  const tickOfLine = new Map();
  for (const [share, code, title, record] of state.data.map) {
    // One tick a line: it leads to the first error of it.
    const line = Math.round(share * (parts.scroll.clientHeight / 6));
    if (tickOfLine.has(line)) {
      tickOfLine.get(line).title += `\n${title}`;
      continue;
    }
    const tick = make("span", "nw-tick");
    paint(tick, state.data.looks[code]);
    tick.title = title;
    tick.style.top = `${100 * share}%`;
    tick.addEventListener("click", () => workbench.act(choose, doc, record));
    tickOfLine.set(line, tick);
  }
  parts.map.setAttribute("aria-hidden", "true");
  parts.map.replaceChildren(...tickOfLine.values());
}

const ROOM_FOR_LABELS = 56; // pixels of two lanes of labels above and below the words of a record

function openRecord(scroll) {
  return scroll.querySelector(".nv-selected") ?? scroll.querySelector(".nv-place") ?? undefined;
}

function revealRecord(scroll) {
  const piece = openRecord(scroll);
  if (!piece) return;
  const [box, frame] = [piece.getBoundingClientRect(), scroll.getBoundingClientRect()];
  // Lanes scroll sideways in a box of their own.
  const lanes = piece.closest(".nt-box");
  const beyond = lanes ? box.right - lanes.getBoundingClientRect().right : 0;
  if (beyond > 0) lanes.scrollLeft += beyond + lanes.clientWidth / 3;
  if (box.top >= frame.top + ROOM_FOR_LABELS && box.bottom <= frame.bottom - ROOM_FOR_LABELS) return;
  scroll.scrollTop += box.top - frame.top - frame.height / 3;
}

// Whether the first piece of the open record is wholly in sight.
function isInSight(scroll) {
  const box = openRecord(scroll)?.getBoundingClientRect();
  const frame = scroll.getBoundingClientRect();
  return Boolean(box) && box.top >= frame.top && box.bottom <= frame.bottom;
}

// Whoever scrolls the record out of sight is not called back to it.
function noteSight(workbench) {
  workbench.wasInSight = isInSight(workbench.parts.scroll);
}

// The text may break into other lines, and what is above or below it take another height: the record stays in sight.
function revealAgain(workbench) {
  const { scroll } = workbench.parts;
  if (workbench.wasInSight && !isInSight(scroll)) revealRecord(scroll);
}

// Scroll to a record that was just opened again, once all around its text is as high as it stays. On a narrow screen the text is
// longer than what is in sight of it: the page is scrolled so far that the record is above the bar of verdicts, and the
// queue stays as near as it can.
function reveal(workbench) {
  const { scroll, bar } = workbench.parts;
  if (workbench.isRevealed ?? true) return;
  workbench.isRevealed = true;
  revealRecord(scroll);
  noteSight(workbench);
  const main = document.querySelector("[data-testid='stMain']");
  const piece = openRecord(scroll);
  if (!main || !piece) return;
  const box = piece.getBoundingClientRect();
  const top = Math.max(main.getBoundingClientRect().top, 0) + ROOM_AROUND;
  const bottom = Math.min(window.innerHeight, bar.getBoundingClientRect().top) - ROOM_AROUND;
  if (box.bottom > bottom) main.scrollTop += box.bottom - bottom;
  else if (box.top < top) main.scrollTop -= top - box.top;
}
