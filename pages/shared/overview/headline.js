// The numbers of a system as cards: each opens its formula, which the page draws below, or leads to its records. A
// sentence stands above them and one below. Every string goes in as textContent or an attribute.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const previous = parentElement.querySelector(":scope > .nvh-headline");
  const focused = previous ? [...previous.querySelectorAll("a, button")].indexOf(document.activeElement) : -1;
  const cards = document.createElement("ul");
  cards.className = "nvh";
  cards.append(...data.cards.map((card) => drawCard(card, (name) => setTriggerValue("formula", name))));
  const headline = document.createElement("div");
  headline.className = "nvh-headline";
  const sentences = [data.parts, data.losses].map((parts) => (parts.length ? [drawSentence(parts, () => {})] : []));
  headline.append(...sentences[0], cards, ...sentences[1]);
  if (previous) previous.replaceWith(headline);
  else parentElement.append(headline);
  if (focused >= 0) /** @type {HTMLElement} */ (headline.querySelectorAll("a, button")[focused])?.focus();
}

function drawCard(card, openFormula) {
  const item = document.createElement("li");
  const label = item.appendChild(document.createElement("p"));
  label.append(card.label);
  label.title = card.help;
  if (card.guide) {
    const guide = document.createElement("a");
    Object.assign(guide, { className: "nvh-guide", href: card.guide, target: "_blank", title: card.help });
    guide.setAttribute("aria-label", `${card.label} in the Guide`);
    guide.append("?");
    label.append(" ", guide);
  }
  const value = item.appendChild(document.createElement("p"));
  value.className = "nvh-value";
  value.append(card.value);
  if (card.link) {
    item.append(pageLink(card.link.text, card.link.href, () => goTo(card.link.href)));
    return item;
  }
  const button = item.appendChild(document.createElement("button"));
  button.type = "button";
  button.setAttribute("aria-expanded", String(card.open));
  button.setAttribute("aria-label", `${card.label}: ${card.button}`);
  button.append(card.button);
  button.addEventListener("click", () => openFormula(card.name));
  return item;
}
