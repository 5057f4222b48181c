// The pairs of types that are confused most below their heading, each with an example; a click opens its records. Every
// string goes in as textContent.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const previous = parentElement.querySelector(":scope > .nvc");
  const focused = previous?.contains(document.activeElement) ? (/** @type {HTMLElement} */ (document.activeElement)).dataset.place : null;
  const list = element("ol", "nvc");
  list.setAttribute("aria-label", data.label);
  data.pairs.forEach((pair, place) => {
    const button = element("button", "");
    button.type = "button";
    button.dataset.place = String(place);
    button.setAttribute("aria-pressed", String(place === data.chosen));
    const [before, span, after] = pair.example;
    const example = element("span", "nvc-example", before && `${before} `, element("mark", "", span));
    example.append(after && `${/^\p{P}/u.test(after) ? "" : " "}${after}`);
    button.append(element("span", "nvc-types", pair.types), element("span", "nvc-number", pair.number));
    if (pair.example[1]) button.append(example);
    button.addEventListener("click", () => setTriggerValue("choose", pair.key));
    const item = element("li", "");
    item.append(button);
    list.append(item);
  });
  const memory = (parentElement.nerevalPairs ??= {});
  const keys = JSON.stringify(data.pairs.map(({ key }) => key));
  const scrolled = memory.keys === keys ? (previous?.scrollTop ?? 0) : 0;
  memory.keys = keys;
  const heading = element("p", "nvc-heading", element("strong", "", data.label), data.more);
  if (previous) {
    previous.previousElementSibling.replaceWith(heading);
    previous.replaceWith(list);
  } else parentElement.append(heading, list);
  list.scrollTop = scrolled;
  if (focused !== null) list.querySelector(`button[data-place="${focused}"]`)?.focus();
}

function element(name, className, ...texts) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...texts);
  return node;
}
