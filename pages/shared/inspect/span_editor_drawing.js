// The drawing of the editor of spans, in the place of the verdicts: what is edited, its types, its edges, its keys.

function drawEditor(workbench) {
  const { parts, state } = workbench;
  const { editor } = state.edit;
  const { spans, edge, filter, unfolded, message, past, future } = editor;
  const words = editorWords(editor);
  if (!isChanged(workbench, "bar", "editor", state.edit.record, words, spans, edge, filter, unfolded, message, Boolean(past), Boolean(future))) return;
  const isOpening = !parts.bar.querySelector(".nw-types");
  const focused = parts.bar.contains(document.activeElement) ? (/** @type {HTMLElement} */ (document.activeElement)).dataset.name : undefined;
  const rows = [spanRow(workbench, words), typeRow(workbench)];
  if (message) rows.push(make("div", "nw-said", message));
  rows.push(hintRow());
  const scrolled = parts.bar.querySelector(".nw-types")?.scrollTop ?? 0;
  parts.bar.replaceChildren(...rows);
  parts.bar.querySelector(".nw-types").scrollTop = scrolled;
  // On a narrow screen the queue makes room for the text.
  if (isOpening && matchMedia("(max-width: 820px)").matches)
    parts.scroll.querySelector(".nv-selected")?.scrollIntoView({ block: "center" });
  parts.live.textContent = [words, message || edgeWords(editor)].filter(Boolean).join("; ");
  // A button that is pressed again and again keeps the focus; keys that follow others are for the editor, and Enter keeps.
  const again = /^(start|end|type)/.test(focused) && [...parts.bar.querySelectorAll("[data-name]")].find((element) => element.dataset.name === focused);
  if (again) again.focus({ preventScroll: true });
  else if (focused !== undefined) parts.scroll.focus({ preventScroll: true });
}

const edgeWords = ({ spans, edge }) => (spans.length ? `keys move the ${edge.side ? "end" : "start"}` : "");

function editorButton(workbench, name, label, title, change, ...values) {
  // Whoever clicks goes on with keys, which are for the editor again; a button that a key pressed keeps the focus.
  const handle = (event) => {
    if (event.detail) workbench.parts.scroll.focus({ preventScroll: true });
    workbench.act(changeEditor, change, ...values);
  };
  const element = button("nw-verdict", label, handle, title);
  element.dataset.name = name;
  return element;
}

// What is edited, in words, and the buttons for it: touch screens have no keys.
function spanRow(workbench, words) {
  const { editor } = workbench.state.edit;
  const row = make("div", "nw-row");
  const span = activeSpan(editor);
  const quote = make("strong", "nw-edited");
  const type = span && make("span", "nw-edited-type", nameText(span.type) || "type?");
  if (span) quote.append("✎ ", make("bdi", "", quoteOf(editor.text, span)), " ", type);
  else quote.append("✎ no entity");
  quote.title = words;
  row.append(quote, edgeButtons(workbench, 0), edgeButtons(workbench, 1));
  const act = (name, label, title, key) => editorButton(workbench, name, label, title, editKey, key);
  row.append(
    act("further", "+ span", "A further span (+)", "+"),
    act("fragment", "+ fragment", "A further fragment of this span (&, or drag with Ctrl)", "&"),
    act("remove", "− remove", "Remove the span, or the fragment; without any there is no entity (−)", "Delete"),
  );
  if (workbench.state.edit.record) {
    const title = "Nobody has marked this: keep it as an entity of its own, beside the record (*)";
    const entity = button("nw-verdict", "new entity", () => workbench.act(press, ENTITY_KEY), title);
    entity.dataset.name = "entity";
    row.append(entity);
  }
  const ends = make("span", "nw-steps");
  const keep = act("keep", span ? "keep" : "keep: no entity", "Keep (Enter)", "Enter");
  keep.prepend(make("kbd", "", "↵"), " ");
  keep.classList.add("nw-keep");
  const leave = editorButton(workbench, "leave", "leave", "Leave without keeping (Esc)", leaveEditor);
  leave.prepend(make("kbd", "", "Esc"), " ");
  ends.append(keep, leave);
  row.append(ends);
  return row;
}

const leaveEditor = (editor) => ({ ...editor, outcome: "leave" });

// The start (0) or the end (1) of the active fragment, one word out or in.
function edgeButtons(workbench, side) {
  const { editor } = workbench.state.edit;
  const name = side ? "end" : "start";
  const box = make("span", editor.edge.side === side ? "nw-edge-of nw-active" : "nw-edge-of");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", name);
  const step = (label, by) => {
    const title = `Move the ${name} a word ${by < 0 ? "back" : "on"}`;
    const element = editorButton(workbench, `${name}${by}`, label, title, moveEdgeOf, side, by);
    element.setAttribute("aria-label", title);
    element.disabled = !editor.spans.length;
    return element;
  };
  box.append(step("‹", -1), make("span", "", name), step("›", 1));
  return box;
}

const moveEdgeOf = (editor, side, step) => moveEdge({ ...editor, edge: { ...editor.edge, side } }, step, false);

function typeRow(workbench) {
  const { editor } = workbench.state.edit;
  const row = make("div", "nw-row nw-types");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", "Type");
  const { choices, more } = offeredTypes(editor);
  const type = activeSpan(editor)?.type;
  row.classList.toggle("nw-unfolded", editor.unfolded);
  if (editor.filter) row.append(make("kbd", "nw-filter", editor.filter));
  for (const choice of choices) {
    const label = choice.isNew ? `new type “${nameText(choice.type)}”` : nameText(choice.type);
    const element = editorButton(workbench, `type ${choice.type}`, label, "", editType, choice.type);
    element.classList.add("nw-type");
    element.setAttribute("aria-pressed", String(choice.type === type));
    row.append(element);
  }
  if (!more && !editor.unfolded) return row;
  const fold = editorButton(workbench, "types", more ? `${more} more ▾` : "fewer ▴", "All types; or type the first letters, or ↑ ↓", foldTypes);
  fold.classList.add("nw-type", "nw-fold");
  fold.setAttribute("aria-expanded", String(editor.unfolded));
  row.append(fold);
  return row;
}

function hintRow() {
  const row = make("div", "nw-hints");
  for (const [key, meaning] of [...editHints(), ["?", "all keys"]]) {
    const hint = make("span");
    hint.append(make("kbd", "", key), ` ${meaning}`);
    row.append(hint, " ");
  }
  return row;
}
