"""How long the app takes from a click to the changed page, at a million spans, beside a page that does nothing.

Both run at the same time, each in a server of its own, in one browser; what is compared are medians of neighbouring
clicks. What a page computes in Python is measured in this process, without Streamlit.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nereval_core.corpus import Corpus, Documents, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.ledger import Ledger, ledger
from nereval_core.readers import Source
from nereval_core.records.queries import FACETS, Query
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from nereval_core.store import Store, StoredCorpus, fingerprints
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.highlighted_text import text_data
from tests.benchmarks.generated import STRIDE, TYPES, generate
from tests.benchmarks.scales import Scale
from tests.support.browser import Visit, serve_app, start_browser

SPANS, BY_DOCUMENT = 1_000_000, 10
CLICKS = 20
WARM = 4
"""Clicks before those that are counted: the first ones compute what is then kept."""
TRIVIAL = """
import streamlit as st
st.session_state.clicks = st.session_state.get("clicks", 0) + 1
st.title("Trivial")
st.button("Click")
with st.container(key=f"run-{st.session_state.clicks}"):
    st.caption(f"{st.session_state.clicks}")
"""
WATCH = """
() => {
  const runs = () => Math.max(0, ...[...document.querySelectorAll("[class*='st-key-run-']")]
    .map(e => +/st-key-run-(\\d+)/.exec(e.className)[1]));
  const busy = () => document.querySelector("[data-testid='stApp'][data-test-script-state='running']")
    || document.querySelector("[data-stale='true']");
  const seen = (window.nereval = { from: null, to: null });
  for (const event of ["pointerdown", "keydown"])
    addEventListener(event, () => { seen.from = performance.now(); }, true);
  // With `shown` the time ends when its value has changed, else when the page has run and rests.
  seen.arm = (shown) => {
    const value = shown ?? runs;
    const before = value();
    seen.from = seen.to = null;
    const look = () => {
      if (seen.from !== null && value() !== before && (shown || !busy())) seen.to = performance.now();
      else requestAnimationFrame(look);
    };
    look();
  };
}
"""


def corpus(spans: int, types: int = TYPES) -> Corpus:
    """Draw documents without tokens, of words of chance, with gold and the predictions of one system.

    `types` is a multiple of TYPES.
    """
    drawn = generate(spans, by_document=BY_DOCUMENT)
    size = BY_DOCUMENT * STRIDE
    letters = np.frombuffer(b"etaoinshrdlu    ", np.uint8)
    data = letters[np.random.default_rng(1).integers(0, len(letters), drawn.documents * size)]
    texts = Texts(data, np.arange(drawn.documents + 1, dtype=np.int64) * size)
    documents = Documents(tuple(f"doc-{number:06}" for number in range(drawn.documents)), texts)
    names = tuple(f"T{code:02}" for code in range(types))
    more = types // TYPES
    gold, system = (
        Layer(
            name,
            documents,
            side.doc,
            side.start,
            side.end,
            (side.type * more + side.doc % more).astype(np.int16),
            names,
        )
        for name, side in (("gold", drawn.gold), ("system", drawn.pred))
    )
    return Corpus("benchmark", documents, gold, (system,))


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(SPANS, SPANS // 10, 1_000)
    made = corpus(spans)
    with tempfile.TemporaryDirectory() as folder:
        keep(made, Path(folder))
        yield from computed(made)
        # At TINY each kind of click is made once, on the first page that has it.
        kinds = {action.click: action for action in reversed(ACTIONS)}
        actions = scale.of(ACTIONS, ACTIONS, tuple(kinds.values()))
        yield from clicked(made.digest, Path(folder), actions=actions, scale=scale)


def keep(made: Corpus, folder: Path) -> None:
    """Put a corpus into a store, as reading it would."""
    sources = {layer.name: Source.of_uploads([(f"{layer.name}.jsonl", b"{}")]) for layer in (made.gold, *made.systems)}
    account = [
        {
            "name": layer.name,
            "source": layer.name,
            "format": "jsonl",
            "scheme": "",
            "documents": len(made.documents),
            "spans": len(layer),
            "types": layer.types,
            "notes": (),
        }
        for layer in (made.gold, *made.systems)
    ]
    said = {"layers": account, "marks": {"system": []}, "start": "system", "description": "", "problems": []}
    said["options"] = {}
    Store(folder).put(StoredCorpus(made, said, sources, "0" * 64), fingerprints(sources))


def computed(made: Corpus) -> Iterator[tuple[str, float, str]]:
    """Yield the CPU milliseconds of what pages compute: medians, what is kept from run to run being there."""
    from nereval_core.report.score_tables import criterion_table, type_table
    from pages.shared.components.tables import ROWS, record_rows
    from pages.shared.inspect.document import read_document, start_of
    from pages.shared.view.confusion_layout import confusion_table

    settings = Settings(tuple(CRITERIA[name] for name in APPLICABLE if CRITERIA[name].unit == "span"))
    sides = (made.gold, made.systems[0])
    scores = score_layers(*sides, settings)
    records: list[Ledger] = []
    said = f"ms of CPU at {len(made.gold):,} spans:"
    yield f"{said} records of the first criterion", clock(lambda: records.append(ledger(scores, "strict", sides))), "–"
    yield f"{said} records of another criterion", clock(lambda: records.append(ledger(scores, "type", sides))), "–"
    kept, types = records[0], made.gold.types
    wrong = Query(decision=DECISIONS[1:])
    queries = [Query(decision=DECISIONS[1:], types=(kind,)) for kind in types]
    steps = iter(range(1, 10**6))

    def errors() -> None:
        query = queries[next(steps) % len(queries)]
        kept.total(query)
        for facet in FACETS:
            kept.facet_counts(query, facet, 1_000)
        record_rows(kept, kept.page(query, rows=ROWS), made.documents.texts)

    def overview() -> None:
        criterion_table("system", {"system": scores}, settings_names)
        type_table("system", {"system": scores}, "strict")
        kept.documents("", 200 * (next(steps) % 100))

    def documents() -> None:
        near = kept.near(wrong, made.documents.ids[next(steps) * 7 % len(made.documents)])
        doc, name = near.queue[3]
        there = read_document(lambda doc: kept.document(doc, settings), "strict", doc)
        record, _ = there.find(name)
        assert record is not None
        part = there.part_of(start_of(record))
        low, high = there.windows[part]
        text_data(there.text[low:high], there.marks_in(part), selected=name)
        there.card(record)

    settings_names = [criterion.name for criterion in settings.criteria]
    for what, run in (
        ("Overview", overview),
        ("Confusion", lambda: confusion_table(kept.confusion(), types, ())),
        ("Inspect, another type chosen", errors),
        ("Inspect, another part of the queue", lambda: kept.page(wrong, first=ROWS * (next(steps) % 100), rows=ROWS)),
        ("Inspect, another record", documents),
    ):
        run()
        yield f"{said} {what}", statistics.median(clock(run) for _ in range(15)), "<= 10"


def clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return 1_000 * (time.process_time() - start)


@contextmanager
def environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def clicked(
    digest: str, folder: Path, *arguments: str, actions: Sequence[Action], scale: Scale
) -> Iterator[tuple[str, float, str]]:
    """Yield how many times as long a click takes as on a trivial page, and the largest message to the browser.

    `arguments` are the app's.
    """
    script = folder / "trivial.py"
    script.write_text(TRIVIAL)
    warm, clicks = (0, 1) if scale is Scale.TINY else (WARM, CLICKS)
    with ExitStack() as stack:
        stack.enter_context(environment(NEREVAL_CACHE=str(folder)))
        ours, theirs = stack.enter_context(serve_app(*arguments)), stack.enter_context(serve_app(script=script))
        browser = stack.enter_context(start_browser())
        floor = Clicker(Visit(browser, theirs))
        floor.visit.go("/")
        floor.visit.page.evaluate(WATCH)
        largest = 0
        times: list[float] = []
        for action in actions:
            clicker = Clicker(Visit(browser, ours))
            clicker.visit.go(f"/{action.page}?corpus={digest[:16]}{action.view}")
            clicker.visit.page.evaluate(WATCH)
            taken, trivial = [], []
            for number in range(warm + clicks):
                action.ready(clicker.visit)
                taken.append(
                    clicker.timed(lambda page, number=number, action=action: action.click(page, number), action.shown)
                )
                trivial.append(floor.timed(lambda page: page.get_by_role("button", name="Click").click()))
            times += trivial[warm:]
            ratio = statistics.median(taken[warm:]) / statistics.median(trivial[warm:])
            yield f"{action.what}, {action.page} / a trivial page", ratio, f"<= {action.most}"
            largest = max(largest, clicker.largest)
            clicker.visit.close()
        floor.visit.close()
        yield "ms from click to changed page, a trivial page", statistics.median(times), "–"
        yield "largest message to the browser, MB", largest / 1e6, "<= 1"


class Clicker:
    """A visit whose clicks are timed in the browser, and whose messages are weighed."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.largest = 0
        visit.page.on("websocket", lambda socket: socket.on("framereceived", self._weigh))

    def _weigh(self, payload: Any) -> None:
        self.largest = max(self.largest, len(payload))

    def timed(self, click: Callable[[Any], None], shown: str = "") -> float:
        """Return the milliseconds from the last key or button pressed to the page drawn anew, or to what is `shown`."""
        page = self.visit.page
        before = self.visit.run_count()
        page.evaluate(f"nereval.arm({shown})")
        click(page)
        page.wait_for_function("() => nereval.to !== null")
        if shown:
            self.visit.wait_until_drawn(before)
        # What the page draws after its last element is not to slow the next click.
        page.wait_for_timeout(150)
        found: float = page.evaluate("nereval.to - nereval.from")
        return found


@dataclass(frozen=True)
class Action:
    """What is clicked on a page again and again, numbered; `ready` is done before each click and not timed.

    `shown` is a function in the page whose value changes once the reader sees what was asked for; without one that is
    when the page has run to its end.
    """

    what: str
    page: str
    click: Callable[[Any, int], None]
    ready: Callable[[Visit], None] = lambda visit: None
    view: str = ""
    shown: str = ""
    most: float = 2.0
    """The aim, in times a click on a trivial page."""


CHOSEN = ("type", "strict", "partial", "exact")


def choose_criterion(page: Any, number: int) -> None:
    page.locator(".st-key-widget_schema button").get_by_text(CHOSEN[number % len(CHOSEN)], exact=True).click()


def types_there(visit: Visit) -> None:
    if not visit.page.locator(".st-key-widget_type").is_visible():
        visit.open_menu("Types")
    visit.page.locator(".st-key-widget_type input").first.wait_for()
    visit.page.wait_for_timeout(300)


def choose_type(page: Any, number: int) -> None:
    """Choose a type, and the next time take it away again."""
    box = page.locator(".st-key-widget_type input").first
    if number % 2:
        box.press("Backspace")
        return
    # What is typed narrows the list down to the one that Enter then takes: no list has to stand still under a pointer.
    box.press_sequentially(f"T{number % 8:02}")
    page.get_by_role("option", name=f"T{number % 8:02}", exact=True).wait_for()
    box.press("Enter")


def choose_cell(page: Any, number: int) -> None:
    cells = page.get_by_role("gridcell")
    cells.nth(number % cells.count()).click()


def table_there(visit: Visit) -> None:
    # Before the first click the table may stand there and not be drawn yet.
    visit.page.get_by_test_id("stDataFrame").first.locator("canvas").first.wait_for()
    visit.page.wait_for_timeout(300)


def map_there(visit: Visit) -> None:
    visit.page.get_by_role("gridcell").first.wait_for()
    visit.page.wait_for_timeout(300)


def text_there(visit: Visit) -> None:
    visit.page.locator(".nv-reading").first.wait_for()
    visit.page.wait_for_timeout(300)


def next_record(page: Any, number: int) -> None:
    page.keyboard.press("j")


# The number of the open record, once its text is there too.
RECORD_SHOWN = """() => document.querySelector(".nw-late")
    ? nereval.shown
    : (nereval.shown = document.querySelector(".nw-entry[aria-current]")?.dataset.at)"""
ACTIONS = (
    *(Action("change the criterion", name, choose_criterion) for name in ("Overview", "Confusion", "Inspect")),
    *(Action("filter by a type", name, choose_type, types_there) for name in ("Overview", "Inspect")),
    Action("click a confusion cell", "Confusion", choose_cell, map_there),
    Action("next record", "Inspect", next_record, text_there, shown=RECORD_SHOWN, most=1.0),
)
