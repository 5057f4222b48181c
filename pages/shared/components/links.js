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

// As the browser's Back and Forward do: Streamlit takes page and view from the address. On a narrow screen the sidebar lies
// over the page, and closes.
function goTo(href) {
  history.pushState(null, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
  const close = /** @type {HTMLElement} */ (document.querySelector("[data-testid='stSidebarCollapseButton'] button[aria-expanded='true']"));
  if (matchMedia("(max-width: 767px)").matches) close?.click();
}
