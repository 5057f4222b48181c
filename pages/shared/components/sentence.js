// A sentence in which numbers and words are links.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const previous = parentElement.querySelector(":scope > .nvs");
  const focused = previous?.contains(document.activeElement)
    ? [...previous.querySelectorAll("a")].indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement))
    : -1;
  const sentence = document.createElement("p");
  sentence.className = "nvs";
  for (const [place, part] of data.parts.entries()) {
    if (typeof part === "string") {
      sentence.append(part);
      continue;
    }
    // Where the page itself shows it, the session takes the view over: the address may be older.
    const go = part.stays ? () => setTriggerValue("show", place) : () => goTo(part.href);
    const link = pageLink(part.text, part.href, go);
    if (part.help) link.title = part.help;
    sentence.append(link);
  }
  if (previous) previous.replaceWith(sentence);
  else parentElement.append(sentence);
  if (focused >= 0) sentence.querySelectorAll("a")[focused]?.focus();
}
