"""Names of types, documents and systems that turn the writing around or look like a sign: no page draws them so."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.support.browser import Visit, serve_app

TURNED = "\u202ecod\u202c"
TYPES = (TURNED, "-", ",", " PER", "LOC\u2066x", "B")
WORDS = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta", "iota"]
SYSTEMS = ("s\u202eone", "-", "anna")
VIEWS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Overview", {"overview_tab": "by-slice"}),
    ("Confusion", {}),
    ("Inspect", {"inspect_tab": "patterns"}),
    ("Inspect", {"inspect_tab": "records", "type": f"-,{TURNED}", "merge": "B=\u202em", "leaveout": "%2C"}),
    ("Inspect", {"inspect_tab": "records", "beside": "-", "tracks": "anna"}),
    ("Systems", {"beside": "-"}),
    ("Annotators", {}),
    ("Linking", {}),
    ("Present", {}),
    ("", {}),
)
LIVE = r"""() => {
  const turns = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/;
  const live = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.nodeType === 3 ? node.parentElement : node;
    if (element.closest("[data-testid='stFileUploader']")) continue; // Streamlit's own list of files
    if (node.nodeType === 3) {
      const isSign = /^\s*[-,]\s*$/.test(node.data) && element.offsetParent;
      if (turns.test(node.data) || isSign) live.push(node.data);
    } else
      for (const name of ["title", "aria-label", "placeholder", "alt", "value"])
        if (turns.test(node.getAttribute(name) ?? "")) live.push(`${name}: ${node.getAttribute(name)}`);
  }
  return [...live, ...(turns.test(document.title) ? [document.title] : [])];
}"""


def rows(seed: int) -> Iterator[dict[str, Any]]:
    """Yield documents with gold (seed 0) or with a system's spans, of which some differ in type or length."""
    for number in range(30):
        gold, own = random.Random(number), random.Random(f"{seed} {number}")
        words = [gold.choice(WORDS) for _ in range(14)]
        starts = [sum(len(word) + 1 for word in words[:place]) for place in range(14)]
        spans = []
        for place in range(0, 14, 2):
            label, end = gold.choice(TYPES), place
            if seed and own.random() < 0.5:
                label, end = own.choice(TYPES), place + own.randrange(2)
            if not seed or own.random() > 0.2:
                limits = {"start": starts[place], "end": starts[end] + len(words[end])}
                spans.append({**limits, "label": label, "links": [f"Q\u202e{gold.randrange(4)}"]})
        name = f"do\u202ec{number}" if number % 2 else "-" * (number // 2 + 1)
        yield {"id": name, "text": " ".join(words), "spans": spans}


@pytest.fixture(scope="module")
def visit(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """A visit in which the corpus was read from dropped files, whose names are hostile too."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    files = [folder / f"{name}.jsonl" for name in ("gold", *SYSTEMS)]
    for seed, file in enumerate(files):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows(seed)), encoding="utf-8")
    with serve_app() as address:
        visit = Visit(browser, address)
        visit.go("/")
        visit.page.locator("input[type=file]").first.set_input_files(files)
        button = visit.page.get_by_role("button", name="Read and score").last
        assert visit.eventually(button.is_enabled)
        visit.wait_until_drawn(visit.run_count() - 1)
        assert not visit.page.evaluate(LIVE), "the form of dropped files"
        button.click()
        visit.page.wait_for_url("**/Overview?*")
        yield visit
        visit.close()


def test_no_page_draws_a_name_that_is_not_what_it_looks_like(visit: Visit) -> None:
    corpus = parse_qs(urlsplit(visit.page.url).query)["corpus"][0]
    live = {}
    for page, fields in VIEWS:
        visit.go(f"/{page}?{urlencode({'corpus': corpus, 'system': SYSTEMS[0], **fields})}")
        folded = visit.page.locator("[data-testid=stExpander] details:not([open]) > summary")
        for number in reversed(range(min(folded.count(), 4))):
            folded.nth(number).click()
        visit.wait_until_drawn(visit.run_count() - 1)
        live[page, *fields] = visit.page.evaluate(LIVE)
    assert not any(live.values()), live
