// The drawing of the ladder: its steps with their bars, and the open step with its parts, examples and decisions.

function buildLadder(parentElement) {
  parentElement.querySelector(":scope > .ncl")?.remove();
  const root = make("div", "ncl");
  const ladder = make("section", "ncl-ladder");
  ladder.setAttribute("aria-label", "Criteria from strict to lenient");
  const legend = make("div", "ncl-legend");
  const axis = make("div", "ncl-axis");
  axis.setAttribute("aria-hidden", "true");
  const list = make("ol", "ncl-list");
  const aside = make("div", "ncl-aside");
  ladder.append(legend, axis, list, aside);
  const pane = make("section", "ncl-pane");
  pane.setAttribute("aria-label", "The open step");
  root.append(ladder, pane);
  parentElement.append(root);
  return { root, legend, axis, list, aside, pane };
}

function drawLadder(view) {
  const { parts, state } = view;
  const focused = parts.list.contains(document.activeElement);
  parts.legend.replaceChildren(...ladderLegend(state.data));
  parts.axis.replaceChildren(...ladderAxis(state.data.axis));
  parts.list.replaceChildren(...state.data.steps.map((step, number) => ladderStep(view, step, number)));
  parts.aside.replaceChildren(...ladderAside(view));
  parts.pane.replaceChildren(...stepPane(view));
  // In a narrow window the open step unfolds where it stands.
  const row = parts.list.querySelector("[aria-current]").closest("li");
  (matchMedia("(max-width: 820px)").matches ? row : parts.root).append(parts.pane);
  if (focused) parts.list.querySelector("[aria-current]")?.focus({ preventScroll: true });
}

const three = (value) => (value === null ? "–" : value.toFixed(3));
const signedThree = (value) => `${value < -0.0005 ? "−" : value >= 0.0005 ? "+" : "±"}${Math.abs(value).toFixed(3)}`;
const swatch = (kind, data, state) => make("i", `ncl-swatch ncl-kind-${data.kinds.indexOf(kind)} ncl-${state}`);
const share = ({ low, high }, value) => 100 * Math.min(Math.max((value - low) / (high - low), 0), 1);

function ladderLegend(data) {
  const items = data.kinds
    .filter((kind) => data.steps.some(({ parts }) => parts.some((part) => part.kind === kind)))
    .map((kind) => [swatch(kind, data, "gained"), kind]);
  if (data.steps.some(({ parts }) => parts.some(({ gains }) => !gains))) {
    items.push([make("i", "ncl-swatch ncl-lost"), "lost again"]);
  }
  if (data.steps.some(({ scorers }) => scorers.length)) items.push([make("i", "ncl-diamond"), "published scorer"]);
  return items.map(([mark, text]) => {
    const item = make("span");
    item.append(mark, ` ${text}`);
    return item;
  });
}

function ladderAxis(axis) {
  return axis.ticks.map((tick) => {
    const mark = make("span", "", tick.toFixed(2).replace(/^0/, ""));
    mark.style.insetInlineStart = `${share(axis, tick)}%`;
    return mark;
  });
}

function ladderStep(view, step, number) {
  const { data } = view.state;
  const row = make("li", "ncl-row");
  const entry = make("button", "ncl-entry");
  entry.type = "button";
  entry.dataset.number = number;
  if (step === openStep(view.state)) entry.setAttribute("aria-current", "true");
  const name = make("bdi", "ncl-name", step.label);
  const bar = make("span", "ncl-bar");
  bar.setAttribute("aria-hidden", "true");
  bar.append(...step.pieces.map((piece) => barPiece(view, step, ...piece)));
  for (const { f1, names } of step.scorers) {
    if (f1 === null) continue;
    const diamond = make("i", "ncl-diamond ncl-mark");
    diamond.style.insetInlineStart = `${share(data.axis, f1)}%`;
    diamond.title = `${names.map(({ label }) => label).join(", ")}: F1 ${f1.toFixed(4)}`;
    bar.append(diamond);
  }
  const f1 = make("b", "ncl-f1", three(step.f1));
  if (step.f1 !== null) f1.title = `F1 ${step.f1}`;
  entry.append(name, bar, f1);
  row.append(entry, stepChips(view, step));
  return row;
}

// A click on a coloured piece opens its records; the chips below say and do the same.
function barPiece(view, step, kind, state, start, end) {
  const { axis } = view.state.data;
  const [left, right] = [share(axis, start), share(axis, end)];
  const piece = make("span", `ncl-piece ncl-${state} ncl-kind-${view.state.data.kinds.indexOf(kind)}`);
  piece.style.insetInlineStart = `${left}%`;
  piece.style.width = `${right - left}%`;
  const part = step.parts.find((each) => each.kind === kind && each.gains === (state === "gained"));
  if (part) {
    piece.title = `${partWords(part, view.state.data.spans)}, ${signedThree(part.f1)} F1`;
    piece.addEventListener("click", (event) => {
      event.stopPropagation();
      view.act(showPart, step, step.above, part);
    });
  }
  return piece;
}

const partWords = ({ kind, gains, spans }, [singular, plural]) => `${spans.toLocaleString()} ${spans === 1 ? singular : plural} ${gains ? "gain" : "lose"}${spans === 1 ? "s" : ""} credit: ${kind}`;

function stepChips(view, step) {
  const line = make("div", "ncl-chips");
  if (!step.above) line.append(make("span", "ncl-quiet", "the first step"));
  else if (!step.parts.length) line.append(make("span", "ncl-quiet", `every ${view.state.data.spans[0]} earns what it does under ${step.aboveLabel}`));
  for (const part of step.parts) line.append(partChip(view, step, step.above, part));
  for (const { f1, names } of step.scorers) line.append(scorerGroup(view, f1, names));
  return line;
}

function partChip(view, step, against, part) {
  const chip = ladderButton(view, "ncl-chip", showPart, step, against, part);
  chip.append(
    swatch(part.kind, view.state.data, part.gains ? "gained" : "lost"),
    make("b", "", `${part.gains ? "+" : "−"}${part.spans.toLocaleString()}`), ` ${part.kind}`,
  );
  chip.setAttribute("aria-label", `${partWords(part, view.state.data.spans)}, ${signedThree(part.f1)} F1`);
  chip.title = `${partWords(part, view.state.data.spans)}, ${signedThree(part.f1)} F1`;
  return chip;
}

// Published scorers that give one F1.
function scorerGroup(view, f1, names) {
  const group = make("span", "ncl-scorers");
  group.append(make("i", "ncl-diamond"), ` ${three(f1)} `);
  names.forEach(({ name, label }, number) => {
    const link = ladderButton(view, "ncl-link", showScorer, name);
    link.append(label);
    link.title = `${label}: its figures on Overview, and the spans that it decides otherwise`;
    group.append(number ? ", " : "", link);
  });
  return group;
}

function ladderButton(view, name, change, ...values) {
  const element = make("button", name);
  element.type = "button";
  element.addEventListener("click", (event) => {
    event.stopPropagation();
    view.act(change, ...values);
  });
  return element;
}

function ladderAside(view) {
  return view.state.data.asides.map(({ label, f1, why, scorers }) => {
    const line = make("div", "ncl-other");
    line.append(make("bdi", "ncl-name", label), make("span", "ncl-quiet", why), make("b", "ncl-f1", three(f1)));
    if (scorers.length) {
      const chips = make("div", "ncl-chips");
      for (const group of scorers) chips.append(scorerGroup(view, group.f1, group.names));
      line.append(chips);
    }
    return line;
  });
}

function stepPane(view) {
  const { state } = view;
  const step = openStep(state);
  const head = make("h3", "ncl-title");
  head.append(make("bdi", "", step.label));
  const pane = [head, make("p", "ncl-rule", step.rule)];
  pane.push(decisionLine(view, step));
  if (step.formula) pane.push(make("p", "ncl-formula", step.formula));
  if (step.above) pane.push(...againstAbove(view, step));
  pane.push(...againstFirst(view, step));
  return pane;
}

function decisionLine(view, step) {
  const line = make("div", "ncl-decisions");
  for (const { code, text, title, number, fill, ink } of step.decisions) {
    const button = ladderButton(view, "ncl-decision", showDecision, step, code);
    button.append(make("b", "", number.toLocaleString()), ` ${text}`);
    button.title = title;
    paint(button, { fill, ink });
    button.disabled = !number;
    line.append(button);
  }
  return line;
}

function againstAbove(view, step) {
  const title = make("h4", "ncl-against");
  title.append("Against ", make("bdi", "", step.aboveLabel), ", the step above: ", make("b", "", signedThree(step.difference)));
  const main = ladderButton(view, "ncl-main", showStep, step);
  main.append(`Show the ${step.changed === 1 ? "record" : `${step.changed.toLocaleString()} records`} → `, make("kbd", "", "↵"));
  if (!step.parts.length) return [title, make("p", "ncl-quiet", `Every ${view.state.data.spans[0]} earns the same credit under both.`)];
  return [title, ...step.parts.map((part) => partBlock(view, step, part)), main];
}

function partBlock(view, step, part) {
  const block = make("div", "ncl-part");
  const head = make("div", "ncl-part-head");
  head.append(partChip(view, step, step.above, part), make("span", "ncl-quiet", `${signedThree(part.f1)} F1`));
  const list = make("ol", "ncl-examples");
  for (const example of part.examples) {
    const item = ladderButton(view, "ncl-example", showLadderRecord, step, example);
    const note = make("span", "ncl-decided");
    const [above, now] = example.decisions;
    note.append(above, " → ", make("b", "", now));
    const [text, types] = exampleLines(example);
    types.prepend(note, " · ");
    item.append(text, types);
    const row = make("li");
    row.append(item);
    list.append(row);
  }
  block.append(head, list);
  return block;
}

// Against the first step, which is not the step above: what of it all comes from.
function againstFirst(view, step) {
  const { data } = view.state;
  if (!step.above || step.above === data.first) return [];
  const whole = partsOfWhole(view.state, step);
  const title = make("h4", "ncl-against");
  title.append("Against ", make("bdi", "", data.firstLabel), ": ", make("b", "", whole ? signedThree(whole.difference) : "…"));
  const line = make("div", "ncl-chips");
  for (const part of whole?.parts ?? []) line.append(partChip(view, step, data.first, part));
  return [title, line];
}
