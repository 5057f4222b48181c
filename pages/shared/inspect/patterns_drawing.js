// The drawing of Patterns: the ranked list, and the open pattern with its examples and verdicts.

function buildPatterns(parentElement) {
  parentElement.querySelector(":scope > .np")?.remove();
  const root = make("div", "np");
  const list = make("ol", "np-list");
  const pane = make("section", "np-pane");
  pane.setAttribute("aria-label", "The open pattern");
  const ranking = make("section", "np-ranking");
  ranking.setAttribute("aria-label", "Patterns");
  const summary = make("div", "np-summary");
  ranking.append(summary, list);
  root.append(ranking, pane);
  parentElement.append(root);
  return { root, list, pane, summary };
}

function drawPatterns(view) {
  const { parts, state } = view;
  const hadFocus = parts.list.contains(document.activeElement);
  const top = parts.list.scrollTop;
  const largest = Math.max(...state.data.groups.map(({ gain }) => gain ?? 0), 1e-9);
  parts.list.replaceChildren(...state.data.groups.map((group, number) => patternEntry(view, group, number, largest)));
  parts.list.scrollTop = top;
  parts.summary.textContent = state.data.summary;
  const isTyping = parts.pane.contains(document.activeElement) && document.activeElement.matches(".np-name");
  parts.pane.replaceChildren(...patternPane(view));
  const current = parts.list.querySelector("[aria-current]");
  current?.scrollIntoView({ block: "nearest" });
  if (hadFocus) current?.focus({ preventScroll: true });
  // Who is asked for a name has the field at once.
  const field = parts.pane.querySelector(".np-name");
  if (field && (isTyping || view.asked !== state.asking)) field.focus();
  view.asked = state.asking;
}

function sentenceOf(phrases, name = "span") {
  const sentence = make("bdi", name);
  for (const [text, isQuoted] of phrases) sentence.append(isQuoted ? make("em", "", text) : text);
  return sentence;
}

const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)}%`);
const signed = (gain) => (gain === null ? "–" : `${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(3)}`);

function patternEntry(view, group, number, largest) {
  const item = make("button", "np-entry");
  item.type = "button";
  item.dataset.number = number;
  if (group === openPattern(view.state)) item.setAttribute("aria-current", "true");
  const bar = make("span", "np-gain");
  bar.style.setProperty("--np-share", `${(100 * Math.max(group.gain ?? 0, 0)) / largest}%`);
  const numbers = make("span", "np-numbers");
  numbers.append(
    make("b", "", group.records.toLocaleString()),
    ` of ${group.spans.toLocaleString()} · elsewhere ${percent(group.elsewhere)}`,
  );
  if (group.decided) numbers.append(make("span", "np-decided", ` · ✓ ${group.decided} decided`));
  const gain = make("span", "np-f1", `${signed(group.gain)} F1`);
  gain.title = view.state.data.gainWords.meaning;
  item.append(sentenceOf(group.phrases, "np-sentence"), gain, numbers, bar);
  const row = make("li");
  row.append(item);
  return row;
}

function patternPane(view) {
  const { state } = view;
  const group = openPattern(state);
  const head = make("h3", "np-title");
  head.append(sentenceOf(group.phrases));
  const line = make("p", "np-line");
  const number = group.records.toLocaleString();
  const { before, after } = state.data.gainWords;
  line.append(
    `${group.population}: `, make("b", "", `${number} of ${group.spans.toLocaleString()}`),
    ` (${percent(group.records / group.spans)}); elsewhere ${percent(group.elsewhere)}. ${before}`,
    make("b", "", signed(group.gain)), after,
  );
  const records = act(view, "np-main", `Show the ${group.records === 1 ? "record" : `${number} records`} →`, showRecords);
  records.append(" ", make("kbd", "", "↵"));
  const actions = make("div", "np-actions");
  actions.append(records, ...patternVerdicts(view, group));
  const pane = [head, line, actions];
  if (state.asking !== null) pane.push(question(view, group));
  else if (state.message) pane.push(outcome(state.message));
  const examples = make("ol", "np-examples");
  examples.append(...group.examples.map((example) => patternExample(view, example)));
  pane.push(examples);
  if (group.narrower.length) pane.push(narrowerPatterns(view, group));
  return pane;
}

function act(view, name, label, change, ...values) {
  const element = make("button", name, label);
  element.type = "button";
  element.addEventListener("click", () => view.act(change, ...values));
  return element;
}

function patternVerdicts(view, group) {
  const { verdicts } = view.state.data;
  if (verdicts.reason) return [make("span", "nv-note", verdicts.reason)];
  const isDone = group.decided === group.records;
  const buttons = verdicts.kinds.map((kind, number) => {
    const element = act(view, "np-verdict", "", ask, number);
    element.append(make("kbd", "", String(number + 1)), " ", verdicts.labels[number]);
    element.title = `All records of this pattern: ${verdicts.words[number]}`;
    element.disabled = isDone;
    return element;
  });
  const undo = act(view, "np-verdict", "", takeBackPattern);
  undo.append(make("kbd", "", "U"), " undo");
  return [make("strong", "np-who", isDone ? "All decided:" : "All at once:"), ...buttons, undo];
}

// A verdict for many is asked again, with their number.
function question(view, group) {
  const { state } = view;
  const { verdicts } = state.data;
  const open = group.records - group.decided;
  const box = make("div", "np-question");
  box.setAttribute("role", "alertdialog");
  const kept = group.decided ? ` ${group.decided.toLocaleString()} with a verdict keep it.` : "";
  const noun = open === 1 ? "record" : "records";
  const text = `Give “${verdicts.words[state.asking]}” to ${open.toLocaleString()} ${noun}?${kept}`;
  box.setAttribute("aria-label", text);
  box.append(make("div", "", text));
  if (!verdicts.who) {
    const field = make("input", "np-name");
    field.type = "text";
    field.placeholder = "Your name";
    field.setAttribute("aria-label", "Your name, kept with each verdict");
    field.value = state.who;
    field.addEventListener("input", () => view.act(nameReviewer, field.value));
    box.append(field);
  }
  const yes = act(view, "np-main", "Give it ", confirmPattern);
  yes.append(make("kbd", "", "↵"));
  yes.disabled = !(verdicts.who || state.who.trim());
  const no = act(view, "np-verdict", "Cancel ", cancelPattern);
  no.append(make("kbd", "", "Esc"));
  box.append(yes, no);
  return box;
}

function outcome(message) {
  const box = make("div", message.wrong ? "np-said np-wrong" : "np-said", message.text);
  box.setAttribute("role", message.wrong ? "alert" : "status");
  for (const line of message.lines) box.append(make("div", "", line));
  return box;
}

function patternExample(view, example) {
  const item = act(view, "np-example", "", showRecord, example.document, example.record);
  item.append(...exampleLines(example));
  const row = make("li");
  row.append(item);
  return row;
}

function narrowerPatterns(view, group) {
  const box = make("div", "np-narrower");
  box.append(make("div", "nv-note", "Most of all:"));
  for (const narrower of group.narrower) {
    const item = act(view, "np-link", "", showRecords, narrower.key);
    item.append(sentenceOf(narrower.phrases), ` · ${narrower.records} of ${narrower.spans}`);
    box.append(item);
  }
  return box;
}
