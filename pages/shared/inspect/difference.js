// The difference of a gold span and a prediction, as `nereval_core.report.span_difference` has its pieces.

// The words of both sides: what the prediction takes in is in brackets, what it leaves out is struck through.
function difference(pieces) {
  const words = make("bdi");
  for (const [text, sign] of pieces) {
    if (sign === "+") words.append(spaced("ins", "nd-in", text, "beyond the reference's span"));
    else if (sign === "-") words.append(spaced("del", "nd-out", text, "left out of the reference's span"));
    else words.append(text);
  }
  if (!pieces.length) words.append("(empty)");
  return words;
}

// An element of the words of a text, between the blanks at its ends.
function spaced(tag, name, text, title) {
  const fragment = document.createDocumentFragment();
  const element = make(tag, name, text.trim() || "␣");
  element.title = title;
  fragment.append(text.match(/^\s*/)[0], element, text.trim() ? text.match(/\s*$/)[0] : "");
  return fragment;
}

// Gold's type struck through and the predicted one, or the type that both have.
function typeChange([gold, pred]) {
  if (pred === undefined) return gold ? [gold] : [];
  return [make("del", "nd-out", gold), " → ", make("b", "", pred)];
}

// A record in its text, and below it its types and its document.
function exampleLines({ before, pieces, after, document: doc, types }) {
  const text = make("bdi", "nd-text");
  const words = difference(pieces);
  words.className = "nd-span";
  text.append(make("span", "nd-around", before), words, make("span", "nd-around", after));
  const note = make("span", "nd-note");
  note.append(...typeChange(types), types.length ? " · " : "", nameText(doc));
  return [text, note];
}
