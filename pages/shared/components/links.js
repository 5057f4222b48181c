// Links to the pages of the app. A page drawn anew costs the browser less with one component of links than with an
// element of Streamlit for each. Every string goes in as textContent.

function pageLink(text, href, go) {
  const link = document.createElement("a");
  link.className = "nv-link";
  link.href = href;
  link.append(text);
  link.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go();
  });
  return link;
}

// A sentence in which numbers and words are links; `show` is called with the place of one that stays on its page.
function drawSentence(parts, show) {
  const sentence = document.createElement("p");
  sentence.className = "nvs";
  for (const [place, part] of parts.entries()) {
    if (typeof part === "string") {
      sentence.append(part);
      continue;
    }
    const link = pageLink(part.text, part.href, part.stays ? () => show(place) : () => goTo(part.href));
    if (part.help) link.title = part.help;
    sentence.append(link);
  }
  return sentence;
}

// As the browser's Back and Forward do: Streamlit takes page and view from the address. On a narrow screen the sidebar lies
// over the page, and closes.
function goTo(href) {
  history.pushState(null, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
  const close = /** @type {HTMLElement} */ (document.querySelector("[data-testid='stSidebarCollapseButton'] button[aria-expanded='true']"));
  if (matchMedia("(max-width: 767px)").matches) close?.click();
}
