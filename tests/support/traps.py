"""What a page does that words of a corpus may never make it do: run, ask another host, make an element."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.browser import Visit
from tests.support.payloads import HOST, MADE

# In every frame, before any script of the page: what payloads call, and what a policy kept from running.
TRAP = """
(() => {
  const ran = (words) => nereval_note(["ran", String(words)]);
  window.nereval_ran = ran;
  for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = () => ran(name);
  document.addEventListener("securitypolicyviolation", (event) =>
    nereval_note(["blocked", `${event.effectiveDirective} ${event.blockedURI} ${event.sample}`]), true);
})();
"""
FOUND = """
([host, made]) => {
  const found = [];
  const addresses = ["href", "src", "srcset", "xlink:href", "action", "formaction", "data", "poster", "ping"];
  const foreign = /^[\\s\\x00-\\x20]*(javascript|vbscript|data:text)/i, word = new RegExp(`^${made}\\\\d+$`);
  const leads = (value) => {
    try { return foreign.test(value) || new URL(value, location.href).hostname.includes(host); } catch { return false; }
  };
  const visit = (root) => {
    for (const one of root.querySelectorAll("*")) {
      if (one.shadowRoot) visit(one.shadowRoot);
      const say = (what) => found.push(`${what}: ${one.outerHTML.slice(0, 200)}`);
      const tag = one.localName, text = one.textContent.trim();
      if (one.classList.contains(made)) say("element");
      if (["iframe", "object", "embed", "base", "form", "marquee", "math", "applet"].includes(tag)) say("element");
      if (tag === "style" && text.includes(host)) say("style");
      for (const { name, value } of one.attributes) {
        if (/^on/.test(name)) say("handler");
        if (addresses.includes(name) && leads(value)) say("address");
        if (name === "style" && value.includes(host)) say("style");
      }
      if (/^stIcon|Emoji/.test(one.dataset?.testid ?? "") && /skull/.test(text)) say("icon");
      // Markup makes an element of its word alone; a paragraph may be made of it by us.
      if (word.test(text) && (tag === "tspan" || (!["p", "strong", "div"].includes(tag)
          && one.closest("[data-testid='stMarkdownContainer']")))) say("markup");
    }
  };
  visit(document);
  return found;
}
"""


class Trap:
    """Notes, over one visit, what is never to happen: each thing once, with the place where it was noted first."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.place = ""
        self.found: dict[tuple[str, str], str] = {}
        visit.context.expose_binding("nereval_note", lambda source, note: self.note(*note))
        visit.context.add_init_script(TRAP)
        visit.context.on("dialog", lambda dialog: (self.note("ran", dialog.message), dialog.dismiss()))
        visit.context.on("page", lambda page: self.note("requests", f"a window opens: {page.url}"))

    def note(self, kind: str, words: str) -> None:
        if (kind, words) not in self.found:
            self.found[kind, words] = self.place
            print(f"{kind} at {self.place}: {words}", flush=True)

    def look(self, page: Any | None = None) -> None:
        """Note the elements of a page that were made from data, the requests and errors so far, and our own faults."""
        page = page or self.visit.page
        for words in page.evaluate(FOUND, [HOST, MADE]):
            self.note("made", words)
        for words in page.locator("[data-testid='stException'], [data-testid='stAlert']").all_inner_texts():
            if "fault of nereval" in words or "Traceback" in words:
                self.note("faults", words)
        for words in self.visit.problems:
            self.note("requests" if words.startswith("request leaves") else "errors", words)
        self.visit.problems.clear()

    def look_at_file(self, file: Path) -> None:
        """Open a file that was downloaded, with its scripts, and look at what it makes."""
        page = self.visit.context.new_page()
        self.found.pop(("requests", "a window opens: about:blank"), None)
        page.goto(file.as_uri())
        page.mouse.move(300, 300)
        self.look(page)
        page.close()

    def counts(self) -> Counter[str]:
        return Counter(kind for kind, _ in self.found)
