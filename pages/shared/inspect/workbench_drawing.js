// The drawing of the workbench: what is on screen follows from its state. A part whose facts have not changed stays.

function buildParts(parentElement) {
  parentElement.querySelector(":scope > .nw")?.remove();
  const root = make("div", "nw nv-reading");
  const section = (name, label) => {
    const element = make("section", name);
    element.setAttribute("aria-label", label);
    return element;
  };
  const parts = {
    root,
    queue: section("nw-queue", "Queue"),
    pane: section("nw-pane", "Text"),
    head: make("div", "nw-head"),
    scroll: make("div", "nw-scroll"),
    map: make("div", "nw-map"),
    card: make("div", "nw-card nv-card"),
    bar: section("nw-bar", "Verdict"),
    live: make("div", "nw-live"),
  };
  parts.live.setAttribute("role", "status");
  parts.card.setAttribute("aria-live", "polite");
  parts.scroll.tabIndex = 0;
  parts.scroll.setAttribute("role", "region");
  parts.scroll.setAttribute("aria-label", "Annotated text");
  const middle = make("div", "nw-middle");
  middle.append(parts.scroll, parts.map);
  parts.pane.append(parts.head, middle, parts.card);
  root.append(parts.queue, parts.pane, parts.bar, parts.live);
  parentElement.append(root);
  return parts;
}

function draw(workbench) {
  const { parts, state } = workbench;
  if (workbench.facts !== state.data.facts) Object.assign(workbench, { facts: state.data.facts, drawn: {} });
  parts.root.classList.toggle("nw-whole", state.data.whole);
  parts.root.classList.toggle("nw-editing", Boolean(state.edit));
  drawQueue(workbench);
  drawText(workbench);
  drawCard(workbench);
  drawBar(workbench);
  workbench.fit();
  reveal(workbench);
}

// Whether a part is to be drawn, because its facts are not those that it was drawn from.
function isChanged(workbench, part, ...facts) {
  const text = JSON.stringify(facts);
  if (workbench.drawn[part] === text) return false;
  workbench.drawn[part] = text;
  return true;
}

// The workbench ends where the window does.
function fitHeight(workbench) {
  const { parts } = workbench;
  // On a narrow screen the text comes first, for the keyboard too.
  const first = matchMedia("(max-width: 820px)").matches ? parts.pane : parts.queue;
  if (parts.root.firstChild !== first) parts.root.prepend(first);
  const scrolled = document.querySelector("[data-testid='stMain']")?.scrollTop ?? 0;
  const top = parts.root.getBoundingClientRect().top + scrolled;
  parts.root.style.setProperty("--nw-height", `${Math.max(430, Math.floor(window.innerHeight - top - 14))}px`);
  layoutAgain(workbench, (view) => view.clientWidth !== view.nvWidth);
  revealAgain(workbench);
}

function button(name, label, handle, title) {
  const element = make("button", name, label);
  element.type = "button";
  if (title) element.title = title;
  element.addEventListener("click", handle);
  return element;
}

function verdictButton(workbench, key, label, title) {
  const element = button("nw-verdict", "", () => workbench.act(press, key), title);
  element.append(make("kbd", "", key.toUpperCase()), ...label);
  return element;
}

function drawQueue(workbench) {
  const { parts, state } = workbench;
  const { data } = state;
  let hadFocus = false;
  const starred = data.entries.map(([doc, record]) => isStarred(state, recordKey(doc, record)));
  if (isChanged(workbench, "queue", data.first, data.entries, state.labels, state.corrected, Object.keys(state.drafts), data.count, data.none, starred)) {
    const list = make("ol", "nw-list");
    list.append(...data.entries.map((entry, place) => queueEntry(state, entry, data.first + place)));
    if (!data.entries.length) list.append(make("li", "nw-none", data.none));
    const head = make("div", "nw-count", data.count);
    if (data.entries.length < data.total && data.entries.length) {
      const [first, last] = [data.first + 1, data.first + data.entries.length];
      const range = ` · ${first.toLocaleString()}–${last.toLocaleString()} shown`;
      head.append(make("span", "nw-range", range), jumpField(workbench));
    }
    const top = parts.queue.querySelector(".nw-list")?.scrollTop ?? 0;
    // An entry that goes leaves the focus to the open one.
    hadFocus = Boolean(parts.queue.querySelector(".nw-entry:focus"));
    parts.queue.replaceChildren(head, list);
    list.scrollTop = top;
  }
  const list = parts.queue.querySelector(".nw-list");
  let current = null;
  for (const item of list.querySelectorAll("[data-at]")) {
    const isOpen = Number(item.dataset.at) === state.at;
    if (isOpen) current = item;
    if (isOpen) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
  }
  if (!current) return;
  if (hadFocus) current.focus({ preventScroll: true });
  const [box, frame] = [current.getBoundingClientRect(), list.getBoundingClientRect()];
  if (box.top < frame.top) list.scrollTop -= frame.top - box.top + 8;
  else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom + 60;
}

// Characters of the types of a record that one line of the queue has no room for.
const LONG_TYPES = 30;

function queueEntry(state, entry, number) {
  const [doc, record, code, pieces, why, types, , right] = entry;
  const item = make("button", "nw-entry");
  item.type = "button";
  item.dataset.at = number;
  const look = state.data.looks[code];
  const glyph = make("span", "nw-glyph", look.text.split(" ")[0]);
  glyph.title = look.text;
  paint(glyph, look);
  const first = make("span", "nw-span");
  first.append(difference(pieces));
  if (isStarred(state, recordKey(doc, record))) first.append(make("span", "nw-star", "★"));
  const verdict = verdictOf(state, entry);
  if (verdict) first.append(make("span", "nw-given", verdict));
  else if (state.drafts[recordKey(doc, record)]) first.append(make("span", "nw-given nw-draft", "draft"));
  const second = make("span", "nw-why");
  const rest = [why, nameText(doc)].filter(Boolean).join(" · ");
  const corrected = correctionOf(state, recordKey(doc, record)) ?? right;
  if (corrected) second.append("✎ ", make("bdi", "nw-right", corrected), " · ");
  second.append(...typeChange(types), types.length && rest ? " · " : "", rest);
  second.classList.toggle("nw-wrap", types.join().length > LONG_TYPES);
  second.title = second.textContent;
  item.append(glyph, first, second);
  const row = make("li");
  row.append(item);
  return row;
}

// What the reader has just said is right, in words; undefined where the server's words count.
function correctionOf(state, key) {
  const editor = state.drafts[key];
  if (!(key in state.corrected)) return undefined;
  return state.corrected[key].length && editor?.text ? editor.spans.map((span) => `${quoteOf(editor.text, span)} ${nameText(span.type)}`).join(", ") : "";
}

// A field that opens a record far away in the queue by its number.
function jumpField(workbench) {
  const field = make("input", "nw-jump");
  field.type = "number";
  field.min = 1;
  field.max = workbench.state.data.total;
  field.placeholder = "go to…";
  field.setAttribute("aria-label", "Go to record number");
  field.addEventListener("change", () => {
    const number = Number(field.value);
    if (Number.isFinite(number)) workbench.act(jumpTo, number - 1);
  });
  return field;
}

function drawCard(workbench) {
  const { parts, state } = workbench;
  const { data } = state;
  const card = openCard(state);
  const verdict = state.labels[openKey(state)];
  const switches = [data.system, data.compared, data.whole, data.borders, state.colour, state.isCorrectLabelled, state.isComparing];
  if (!isChanged(workbench, "card", state.open, card, verdict, ...switches)) return;
  const isUnfolded = parts.card.querySelector("details")?.open ?? false;
  const lines = [];
  if (card) {
    lines.push(decisionLine(card, data.schemas));
    if (card.stands) lines.push(make("div", "nw-stands nv-note", card.stands));
    lines.push(criteriaDetails(card, isUnfolded));
  } else {
    const hint = state.open[1] ? "…" : "Click a span, or press j, to see why it was decided so.";
    lines.push(make("div", "nv-note", hint));
  }
  parts.card.replaceChildren(...lines, textControls(workbench));
}

// The decision on the record with its reason, and its decisions under the schemas.
function decisionLine(card, schemas) {
  const line = make("div", "nw-line");
  const chip = make("span", "nv-chip", card.decision.text);
  chip.title = card.decision.title;
  paint(chip, card.decision);
  line.append(chip, make("strong", "nv-reason", card.reason));
  if (card.under.includes(", by ")) line.append(make("span", "nv-note", card.under));
  for (const row of card.rows.filter(({ criterion }) => schemas.includes(criterion))) {
    const under = make("span", row.current ? "nw-under nw-current" : "nw-under", row.criterion);
    const glyph = make("span", "nv-chip", row.text.split(" ")[0]);
    glyph.title = row.text;
    paint(glyph, row);
    under.append(" ", glyph);
    line.append(under);
  }
  return line;
}

function criteriaDetails(card, isUnfolded) {
  const box = make("details", "nw-details");
  box.open = isUnfolded;
  box.append(make("summary", "", "all criteria"));
  const facts = make("dl", "nv-facts");
  for (const [term, quote, detail] of card.facts) {
    const value = make("dd");
    value.append(make("bdi", quote ? "nv-quote" : "nv-none", quote || "none"));
    if (detail) value.append(make("span", "nv-note", detail));
    facts.append(make("dt", "", term), value);
  }
  const list = make("ul", "nv-rows");
  for (const row of card.rows) {
    const line = make("li", row.current ? "nv-current" : "");
    const name = make("span", "nv-name", row.criterion);
    name.title = row.sentence;
    const mark = make("span", "nv-chip", row.text);
    mark.title = row.title;
    paint(mark, row);
    line.append(name, mark);
    if (row.partner) line.append(make("span", "nv-note", row.partner));
    list.append(line);
  }
  box.append(facts, make("div", "nv-card-title", card.title), list);
  return box;
}

// What changes the drawing of the text, and its legend.
function textControls(workbench) {
  const { state } = workbench;
  const { data } = state;
  const row = make("div", "nw-controls");
  const label = data.whole ? "show the queue" : "whole document";
  row.append(button("nw-small", label, () => workbench.act(press, "w"), "Key w"));
  const compare = data.systems.length > 1 ? compareButton(workbench) : "";
  const colours = [["decision", "colour by decision"], ["type", "colour by type"]];
  row.append(selectBox("Colour by", colours, colouredBy(state), (colour) => workbench.act(colourBy, colour)));
  row.append(compare, checkBox(`label ${data.correct}`, state.isCorrectLabelled, (on) => workbench.act(labelCorrect, on)));
  if (data.borders.label) row.append(checkBox(data.borders.label, data.borders.drawn, (on) => workbench.act(markTokens, on)));
  row.append(legend(legendItems(workbench), []));
  if (compare && state.isComparing) row.append(systemButtons(workbench));
  return row;
}

// Unfolds the systems that the one that is read can be compared with.
function compareButton(workbench) {
  const { isComparing, data } = workbench.state;
  const number = data.compared.length;
  const label = number ? `compared with ${number} ${number === 1 ? "system" : "systems"}` : "compare with …";
  const element = button("nw-small", label, () => workbench.act(unfoldSystems, !isComparing), "Show other systems as lanes");
  element.setAttribute("aria-expanded", String(isComparing));
  return element;
}

// A switch for each system. [ and ] read the next one.
function systemButtons(workbench) {
  const { data } = workbench.state;
  const box = make("div", "nw-compare");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `Compare ${nameText(data.system)} with`);
  for (const name of data.systems.filter((each) => each !== data.system)) {
    const isOn = data.compared.includes(name);
    const element = button("nw-small", nameText(name), () => workbench.act(compareWith, name, !isOn));
    element.setAttribute("aria-pressed", String(isOn));
    element.disabled = !isOn && data.compared.length >= data.most;
    if (element.disabled) element.title = `At most ${data.most} at a time`;
    box.append(element);
  }
  const hint = make("span", "nv-note");
  hint.append(make("kbd", "", "["), " ", make("kbd", "", "]"), " read another system");
  box.append(hint);
  return box;
}

function checkBox(label, isOn, handle) {
  const field = make("label", "nw-check");
  const box = make("input");
  box.type = "checkbox";
  box.checked = isOn;
  box.addEventListener("change", () => {
    box.blur();
    handle(box.checked);
  });
  field.append(box, label);
  return field;
}

function legendItems({ state }) {
  const { data } = state;
  const marks = windowsOf(state).flatMap((text) => text?.marks ?? []);
  if (colouredBy(state) === "type") {
    const names = new Map(marks.map((mark) => [mark.type, mark.name]));
    return [...names.keys()].sort().map((type) => ({ text: names.get(type), title: `type ${names.get(type)}`, ...data.types[type] }));
  }
  const isPresent = (entry) => marks.some((mark) => mark.code === entry[0]);
  return Object.entries(data.looks).filter(isPresent).map(([, look]) => look);
}

function selectBox(label, options, value, handle) {
  const box = make("select", "nw-select");
  box.setAttribute("aria-label", label);
  for (const [key, name] of options) {
    const option = make("option", "", name);
    option.value = key;
    box.append(option);
  }
  box.value = value;
  box.addEventListener("change", () => {
    handle(box.value);
    box.blur();
  });
  return box;
}

function drawBar(workbench) {
  const { parts, state } = workbench;
  if (state.edit) return drawEditor(workbench);
  const { verdicts } = state.data;
  const [key, card] = [openKey(state), openCard(state)];
  const facts = [card?.version, card?.kind, card?.starred, card?.meanings, verdicts, state.labels[key], state.message, openConflicts(state), isNaming(state), lateLine(state)];
  if (!isChanged(workbench, "bar", key, facts)) return;
  const isNamed = Boolean(workbench.nameForm?.contains(document.activeElement));
  const isTyping = !isNamed && parts.bar.contains(document.activeElement) && document.activeElement.matches(".nw-note");
  const row = make("div", "nw-row");
  if (verdicts.reason) row.append(make("span", "nv-note", verdicts.reason));
  else row.append(...verdictFields(workbench));
  if (verdicts.stars) row.append(starButton(workbench));
  row.append(stepButtons(workbench));
  parts.bar.replaceChildren(row);
  if (verdicts.reason) return;
  if (state.message) parts.bar.append(messageBox(state.message));
  if (lateLine(state)) parts.bar.append(messageBox({ text: lateLine(state), lines: [], wrong: true }));
  const conflicts = openConflicts(state);
  if (conflicts.length) parts.bar.append(conflictBox(workbench, conflicts));
  if (isTyping) parts.bar.querySelector(".nw-note").focus();
  if (!isNaming(state)) workbench.nameForm = null;
  else {
    parts.bar.append(nameForm(workbench));
    // Keys are for the records until the reader turns to the field, which then keeps the focus.
    if (isNamed) workbench.nameForm.querySelector("input").focus();
  }
}

// The question who gives the verdicts. Its form stays while the bar is drawn anew: what is typed is not lost.
function nameForm(workbench) {
  if (!workbench.nameForm) {
    const form = make("form", "nw-name");
    const field = make("input", "nw-note");
    field.type = "text";
    field.maxLength = 100;
    field.placeholder = "kept with each verdict";
    field.setAttribute("aria-label", "Your name");
    const keep = make("button", "nw-verdict nw-keep", "Keep");
    form.append(make("strong", "", "Who gives the verdicts?"), field, keep, make("span", "nv-note"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      workbench.act(giveName, field.value);
    });
    workbench.nameForm = form;
  }
  workbench.nameForm.lastChild.textContent = waitingLine(workbench.state);
  return workbench.nameForm;
}

// A button for each verdict, undo, and the field of the note.
function verdictFields(workbench) {
  const { state } = workbench;
  const { verdicts } = state.data;
  const card = openCard(state);
  const buttons = verdicts.kinds.map((kind, number) => {
    const label = [" ", make("span", "", verdicts.labels[number])];
    const element = verdictButton(workbench, VERDICT_KEYS[number], label, card?.meanings?.[number]);
    element.disabled = !isDecidable(state);
    element.setAttribute("aria-pressed", String(kind === card?.kind));
    return element;
  });
  const undoTitle = "Take back your own last verdict, or your last batch";
  const note = make("input", "nw-note");
  note.type = "text";
  note.maxLength = 10000;
  note.placeholder = "note… (N)";
  note.setAttribute("aria-label", "Note");
  note.value = noteOf(state);
  note.disabled = !isDecidable(state);
  note.addEventListener("input", () => workbench.act(takeNote, note.value));
  const question = make("strong", "nw-who", "Who is right?");
  return [question, ...buttons, verdictButton(workbench, "u", [" undo"], undoTitle), note];
}

function starButton(workbench) {
  const { state } = workbench;
  const card = openCard(state);
  const starred = Boolean(card?.starred);
  const title = `${starred ? "Take it out of" : "Put it on"} the playlist ${state.data.verdicts.playlist}`;
  const element = verdictButton(workbench, "s", [], title);
  element.prepend(`${starred ? "★" : "☆"} `);
  element.setAttribute("aria-label", starred ? "Starred" : "Star");
  element.setAttribute("aria-pressed", String(starred));
  element.disabled = !card;
  return element;
}

function stepButtons(workbench) {
  const box = make("span", "nw-steps");
  for (const [name, key] of [["previous", "k"], ["next", "j"]])
    box.append(verdictButton(workbench, key, [make("span", "nw-word", ` ${name}`)], `${name} record`));
  return box;
}

// What became of the last verdict.
function messageBox(message) {
  const box = make("div", message.wrong ? "nw-said nw-wrong" : "nw-said", message.text);
  box.setAttribute("role", message.wrong ? "alert" : "status");
  for (const line of message.lines) box.append(make("div", "", line));
  return box;
}

// The question whose verdict counts, of the first one that others came before.
function conflictBox(workbench, [{ text, lines }, ...more]) {
  const box = messageBox({ text, lines, wrong: true });
  const answer = (key, label) => verdictButton(workbench, key, [` ${label}`], label);
  box.append(answer("t", "Keep theirs"), answer("y", "Mine counts"));
  if (!more.length) return box;
  box.append(make("span", "nv-note", `${more.length} more to answer; in all ${more.length + 1}:`));
  for (const [key, label] of [["T", "keep theirs"], ["Y", "mine count"]]) {
    const element = button("nw-verdict", "", () => workbench.act(press, key), `${label}, in all`);
    element.append(make("kbd", "", `⇧${key}`), ` ${label}`);
    box.append(element);
  }
  return box;
}
