// A sentence in which numbers and words are links.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const previous = parentElement.querySelector(":scope > .nvs");
  const focused = previous?.contains(document.activeElement)
    ? [...previous.querySelectorAll("a")].indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement))
    : -1;
  // Where the page itself shows it, the session takes the view over: the address may be older.
  const sentence = drawSentence(data.parts, (place) => setTriggerValue("show", place));
  if (previous) previous.replaceWith(sentence);
  else parentElement.append(sentence);
  if (focused >= 0) sentence.querySelectorAll("a")[focused]?.focus();
}
