// The workbench: queue, text and verdicts. It owns the keys: what the reader does is shown at once, numbered, and sent
// until the server acknowledges it, so that no key is lost while the page is busy.

const SEND_AFTER = 60; // milliseconds that moves are gathered for before the server is told
const KEPT = 400; // texts and cards of earlier answers that are kept
const KEYS = "12345";
const AWAITED = ["undo", "jump"];
const LINK = "a[data-testid='stPageLink-NavLink']";
const PATIENCE = 4000; // milliseconds that a way to another page waits for what was done here to be kept

// Outlives the component: an element inserted above it may have the page mount it anew.
const kept = (globalThis.nerevalWorkbench ??= { memory: null, left: 0 });

export default function (component) {
  const { data, parentElement } = component;
  const fresh = !kept.memory || (kept.left && Date.now() - kept.left > 3000);
  if (fresh) kept.memory = { mount: crypto.randomUUID?.() ?? String(Math.random()), seq: 0, events: [], wanted: 0, held: [] };
  kept.left = 0;
  const memory = kept.memory;
  memory.send = component.setStateValue;
  if (memory.parent !== parentElement) {
    memory.stop?.();
    memory.parent = parentElement;
    build(memory, parentElement);
  }
  take(memory, data, fresh);
  return () => {
    if (memory.parent !== parentElement) return;
    memory.stop?.();
    memory.parent = null;
    kept.left = Date.now();
  };
}

const id = (doc, record) => `${doc}\n${record}`;

// The fixed parts of the component, and the listeners, which live as long as it is mounted.
function build(memory, parentElement) {
  const stops = [];
  memory.stop = () => stops.splice(0).forEach((stop) => stop());
  const listen = (target, name, act, options) => {
    target.addEventListener(name, act, options);
    stops.push(() => target.removeEventListener(name, act, options));
  };
  parentElement.querySelector(":scope > .nw")?.remove();
  const root = make("div", "nw nv-reading");
  const queue = make("section", "nw-queue");
  queue.setAttribute("aria-label", "Queue");
  const pane = make("section", "nw-pane");
  pane.setAttribute("aria-label", "Text");
  const parts = {
    root,
    queue,
    pane,
    head: make("div", "nw-head"),
    scroll: make("div", "nw-scroll"),
    map: make("div", "nw-map"),
    card: make("div", "nw-card nv-card"),
    bar: make("section", "nw-bar"),
  };
  parts.card.setAttribute("aria-live", "polite");
  parts.bar.setAttribute("aria-label", "Verdict");
  parts.scroll.tabIndex = 0;
  parts.scroll.setAttribute("role", "region");
  parts.scroll.setAttribute("aria-label", "Annotated text");
  const middle = make("div", "nw-middle");
  middle.append(parts.scroll, parts.map);
  pane.append(parts.head, middle, parts.card);
  root.append(queue, pane, parts.bar);
  parentElement.append(root);
  memory.parts = parts;
  memory.drawn = {};
  const fit = () => {
    const top = root.getBoundingClientRect().top + (document.querySelector("[data-testid='stMain']")?.scrollTop ?? 0);
    root.style.setProperty("--nw-height", `${Math.max(430, Math.floor(window.innerHeight - top - 14))}px`);
    const view = parts.scroll.querySelector(".nv-reader");
    if (view && view.clientWidth !== view.nvWidth) layout(view, memory.text, memory.options);
  };
  memory.fit = fit;
  const resize = new ResizeObserver(fit);
  resize.observe(root);
  const main = document.querySelector("[data-testid='stMainBlockContainer']");
  if (main) resize.observe(main);
  stops.push(() => resize.disconnect());
  listen(window, "resize", fit);
  document.fonts?.ready.then(() => {
    const view = parts.scroll.querySelector(".nv-reader");
    if (view?.isConnected) layout(view, memory.text, memory.options);
  });
  listen(document, "keydown", (event) => press(memory, event));
  listen(document, "click", (event) => leave(memory, event), true);
  listen(queue, "click", (event) => {
    const entry = event.target.closest("[data-at]");
    if (entry) open(memory, Number(entry.dataset.at));
  });
  listen(parts.scroll, "click", (event) => {
    const view = parts.scroll.querySelector(".nv-reader");
    const number = view ? markAt(view, event) : null;
    if (number === null) return;
    const record = memory.text.marks[number].record;
    const at = memory.entries.findIndex((entry) => entry[0] === memory.text.doc && entry[1] === record);
    choose(memory, memory.text.doc, record, at < 0 ? null : memory.first + at);
  });
  hoverRecords(parts.scroll, () => memory.text, listen);
  listen(parts.scroll, "copy", (event) => copyText(parts.scroll.querySelector(".nv-reader"), event));
}

// Take an answer of the server; what the reader has done since stays as it is.
function take(memory, data, fresh) {
  if (fresh || memory.facts !== data.facts) {
    Object.assign(memory, { facts: data.facts, texts: new Map(), cards: new Map(), notes: memory.notes ?? {}, given: {}, wanted: 0 });
    memory.drawn = {};
  }
  memory.data = data;
  const seen = data.mount === memory.mount ? data.seen : 0;
  memory.events = memory.events.filter((event) => event.seq > seen);
  const pending = memory.events.length > 0;
  for (const [name, made] of [["texts", data.texts], ["cards", data.cards]]) {
    for (const [key, value] of Object.entries(made)) {
      memory[name].delete(key);
      memory[name].set(key, value);
    }
    for (const key of memory[name].keys()) if (memory[name].size > KEPT) memory[name].delete(key);
  }
  memory.entries = data.entries;
  memory.first = data.first;
  if (!pending) {
    Object.assign(memory, { open: data.open, at: data.at, key: data.text, given: {} });
  } else {
    const found = data.entries.findIndex((entry) => entry[0] === memory.open[0] && entry[1] === memory.open[1]);
    if (found >= 0) memory.at = data.first + found;
  }
  const wanted = memory.wanted;
  memory.wanted = 0;
  for (let step = 0; step < Math.abs(wanted); step += 1) move(memory, wanted > 0, false);
  show(memory);
  for (const key of memory.held.splice(0)) act(memory, key);
  if (!memory.events.length) follow(memory);
  focusDialog(memory);
}

function send(memory, event) {
  memory.seq += 1;
  const last = memory.events.at(-1);
  // Of moves in a row the last one counts.
  if (event.act === "open" && last?.act === "open") memory.events.pop();
  memory.events.push({ ...event, seq: memory.seq });
  clearTimeout(memory.timer);
  const out = () => {
    const at = Number.isInteger(memory.at) ? memory.at : -1;
    memory.send("out", { mount: memory.mount, at: [...memory.open, at], events: memory.events });
  };
  if (event.act === "open") memory.timer = setTimeout(out, SEND_AFTER);
  else out();
}

function choose(memory, doc, record, at) {
  memory.open = [doc, record];
  if (at !== null) memory.at = at;
  const card = memory.cards.get(id(doc, record));
  if (card) memory.key = card.key;
  send(memory, { act: "open" });
  show(memory);
}

function open(memory, at) {
  const entry = memory.entries[at - memory.first];
  if (!entry) return false;
  choose(memory, entry[0], entry[1], at);
  return true;
}

// A step beyond what was sent waits for the answer.
function move(memory, forward, tell = true) {
  const next = forward ? Math.floor(memory.at) + 1 : Math.ceil(memory.at) - 1;
  if (next < 0 || next >= memory.data.total) return;
  if (!open(memory, next)) {
    memory.wanted += forward ? 1 : -1;
    if (tell) send(memory, { act: "open" });
  }
}

function press(memory, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest?.("input, textarea, select, [contenteditable='true'], [role='combobox']");
  if (field) {
    if (field.closest(".nw") && (event.key === "Enter" || event.key === "Escape")) field.blur();
    return;
  }
  if (document.querySelector("[data-testid='stDialog']")) return;
  const arrow = event.target.closest?.(".nw-queue") && { ArrowDown: "j", ArrowUp: "k" }[event.key];
  const key = arrow || event.key;
  if (!(key in ACTS)) return;
  event.preventDefault();
  act(memory, key);
}

// Whoever leaves while something is on its way to the server leaves once it is kept there.
function leave(memory, event) {
  const link = event.isTrusted && memory.events.length && event.target.closest?.(LINK);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  memory.leaving = link.pathname;
  setTimeout(() => follow(memory), PATIENCE);
}

function follow(memory) {
  const path = memory.leaving;
  memory.leaving = null;
  if (path) [...document.querySelectorAll(LINK)].find((link) => link.pathname === path)?.click();
}

// After undo and "go to" the server says which record is open: keys that come before that are for this record.
function act(memory, key) {
  if (memory.events.some((event) => AWAITED.includes(event.act))) memory.held.push(key);
  else ACTS[key](memory);
}

const ACTS = {
  j: (memory) => move(memory, true),
  k: (memory) => move(memory, false),
  u: undo,
  s: star,
  n: (memory) => memory.parts.bar.querySelector(".nw-note")?.focus(),
  w: whole,
};
[...KEYS].forEach((key, number) => (ACTS[key] = (memory) => decide(memory, number)));

function decide(memory, number) {
  const { verdicts } = memory.data;
  const [doc, record] = memory.open;
  if (verdicts.reason || !record) return;
  const kind = verdicts.kinds[number];
  const key = id(doc, record);
  const card = memory.cards.get(key);
  if (card && card.version === undefined) return; // a record of the other system alone
  const note = memory.notes[key] ?? card?.note ?? "";
  const event = { act: "verdict", doc, record, kind, note };
  if (card && !(key in memory.given)) event.version = card.version;
  if (kind !== "neither") {
    memory.given[key] = verdicts.labels[number];
    if (verdicts.advance) {
      const next = Math.floor(memory.at) + 1;
      const entry = memory.entries[next - memory.first];
      if (entry) {
        memory.at = next;
        memory.open = [entry[0], entry[1]];
        memory.key = memory.cards.get(id(...memory.open))?.key ?? memory.key;
      }
    }
  }
  send(memory, event);
  show(memory);
}

function undo(memory) {
  if (!memory.data.verdicts.reason) send(memory, { act: "undo" });
}

function star(memory) {
  const [doc, record] = memory.open;
  const card = memory.cards.get(id(doc, record));
  if (!memory.data.verdicts.stars || !card) return;
  card.starred = !card.starred;
  send(memory, { act: "star", doc, record, value: card.starred });
  show(memory);
}

function whole(memory) {
  const [doc, record] = memory.open;
  send(memory, { act: "whole", value: !memory.data.whole, doc, record });
}

function show(memory) {
  const { parts, data } = memory;
  parts.root.classList.toggle("nw-whole", data.whole);
  drawQueue(memory);
  drawText(memory);
  drawCard(memory);
  drawBar(memory);
  memory.fit();
}

function button(name, words, act, title) {
  const made = make("button", name, words);
  made.type = "button";
  if (title) made.title = title;
  made.addEventListener("click", act);
  return made;
}

function drawQueue(memory) {
  const { parts, data } = memory;
  const facts = JSON.stringify([data.first, data.entries, memory.given, data.count]);
  if (memory.drawn.queue !== facts) {
    memory.drawn.queue = facts;
    const list = make("ol", "nw-list");
    const last = data.first + data.entries.length;
    data.entries.forEach((entry, number) => {
      const [doc, record, code, span, why, types, verdict] = entry;
      const row = make("li");
      const item = make("button", "nw-entry");
      item.type = "button";
      item.dataset.at = data.first + number;
      const look = data.looks[code];
      const glyph = make("span", "nw-glyph", look.text.split(" ")[0]);
      glyph.title = look.text;
      paint(glyph, look);
      const first = make("span", "nw-span");
      first.append(make("bdi", "", span || "(empty)"));
      const given = memory.given[id(doc, record)] ?? verdict;
      if (given) first.append(make("span", "nw-given", given));
      const second = make("span", "nw-why", [why, types, doc].filter(Boolean).join(" · "));
      second.title = second.textContent;
      item.append(glyph, first, second);
      row.append(item);
      list.append(row);
    });
    const head = make("div", "nw-count", data.count);
    const from = data.first + 1;
    if (data.entries.length < data.total && data.entries.length)
      head.append(make("span", "nw-range", ` · ${from.toLocaleString()}–${last.toLocaleString()} shown`), jump(memory));
    const top = parts.queue.querySelector(".nw-list")?.scrollTop ?? 0;
    parts.queue.replaceChildren(head, list);
    if (!data.entries.length) list.append(make("li", "nw-none", "No records. Remove a filter to see some."));
    list.scrollTop = top;
  }
  const list = parts.queue.querySelector(".nw-list");
  let current = null;
  for (const item of list.querySelectorAll("[data-at]")) {
    const on = Number(item.dataset.at) === memory.at;
    if (on) current = item;
    if (on) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
  }
  if (!current) return;
  const [box, frame] = [current.getBoundingClientRect(), list.getBoundingClientRect()];
  if (box.top < frame.top) list.scrollTop -= frame.top - box.top + 8;
  else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom + 60;
}

function drawText(memory) {
  const { parts, data } = memory;
  const [doc, record] = memory.open;
  const text = memory.texts.get(memory.key);
  const known = text && text.doc === doc;
  parts.pane.classList.toggle("nw-late", !known);
  if (!known) return;
  memory.text = text;
  const options = (memory.options = {
    selected: record,
    labels: Boolean(memory.labels),
    clickable: true,
    paints: (memory.colour ?? data.colour) === "type" ? data.types : undefined,
    verdicts: verdictsOf(memory, doc),
  });
  const facts = JSON.stringify([memory.key, options]);
  const same = memory.drawn.text === facts && memory.drawn.of === text;
  if (!same) {
    const top = memory.drawn.key === memory.key ? parts.scroll.scrollTop : 0;
    const view = reader(text, options);
    parts.scroll.replaceChildren(view);
    layout(view, text, options);
    parts.scroll.scrollTop = top;
    drawMap(memory, view);
  }
  const seen = JSON.stringify([memory.key, record, text.place]);
  if (memory.drawn.seen !== seen) reveal(parts.scroll);
  Object.assign(memory.drawn, { text: facts, of: text, key: memory.key, seen });
  drawHead(memory, text);
}

// The way to a record far away in the queue, by its number.
function jump(memory) {
  const box = make("input", "nw-jump");
  box.type = "number";
  box.min = 1;
  box.max = memory.data.total;
  box.placeholder = "go to…";
  box.setAttribute("aria-label", "Go to record number");
  box.addEventListener("change", () => {
    const number = Math.min(Math.max(1, Math.trunc(Number(box.value))), memory.data.total);
    if (Number.isFinite(number)) send(memory, { act: "jump", value: number - 1 });
  });
  return box;
}

function verdictsOf(memory, doc) {
  const found = {};
  for (const entry of memory.entries) {
    const given = entry[0] === doc ? (memory.given[id(entry[0], entry[1])] ?? entry[6]) : null;
    if (given) found[entry[1]] = given;
  }
  return found;
}

function drawHead(memory, text) {
  const { parts, data } = memory;
  const head = [make("bdi", "nw-doc", text.doc)];
  head.push(make("span", "nv-note", text.notes.join(" · ")));
  if (text.parts > 1) {
    const [low, high, all] = text.window;
    const turn = (to) => {
      const [doc, record] = memory.open;
      send(memory, { act: "part", value: to, doc, record });
    };
    const before = button("nw-small", "‹ earlier", () => turn(text.part - 1), "Earlier part of the text");
    const after = button("nw-small", "later ›", () => turn(text.part + 1), "Later part of the text");
    before.disabled = text.part === 0;
    after.disabled = text.part === text.parts - 1;
    head.push(before, after);
    head.push(make("span", "nv-note", `characters ${low.toLocaleString()}–${high.toLocaleString()} of ${all.toLocaleString()}`));
  }
  parts.head.replaceChildren(...head);
}

// Where errors are in the text: ticks beside it, each a way there.
function drawMap(memory, view) {
  const { parts, text } = memory;
  const height = Math.max(view.scrollHeight, parts.scroll.clientHeight, 1);
  const ticks = [];
  const drawn = new Map();
  for (const piece of view.nvPieces) {
    const mark = text.marks[piece.number];
    if (mark.code === "COR") continue;
    // One tick a line: it leads to the first error of it.
    const line = Math.round((piece.middle / height) * (parts.scroll.clientHeight / 6));
    if (drawn.has(line)) {
      drawn.get(line).title += `\n${mark.title}`;
      continue;
    }
    const tick = make("span", "nw-tick");
    paint(tick, mark);
    tick.title = mark.title;
    drawn.set(line, tick);
    tick.style.top = `${(100 * piece.middle) / height}%`;
    tick.addEventListener("click", () => {
      const at = memory.entries.findIndex((entry) => entry[0] === text.doc && entry[1] === mark.record);
      choose(memory, text.doc, mark.record, at < 0 ? null : memory.first + at);
    });
    ticks.push(tick);
  }
  parts.map.setAttribute("aria-hidden", "true");
  parts.map.replaceChildren(...ticks);
}

function reveal(scroll) {
  const piece = scroll.querySelector(".nv-selected") ?? scroll.querySelector(".nv-place");
  if (!piece) return;
  const [box, frame] = [piece.getBoundingClientRect(), scroll.getBoundingClientRect()];
  if (box.top >= frame.top + 24 && box.bottom <= frame.bottom - 24) return;
  scroll.scrollTop += box.top - frame.top - frame.height / 3;
}

function drawCard(memory) {
  const { parts, data } = memory;
  const [doc, record] = memory.open;
  const card = memory.cards.get(id(doc, record));
  const facts = JSON.stringify([doc, record, card, memory.given[id(doc, record)], data.compared, data.whole, memory.colour, memory.labels]);
  if (memory.drawn.card === facts) return;
  memory.drawn.card = facts;
  const wide = parts.card.querySelector("details")?.open ?? false;
  const made = [];
  if (card) {
    const line = make("div", "nw-line");
    const chip = make("span", "nv-chip", card.decision.text);
    chip.title = card.decision.title;
    paint(chip, card.decision);
    line.append(chip, make("strong", "nv-reason", card.reason));
    if (card.under.includes(", by ")) line.append(make("span", "nv-note", card.under));
    for (const row of card.rows.filter((one) => data.schemas.includes(one.criterion))) {
      const said = make("span", row.current ? "nw-under nw-current" : "nw-under", row.criterion);
      const glyph = make("span", "nv-chip", row.text.split(" ")[0]);
      glyph.title = row.text;
      paint(glyph, row);
      said.append(" ", glyph);
      line.append(said);
    }
    made.push(line);
    if (card.stands) made.push(make("div", "nw-stands nv-note", card.stands));
    made.push(details(card, wide));
  } else if (record) made.push(make("div", "nv-note", "…"));
  else made.push(make("div", "nv-note", "Click a span, or press j, to see why it was decided so."));
  made.push(controls(memory));
  parts.card.replaceChildren(...made);
}

function details(card, wide) {
  const box = make("details", "nw-details");
  box.open = wide;
  box.append(make("summary", "", "all criteria"));
  const facts = make("dl", "nv-facts");
  for (const [term, quote, detail] of card.facts) {
    const words = make("dd");
    words.append(make("bdi", quote ? "nv-quote" : "nv-none", quote || "none"));
    if (detail) words.append(make("span", "nv-note", detail));
    facts.append(make("dt", "", term), words);
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

function select(label, options, value, act) {
  const made = make("select", "nw-select");
  made.setAttribute("aria-label", label);
  for (const [key, words] of options) {
    const option = make("option", "", words);
    option.value = key;
    made.append(option);
  }
  made.value = value;
  made.addEventListener("change", () => {
    act(made.value);
    made.blur();
  });
  return made;
}

function controls(memory) {
  const { data } = memory;
  const row = make("div", "nw-controls");
  row.append(button("nw-small", data.whole ? "show the queue" : "whole document", () => whole(memory), "Key w"));
  if (data.systems.length) {
    const names = data.systems.map((name) => [name, `compare with ${name}`]);
    row.append(
      select("Compare with", [["", "compare with …"], ...names], data.compared, (value) => send(memory, { act: "beside", value })),
    );
  }
  const colour = memory.colour ?? data.colour;
  row.append(
    select("Colour by", [["decision", "colour by decision"], ["type", "colour by type"]], colour, (value) => {
      memory.colour = value;
      send(memory, { act: "colour", value });
      show(memory);
    }),
  );
  const quiet = make("label", "nw-check");
  const box = make("input");
  box.type = "checkbox";
  box.checked = Boolean(memory.labels);
  box.addEventListener("change", () => {
    memory.labels = box.checked;
    box.blur();
    show(memory);
  });
  quiet.append(box, `label ${data.correct}`);
  row.append(quiet);
  const known = Object.entries(data.looks).filter(([code]) => memory.text?.marks.some((mark) => mark.code === code));
  const items = colour === "type" ? typesOf(memory) : known.map(([, look]) => look);
  row.append(legend(items, []));
  return row;
}

function typesOf(memory) {
  const names = [...new Set((memory.text?.marks ?? []).map((mark) => mark.type))].sort();
  return names.map((name) => ({ text: name, title: `type ${name}`, ...memory.data.types[name] }));
}

function drawBar(memory) {
  const { parts, data } = memory;
  const { verdicts } = data;
  const [doc, record] = memory.open;
  const key = id(doc, record);
  const card = memory.cards.get(key);
  if (verdicts.said) memory.said = { ...verdicts.said, at: key };
  const facts = JSON.stringify([key, card?.version, card?.kind, card?.starred, card?.meanings, verdicts, memory.given[key], memory.said]);
  if (memory.drawn.bar === facts) return;
  memory.drawn.bar = facts;
  if (verdicts.reason) {
    const row = make("div", "nw-row");
    row.append(make("span", "nv-note", verdicts.reason));
    if (verdicts.stars) row.append(starButton(memory, card));
    row.append(steps(memory));
    parts.bar.replaceChildren(row);
    return;
  }
  const typing = parts.bar.contains(document.activeElement) && document.activeElement.matches(".nw-note");
  const row = make("div", "nw-row");
  row.append(make("strong", "nw-who", "Who is right?"));
  const offered = Boolean(record) && !(card && card.version === undefined);
  verdicts.kinds.forEach((kind, number) => {
    const chosen = kind === card?.kind;
    const made = button("nw-verdict", "", () => decide(memory, number), card?.meanings?.[number]);
    made.append(make("kbd", "", KEYS[number]), " ", make("span", "", verdicts.labels[number]));
    made.disabled = !offered;
    made.setAttribute("aria-pressed", String(chosen));
    row.append(made);
  });
  const back = button("nw-verdict", "", () => undo(memory), "Take back your own last verdict, or your last batch");
  back.append(make("kbd", "", "U"), " undo");
  const note = make("input", "nw-note");
  note.type = "text";
  note.maxLength = 10000;
  note.placeholder = "note… (N)";
  note.setAttribute("aria-label", "Note");
  note.value = memory.notes[key] ?? card?.note ?? "";
  note.disabled = !offered;
  note.addEventListener("input", () => (memory.notes[key] = note.value));
  row.append(back, note);
  if (verdicts.stars) row.append(starButton(memory, card));
  row.append(steps(memory));
  parts.bar.replaceChildren(row);
  if (memory.said) parts.bar.append(outcome(memory));
  if (verdicts.waiting) parts.bar.append(make("div", "nw-said", `${verdicts.waiting} waiting for your name`));
  if (typing) parts.bar.querySelector(".nw-note").focus();
}

function starButton(memory, card) {
  const starred = Boolean(card?.starred);
  const title = `${starred ? "Take it out of" : "Put it on"} the playlist ${memory.data.verdicts.playlist}`;
  const made = button("nw-verdict", "", () => star(memory), title);
  made.append(`${starred ? "★" : "☆"} `, make("kbd", "", "S"));
  made.setAttribute("aria-label", starred ? "Starred" : "Star");
  made.setAttribute("aria-pressed", String(starred));
  made.disabled = !card;
  return made;
}

function steps(memory) {
  const box = make("span", "nw-steps");
  for (const [words, key, forward] of [["previous", "K", false], ["next", "J", true]]) {
    const made = button("nw-verdict", "", () => move(memory, forward), `${words} record`);
    made.append(make("kbd", "", key), make("span", "nw-word", ` ${words}`));
    box.append(made);
  }
  return box;
}

function outcome(memory) {
  const { said } = memory;
  const box = make("div", said.wrong ? "nw-said nw-wrong" : "nw-said", said.text);
  box.setAttribute("role", said.wrong ? "alert" : "status");
  for (const line of said.lines) box.append(make("div", "", line));
  if (said.again) {
    const answer = (act) => {
      const [doc, record] = memory.open;
      memory.said = null;
      send(memory, { act, doc, record });
    };
    box.append(button("nw-verdict", "Give mine over it", () => answer("over")));
    box.append(button("nw-verdict", "Leave it", () => answer("leave")));
  }
  return box;
}

// A dialog that asks for a name has the focus from its first moment on.
function focusDialog(memory, tries = 20) {
  if (!memory.data.verdicts.waiting) return;
  const field = document.querySelector("[data-testid='stDialog'] input");
  if (field) {
    if (!document.activeElement?.closest("[data-testid='stDialog'] input")) field.focus();
  } else if (tries) setTimeout(() => focusDialog(memory, tries - 1), 100);
}
