"""Reading through the store, and readings under way: what is kept is as it was read, what is stopped leaves nothing."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any, Literal

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from nereval_core import readers
from nereval_core.api.load_options import LoadOptions
from nereval_core.conventions import conventions
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.input.temporaries import is_temporary
from nereval_core.store import Store
from pages.shared.components import opening
from pages.shared.components.navigation import pages
from pages.shared.data import caches, masks, reading_orders, verdict_store
from pages.shared.data.convention_results import apply_convention
from pages.shared.data.jobs import CancelledError, Jobs, Watch
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded
from pages.shared.data.reading_orders import Part, Selection, Served, Uploaded
from pages.shared.data.reading_process import read_order
from pages.shared.data.server_start import remove_expired
from pages.shared.server import access
from pages.shared.start import recent
from pages.shared.view import View, keys, state
from tests.store.test_store import same
from tests.support.pages import DEMO, GOLD, PREDICTION, address, drop, headings, opened, settled, sound, title, upload
from tests.support.samples import lines

TAGS = "Aspirin\tB-Drug\nhelps\tO\n\n"
BROKEN = TAGS.replace("O", "I-Brand")


class Noted(Watch):
    """A watch that notes every stage and step, and may stop at one of them."""

    def __init__(self, stop: int = -1) -> None:
        self.stages: list[str] = []
        self.steps: list[tuple[str, int, int]] = []
        self.ticks = 0
        self.stop = stop
        super().__init__()

    def begin(self, stage: str, unit: str = "") -> None:
        self.stages.append(stage)
        super().begin(stage, unit)

    def step(self, done: int, total: int) -> None:
        self.steps.append((self.unit, done, total))
        super().step(done, total)

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == self.stop:
            raise CancelledError
        super().tick()


def source(name: str, text: str) -> Source:
    return Source.of_uploads([(name, text.encode())])


def read(keeper: Keeper, watch: Watch | None = None, *, options: LoadOptions | None = None) -> Loaded:
    """Read tags with a system that is mended, and one that cannot be paired."""
    systems = {
        "mended": source("s.tsv", BROKEN),
        "short": source("t.tsv", "Aspirin\tB-Drug\n\n"),
    }
    options = options or LoadOptions(repair="conlleval")
    return keeper.read("tags", source("gold.tsv", TAGS), systems, options, watch=watch)


def test_what_is_kept_is_as_it_was_read(tmp_path: Path) -> None:
    plain, watch = read(Keeper(None)), Noted()
    first = read(Keeper(Store(tmp_path)), watch)
    # A system that is refused is read once more, with the option that would let it pass.
    assert list(dict.fromkeys(stage for stage in watch.stages if stage.startswith("Reading "))) == [
        f"Reading {x}.tsv" for x in ("gold", "s", "t")
    ]
    assert watch.stages[-1] == "Keeping a copy" and watch.steps
    again = Noted()
    second = read(Keeper(Store(tmp_path)), again)
    assert again.stages == ["Reading", "Looking whether they were read before"]
    for loaded in (first, second):
        assert isinstance(loaded.corpus.documents.texts, Texts) and same(loaded.corpus, plain.corpus)
        for name in ("layers", "marks", "start", "description", "problems", "options", "key", "types"):
            assert getattr(loaded, name) == getattr(plain, name), name
    assert plain.problems and plain.marks["mended"] and plain.key


def test_spans_left_out_in_aligning_are_kept_too_and_masked(tmp_path: Path) -> None:
    row = '{"id": "d", "text": "in%sParis", "spans": [{"start": 2, "end": %d, "label": "LOC"}]}'
    gold, pred = source("gold.jsonl", row % (" ", 8)), source("run.jsonl", row % ("  ", 9))
    for _ in range(2):
        loaded = Keeper(Store(tmp_path)).read("spaces", gold, {"run": pred}, LoadOptions(align_text=True))
        (lost,) = loaded.layers[1].lost
        assert lost.line == 1 and "span [2, 9) '  Paris' (LOC)" in lost.found
        assert loaded.marks["run"] == ("aligned texts: 1 document, 1 span lost",)
        assert "Paris" not in masks.mask_corpus(loaded).layers[1].lost[0].found


def test_published_scorers_find_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    sources = {}
    for name, text in (("gold", TAGS), ("system", BROKEN)):
        (folder / f"{name}.tsv").write_text(text)
        sources[name] = Source.of_path(folder / f"{name}.tsv")
    options = LoadOptions(repair="conlleval")
    loaded = Keeper(None).read("tags", sources["gold"], {"system": sources["system"]}, options)
    kept = Keeper(Store(tmp_path / "store")).read("tags", sources["gold"], {"system": sources["system"]}, options)
    before = apply_convention(loaded, "system", conventions()["conlleval"])
    for path in folder.iterdir():
        path.unlink()
    found = Keeper(Store(tmp_path / "store")).find(kept.corpus.digest)
    assert found is not None
    after = apply_convention(found, "system", conventions()["conlleval"])
    assert after.figures.equals(before.figures) and after.signature == before.signature


@pytest.mark.parametrize("on", [True, False])
def test_one_input_is_one_corpus_while_it_is_in_use(tmp_path: Path, on: bool) -> None:
    keeper = Keeper(Store(tmp_path) if on else None)
    loaded = read(keeper)
    assert read(keeper) is loaded
    assert read(keeper, options=LoadOptions(repair="discard")) is not loaded
    if on:
        assert keeper.find(loaded.corpus.digest) is loaded


def test_a_store_that_fails_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    keeper = Keeper(Store(tmp_path / "file"))
    with caplog.at_level(logging.WARNING, "nereval"):
        for repair in ("conlleval", "discard"):
            assert len(read(keeper, options=LoadOptions(repair=repair)).corpus.systems) == 1
    assert keeper.trouble and len(caplog.records) == 1
    small = Keeper(Store(tmp_path / "small", 100))
    assert len(read(small).corpus.systems) == 1 and "more than the 100 bytes" in small.trouble
    assert list((tmp_path / "small").iterdir()) == []


def test_files_that_could_not_be_opened_are_tried_again(tmp_path: Path) -> None:
    lost = FormatError.single("x", None, "no such file", "check the path")
    gold = source("gold.jsonl", GOLD)
    loaded = Keeper(Store(tmp_path)).read("c", gold, {"a": source("p.jsonl", PREDICTION), "b": lost})
    assert loaded.problems == lost.problems and not list(tmp_path.iterdir())


def test_what_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    whole = Noted()
    read(Keeper(Store(tmp_path / "whole")), whole)
    assert whole.ticks > 10
    for number in range(2, whole.ticks + 1):
        with pytest.raises(CancelledError):
            read(Keeper(Store(tmp_path / "stopped")), Noted(number))
        assert not (tmp_path / "stopped").exists() or not list((tmp_path / "stopped").iterdir())


@pytest.mark.parametrize(
    ("name", "raw", "unit"),
    [
        ("g.jsonl", GOLD.encode(), "documents"),
        ("g.tsv", TAGS.encode(), "bytes"),
        ("g.txt", None, "documents"),
    ],
)
def test_what_is_counted_is_said(name: str, raw: bytes | None, unit: str) -> None:
    brat = [("a.txt", b"Aspirin helps"), ("a.ann", b"T1\tDrug 0 7\tAspirin\n")]
    gold, system = (Source.of_uploads(brat if raw is None else [(name, raw)]) for _ in range(2))
    watch = Noted()
    Keeper(None).read("c", gold, {"s": system}, watch=watch)
    ends = {one: (done, total) for one, done, total in watch.steps}
    assert set(ends) == {"files", unit}
    assert ends[unit] == {"documents": (1, 1), "bytes": (len(raw or b""),) * 2}[unit]


def ordered(system: str = BROKEN, repair: Literal["conlleval", "discard"] = "conlleval") -> Uploaded:
    layers = {
        "gold": [Part([("gold.tsv", TAGS.encode())])],
        "mended": [Part([("s.tsv", system.encode())])],
        "lost": [Part([("a", b"x"), ("a", b"y")])],
    }
    return Uploaded("tags", layers, LoadOptions(repair=repair))


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small corpora read in a process of their own too."""
    monkeypatch.setattr(reading_orders, "SMALL", 0)


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("place", ["store", "", "file"])
def test_a_process_reads_the_same(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    keeper, order, watch = Keeper(Store(tmp_path / place) if place else None), ordered(), Noted()
    assert not order.small
    loaded = read_order(keeper, order, watch)
    plain = Keeper(None).read(*order.opened(), order.options)
    assert same(loaded.corpus, plain.corpus) and isinstance(loaded.corpus.documents.texts, Texts)
    for name in ("layers", "marks", "start", "description", "problems", "options", "key", "types"):
        assert getattr(loaded, name) == getattr(plain, name), name
    assert loaded.problems and "Keeping a copy" in watch.stages
    assert loaded.sources["gold"].files[0].read() == TAGS.encode()
    # A source that could not be opened is no part of what is kept for good.
    assert not (tmp_path / "store").exists()


@pytest.mark.usefixtures("apart")
def test_a_process_keeps_what_the_server_opens(tmp_path: Path) -> None:
    keeper, (folder, gold) = Keeper(Store(tmp_path / "store")), (tmp_path / "served", "gold.tsv")
    folder.mkdir()
    for name in (gold, "s.tsv"):
        (folder / name).write_text(TAGS)
    order = Served(folder, ".", gold, ["s.tsv"])
    loaded = read_order(keeper, order, Watch())
    assert read_order(keeper, order, Watch()) is loaded is keeper.find(loaded.corpus.digest)
    assert len(Store(tmp_path / "store").entries()) == 1


@pytest.mark.parametrize("small", [1 << 20, 0])
def test_what_is_stored_has_its_owner_before_anybody_comes_for_it(
    small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_orders, "SMALL", small)
    order = Uploaded("one", {name: [Part([(f"{name}.tsv", TAGS.encode())])] for name in ("gold", "run")})
    loaded = read_order(Keeper(Store(tmp_path)), order, Watch(), owner="ada")
    later = caches.Shelf(Keeper(Store(tmp_path)))
    assert later.find(loaded.digest, "eve") is None
    found = later.find(loaded.digest, "ada")
    assert found is not None and found.owner == loaded.owner == "ada"


def test_what_was_removed_is_stored_again_though_it_is_still_in_use(tmp_path: Path) -> None:
    store, order = (
        Store(tmp_path),
        Uploaded("one", {name: [Part([("a.tsv", TAGS.encode())])] for name in ("gold", "b")}),
    )
    shelf = caches.Shelf(Keeper(store))
    first = read_order(shelf.keeper, order, Watch(), owner="ada")
    shelf.put(first)
    shelf.remove(first.digest, "eve")
    assert len(store.entries()) == 1 and shelf.find(first.digest, "ada") is first
    shelf.remove(first.digest, "ada")
    assert store.entries() == () and shelf.find(first.digest) is None
    again = read_order(shelf.keeper, order, Watch(), owner="ada")
    assert [entry.key for entry in store.entries()] == [first.key] == [again.key]


@pytest.mark.usefixtures("apart")
def test_one_file_is_gold_and_systems_and_kept_once(tmp_path: Path) -> None:
    rows = [
        {"text": "Ann", "_annotator_id": who, "answer": "accept", "spans": [{"start": 0, "end": end, "label": "PER"}]}
        for who, end in (("a", 3), ("b", 2))
    ]
    files = [("x.jsonl", lines(*rows).encode())]
    table = [("x.csv", b"n,v,u,w,t\nAnn,0,3,PER,Ann\n")]
    columns: dict[str, int | str] = {"document": "n", "start": 2, "end": 3, "type": "w", "text": "t"}
    parts = {
        "gold": [Part(files, Selection("a"))],
        "b": [Part(files, Selection("b"))],
        "table": [Part(table, Selection(columns=columns))],
    }
    order = Uploaded("x", parts, LoadOptions(pred_format="auto"))
    other = replace(order, layers=parts | {"gold": [Part(files, Selection("b"))], "b": [Part(files, Selection("a"))]})
    keeper = Keeper(Store(tmp_path))
    loaded, turned = (read_order(keeper, one, Watch()) for one in (order, other))
    assert (loaded.corpus.digest == turned.corpus.digest, loaded.key == turned.key) == (False, False)
    assert [row.source for row in loaded.layers] == ["x.jsonl#a", "x.jsonl#b", "x.csv"]
    kept = Keeper(Store(tmp_path)).find(loaded.corpus.digest)
    assert kept is not None and same(kept.corpus, loaded.corpus)
    assert {name: source.layer for name, source in kept.sources.items()} == {"gold": "a", "b": "b", "table": ""}
    assert kept.sources["gold"].files is kept.sources["b"].files and kept.sources["table"].columns == columns
    for name, source in kept.sources.items():
        assert readers.read(source).layer.end.tolist() == ([2] if name == "b" else [3])


@pytest.mark.usefixtures("apart")
def test_a_process_passes_on_what_is_wrong(tmp_path: Path) -> None:
    layers = {"gold": [Part([("gold.tsv", BROKEN.encode())])], "s": [Part([("s.tsv", b"?")])]}
    keeper, order = Keeper(Store(tmp_path)), Uploaded("x", layers)
    found = []
    for read_it in (lambda: read_order(keeper, order, Watch()), lambda: Keeper(None).read(*order.opened())):
        with pytest.raises(FormatError) as caught:
            read_it()
        found.append(caught.value.problems)
    assert found[0] == found[1] and found[0]
    with pytest.raises(RuntimeError, match="AttributeError"):
        read_order(keeper, replace(order, options="none"), Watch())


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("stage", ["Reading", "Looking whether they were read before", "Keeping a copy"])
def test_a_process_that_is_cancelled_leaves_nothing(tmp_path: Path, stage: str) -> None:
    class Impatient(Watch):
        def show(self, **said: Any) -> None:
            if said["stage"] == stage:
                self.cancel()
            super().show(**said)

    with pytest.raises(CancelledError):
        read_order(Keeper(Store(tmp_path)), ordered(), Impatient())
    assert not [path for path in tmp_path.iterdir() if is_temporary(path.name)]


@pytest.mark.usefixtures("apart")
def test_what_is_cancelled_before_it_begins_is_ended_at_once(tmp_path: Path) -> None:
    watch = Watch()
    watch.cancel()
    with pytest.raises(CancelledError):
        read_order(Keeper(Store(tmp_path)), ordered(), watch)


@pytest.mark.parametrize(
    ("files", "small"),
    [
        ({"gold.tsv": 10, "s.tsv": 10}, True),
        ({"gold.tsv": reading_orders.SMALL, "s.tsv": 10}, False),
        ({"gold.zip": 10, "s.tsv": 10}, False),
        ({"gold.tsv": 10, "s.tsv.gz": 10}, False),
    ],
)
def test_what_is_small_is_read_here(tmp_path: Path, files: dict[str, int], small: bool) -> None:
    (name, size), (other, rest) = files.items()
    layers = {"gold": [Part([(name, b" " * size)])], "s": [Part([(other, b" " * rest)])]}
    assert Uploaded("x", layers).small is small
    for file, length in files.items():
        (tmp_path / file).write_bytes(b" " * length)
    assert Served(tmp_path, ".", name, [other]).small is small
    assert not Served(tmp_path, ".", ".", [other]).small and not Served(tmp_path, ".", "lost", [other]).small
    for begin in (b"PAR1", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"):
        assert not Uploaded("x", {"gold": [Part([("gold.tsv", begin)])], "s": [Part([("s.tsv", b"")])]}).small


@pytest.fixture
def gate() -> Iterator[Event]:
    """What slow readings wait for: it opens at the end at the latest."""
    event = Event()
    yield event
    event.set()


def slowly(gate: Event) -> Callable[[Watch], Loaded]:
    """Return a reading that goes on until the gate opens."""

    def work(watch: Watch) -> Loaded:
        watch.begin("Reading gold.jsonl", "documents")
        while not gate.wait(0.01):
            watch.step(watch.done + 1, 100_000)
        return read(Keeper(None))

    return work


def test_a_reading_ends_well_or_is_told() -> None:
    jobs = Jobs()
    for work, kind in ((lambda watch: read(Keeper(None), watch), "loaded"), (lambda _: 1 / 0, "fault")):
        job = jobs.get(jobs.start("x", work))
        assert job is not None and job.finished.wait(30)
        assert [name for name in ("loaded", "problem", "fault") if getattr(job, name)] == [kind]
    job = jobs.get(jobs.start("x", lambda _: Keeper(None).read("c", source("g", "?"), {})))
    assert job is not None and job.finished.wait(30) and job.problem is not None


def test_a_reading_waits_for_a_place_and_can_be_cancelled_there(gate: Event) -> None:
    jobs = Jobs(at_once=1)
    first = jobs.start("first", slowly(gate))
    running, waiting = jobs.get(first), jobs.get(jobs.start("second", slowly(gate)))
    third = jobs.start("third", slowly(gate))
    stopped = jobs.get(third)
    assert running is not None and waiting is not None and stopped is not None
    jobs.cancel(third)
    assert stopped.finished.wait(30) and stopped.loaded is None and jobs.get(third) is None
    assert "Waiting" in waiting.watch.stage and not waiting.finished.is_set()
    # Whoever has a place waits for nobody.
    assert "Waiting" not in running.watch.stage
    jobs.cancel(first)
    assert running.finished.wait(30) and running.loaded is None
    gate.set()
    assert waiting.finished.wait(30) and waiting.loaded is not None


def test_a_page_shows_how_far_a_reading_is_and_ends_it(gate: Event) -> None:
    app = opened("Start")
    number = caches.jobs().start("slow", slowly(gate))
    app.session_state[keys.READING] = number
    job = caches.jobs().get(number)
    while job is None or not job.watch.done:
        sleep(0.01)
    app = sound(app.run())
    assert "**slow** · Reading gold" in headings(app)
    assert any(re.fullmatch(r"[\d,]+ of 100,000 documents(, [\d,]+ documents/s)?", one.value) for one in app.caption)
    app = sound(app.button(key="reading_cancel").click().run())
    assert job.finished.wait(30) and job.loaded is None
    app = sound(app.run())
    assert not any(button.key == "reading_cancel" for button in app.button) and "slow" not in headings(app)


def test_what_was_read_meanwhile_is_opened(gate: Event) -> None:
    app = opened("Start")
    app.session_state[keys.READING] = caches.jobs().start("slow", slowly(gate))
    sound(app.run())
    gate.set()
    app = settled(app.run())
    assert address(app)["system"] == "mended" and app.error


def test_the_reading_follows_the_reader_to_any_page(gate: Event) -> None:
    app = opened("Overview")
    app.session_state[keys.READING] = caches.jobs().start("slow", slowly(gate))
    app = sound(app.run())
    assert "**slow**" in headings(app) and title(app) == "Overview" and app.dataframe, "the demo is still shown"
    gate.set()
    app = settled(app.run())
    assert address(app)["system"] == "mended" and title(app) == "Overview"


def test_a_refused_reading_is_told_on_any_page() -> None:
    def refuse(_: Watch) -> Loaded:
        raise FormatError.single("gold.jsonl", 3, "no text", "give one")

    app = opened("Overview")
    number = caches.jobs().start("refused", refuse)
    job = caches.jobs().get(number)
    assert job is not None and job.finished.wait(30)
    app.session_state[keys.READING] = number
    app = sound(app.run())
    assert any("see why at Start" in link.proto.label for link in app.get("page_link"))
    app = sound(app.switch_page("app.py").run())
    assert any(code.value.startswith("gold.jsonl:3: no text") for code in app.code)
    app = sound(app.switch_page(pages()["Overview"]).run())
    assert not any("see why at Start" in link.proto.label for link in app.get("page_link"))


def test_a_fault_is_told_by_its_number() -> None:
    app = opened("Start")
    number = caches.jobs().start("x", lambda _: 1 / 0)
    job = caches.jobs().get(number)
    assert job is not None and job.finished.wait(30)
    app.session_state[keys.READING] = number
    app.run()
    assert f"fault of nereval, not of your files. The server's log has it under {job.fault}" in app.error[0].value
    assert not sound(app.run()).error


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store for the pages, with an empty shelf over it."""
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path))
    caches.shelf.cache_clear()
    yield Store(tmp_path)
    caches.shelf.cache_clear()


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def test_a_link_opens_what_was_stored_and_clearing_ends_that(stored: Store) -> None:
    app = upload(opened("Start"), GOLD, PREDICTION)
    digest = address(app)["corpus"]
    assert "Stored corpora: 1, " in captions(app)
    view = View(corpus=digest, system="system0")
    caches.shelf.cache_clear()
    assert list(opened("Overview", view).dataframe[0].value["INC"]) == [1, 1, 0, 0]
    app = sound(app.button(key="stored_clear").click().run())
    assert stored.entries() == () and "Stored corpora" not in captions(app)
    assert not opened("Overview", view).info, "what is open stays open"
    caches.shelf.cache_clear()
    assert digest in opened("Overview", view).info[0].value


def listed(app: AppTest) -> list[list[str]]:
    """Return the rows of the table of recent corpora."""
    tables = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.WhichOneof("data") == "json"]
    return next((table["rows"] for table in tables if "list_hints" in table), [])


def test_start_opens_a_stored_corpus_and_removes_it(stored: Store) -> None:
    app = upload(opened("Start"), GOLD, PREDICTION, GOLD)
    digest = address(app)["corpus"]
    caches.shelf.cache_clear()
    # Another browser, which knows no link.
    app = opened("Start")
    [[name, systems, f1, decided, time]] = listed(app)
    assert (name, systems, f1, decided) == ("gold", "system0, system1", "1.000", "–") and time.startswith("today")
    assert not any("rule-based" in link.label for link in app.get("page_link")), "who knows the app needs no example"
    app = opened_by(0, 0)
    assert address(app)["corpus"] == digest and title(app) == "Overview"
    app = opened("Start", list_recent_edit=True)
    app.text_input(key=f"recent_name_{digest}").set_value("My notes")
    app = sound(app.button(key="recent_rename").click().run())
    assert listed(app)[0][0] == "My notes"
    renamed = caches.find(digest)
    assert renamed is not None and renamed.corpus.name == "My notes"
    app = sound(app.button(key="recent_remove").click().run())
    assert stored.entries() == () and "Recent corpora" not in [one.value for one in app.header]


def opened_by(row: int, column: int) -> AppTest:
    """Choose a cell of the table of recent corpora, and go where that leads."""
    recent.choose(recent.recent_corpora()[row], column)
    return opened("Start", **{keys.VIEW: state.view(), keys.OPENED: st.session_state.pop(keys.OPENED)})


def test_best_f1_is_that_of_the_best_system(stored: Store) -> None:
    upload(opened("Start"), GOLD, PREDICTION)
    assert listed(opened("Start"))[0][2] == "0.000"


def test_what_was_read_without_refused_files_goes_once_these_are_read(stored: Store) -> None:
    app = drop(opened("Start"), {"gold.tsv": TAGS.encode(), "a.tsv": TAGS.encode(), "b.tsv": BROKEN.encode()})
    app = settled(app.button(key="upload_read").click().run())
    assert app.error and len(stored.entries()) == 1 and listed(app) == []
    fix = next(button for button in app.button if str(button.key).startswith("fix_"))
    settled(fix.click().run())
    assert [row[1] for row in listed(opened("Start"))] == ["a, b"] and len(stored.entries()) == 1


def test_recent_corpora_of_one_name_are_told_apart_where_they_are_renamed(stored: Store) -> None:
    upload(opened("Start"), GOLD, PREDICTION)
    assert recent_labels() == ["gold"]
    upload(opened("Start"), GOLD, GOLD)
    labels = recent_labels()
    assert len(set(labels)) == 2 and all(label.startswith("gold · ") for label in labels)


def recent_labels() -> list[str]:
    app = opened("Start", list_recent_edit=True)
    return list(app.selectbox(key="recent_corpus").options)


def test_names_of_recent_corpora_turn_no_writing_and_are_cut(stored: Store) -> None:
    files = {f"gold-\u202egnp.{'x' * 90}.jsonl": GOLD.encode(), "run<b>.jsonl": PREDICTION.encode()}
    settled(drop(opened("Start"), files).button(key="upload_read").click().run())
    [[name, systems, *_]] = listed(opened("Start"))
    assert name.startswith("gold-\\u202egnp.x") and name.endswith("…") and len(name) == recent.NAME
    assert systems == "run<b>"


def test_a_review_goes_on_from_start(stored: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(opened("Start"), GOLD, PREDICTION)
    loaded = caches.find(address(app)["corpus"])
    assert loaded is not None
    keeper = caches.shelf().keeper
    link = f"corpus={loaded.digest[:16]}&system=system0&decision=INC"
    keeper.note_progress(loaded, 3, 12, link, "another.sqlite")
    assert listed(opened("Start"))[0][3] == "–"
    keeper.note_progress(loaded, 3, 12, link, verdict_store.name())
    app = opened("Start")
    assert listed(app)[0][3] == "25.0%"
    app = opened_by(0, recent.DECIDED)
    assert title(app) == "Inspect" and address(app)["decision"] == "INC"
    # A name that is given later leaves the progress as it is.
    keeper.rename(loaded.key, "Notes")
    (entry,) = stored.entries()
    account = stored.account(entry)
    assert account is not None and (account.name, account.decided, account.records) == ("Notes", 3, 12)


def test_a_server_that_others_reach_offers_a_visitor_ones_own(stored: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(opened("Start"), GOLD, PREDICTION)
    monkeypatch.setattr(access, "LOOPBACK", ())
    app = opened("Start")
    headers = [one.value for one in app.header]
    assert not {"Recent corpora", "Your uploads"} & set(headers) and "Stored corpora" not in captions(app)


def test_a_clock_that_jumps_removes_no_upload(stored: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(opened("Start"), GOLD, PREDICTION)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 31 * 86_400)
    expired = remove_expired(30, {})
    assert len(expired) == 1
    monkeypatch.undo()
    assert remove_expired(30, expired) == {} and len(stored.entries()) == 1


def test_uploads_that_nobody_opens_expire(stored: Store) -> None:
    app = upload(opened("Start"), GOLD, PREDICTION)
    digest = address(app)["corpus"]
    (entry,) = stored.entries()
    week = 7 * 86_400
    assert remove_expired(7, remove_expired(7, {})) == {} and caches.find(digest) is not None
    used = time.time() - week - 60
    os.utime(entry.path, (used, used))
    expired = remove_expired(7, {})
    assert expired == {entry.key: pytest.approx(used)} and stored.entries()
    # Somebody opened it between two checks, if only for a moment.
    os.utime(entry.path, (used - 1, used - 1))
    expired = remove_expired(7, expired)
    assert stored.entries()
    remove_expired(7, expired)
    assert caches.find(digest) is None and list(stored.folder.iterdir()) == []


@pytest.fixture
def shared(stored: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A server that others reach; calling it says whose browser asks from now on."""
    monkeypatch.setattr(access, "LOOPBACK", ())

    def asked_by(name: str) -> None:
        monkeypatch.setattr(access, "browser", lambda: name)

    asked_by("ada")
    return asked_by


def aged(store: Store) -> float:
    """Make the one entry of a store two days old, and return the time when it was used."""
    (entry,) = store.entries()
    os.utime(entry.path, (entry.used - 2 * 86_400,) * 2)
    return store.entries()[0].used


def test_an_upload_is_marked_as_used_when_its_owner_opens_it_from_memory(
    stored: Store, shared: Callable[[str], None]
) -> None:
    digest = address(upload(opened("Start"), GOLD, PREDICTION))["corpus"]
    before = aged(stored)
    first = caches.find(digest)
    (entry,) = stored.entries()
    assert first is not None and entry.used > before + 86_400
    # Within an hour a second time changes nothing on the disk.
    minutes = entry.used - 600
    os.utime(entry.path, (minutes,) * 2)
    assert caches.find(digest) is first and stored.entries()[0].used == pytest.approx(minutes)


@pytest.mark.parametrize("in_memory", [True, False])
def test_asking_for_an_upload_of_somebody_else_neither_marks_nor_opens_it(
    in_memory: bool, stored: Store, shared: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = address(upload(opened("Start"), GOLD, PREDICTION))["corpus"]
    before = aged(stored)
    if not in_memory:
        caches.shelf.cache_clear()
    shared("eve")
    assert caches.find(digest) is None and caches.find(digest[:12]) is None
    assert stored.entries()[0].used == before
    if not in_memory:
        # Were it in memory, it would open without its entry.
        stored.clear()
        shared("ada")
        assert caches.find(digest) is None


def test_what_two_visitors_upload_is_two_corpora_also_if_all_texts_and_spans_are_the_same(
    stored: Store, shared: Callable[[str], None]
) -> None:
    def read_by(name: str, file: str) -> str:
        shared(name)
        app = drop(opened("Start"), {f"{file}-gold.jsonl": GOLD.encode(), "run.jsonl": PREDICTION.encode()})
        return address(settled(app.button(key="upload_read").click().run()))["corpus"]

    def start(name: str) -> AppTest:
        shared(name)
        return opened("Start", list_recent_edit=True)

    def seen_by(name: str) -> Loaded | None:
        shared(name)
        return caches.find(digest)

    digest = read_by("ada", "one")
    assert read_by("eve", "two") == digest and read_by("ben", "one") == digest
    ours, keys_of = caches.shelf().ownership, {}
    for restarted in (False, True):
        if restarted:
            caches.shelf.cache_clear()
        for name, file in (("ada", "one"), ("eve", "two"), ("ben", "one")):
            found = seen_by(name)
            assert found is not None and found.layers[0].source == f"{file}-gold.jsonl"
            keys_of[name] = found.key
    assert len(set(keys_of.values())) == 3
    link = ours.share(keys_of["ada"])
    ours.withdraw(keys_of["eve"])
    app = start("eve")
    app.text_input(key=f"recent_name_{digest}").set_value("Eve's notes")
    sound(app.button(key="recent_rename").click().run())
    names = {name: found.corpus.name for name in keys_of if (found := seen_by(name)) is not None}
    assert names["eve"] == "Eve's notes" and len(names) == 3 and "Eve's notes" not in (names["ada"], names["ben"])
    through = caches.find(link)
    assert through is not None and through.key == keys_of["ada"]
    sound(start("eve").button(key="recent_remove").click().run())
    assert {entry.key for entry in stored.entries()} == {keys_of["ada"], keys_of["ben"]}
    assert seen_by("eve") is None and seen_by("ada") is not None and seen_by("ben") is not None


def test_what_the_account_reads_on_its_machine_is_no_visitors(
    stored: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = address(upload(opened("Start"), GOLD, PREDICTION))["corpus"]
    folder = tmp_path / "served"
    folder.mkdir()
    for name in ("gold", "run"):
        (folder / f"{name}.tsv").write_text(TAGS)
    # However long the reading takes, the view has its corpus only then.
    monkeypatch.setattr(opening, "PATIENCE", 60)
    opening.begin_reading(Served(folder, ".", "gold.tsv", ["run.tsv"]))
    served = state.view().corpus
    assert served
    for restarted in (False, True):
        if restarted:
            caches.shelf.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(access, "LOOPBACK", ())
            assert caches.find(mine) is None and caches.find(served) is not None
        assert caches.find(mine) is not None


def test_a_damaged_corpus_is_not_offered(stored: Store) -> None:
    upload(opened("Start"), GOLD, PREDICTION)
    (entry,) = stored.entries()
    entry.path.write_bytes(entry.path.read_bytes()[:-9])
    assert stored.account(entry) is None
    assert "Recent corpora" not in [one.value for one in opened("Start").header]


def test_a_demo_is_not_stored(stored: Store) -> None:
    app = opened("Start")
    sound(app.button(key="demo-biology").click().run())
    assert stored.entries() == ()


def test_a_page_says_why_nothing_is_stored(stored: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path / "file"))
    caches.shelf.cache_clear()
    app = upload(opened("Start"), GOLD, PREDICTION)
    assert not app.error and "The corpus read last could not be stored: " in captions(app)


def test_what_is_said_of_a_corpus_is_plain(tmp_path: Path) -> None:
    """Nothing but JSON is in the directory of an entry, so that nothing is ever run by opening one."""
    loaded = read(Keeper(Store(tmp_path)))
    [entry] = Store(tmp_path).entries()
    kept = Store(tmp_path).of_input(entry.key)
    assert kept is not None and json.loads(json.dumps(kept.account)) == kept.account
    assert kept.account["options"] == asdict(loaded.options)


def test_stored_corpora_are_closed_and_open_again(tmp_path: Path) -> None:
    shelf = caches.Shelf(Keeper(Store(tmp_path / "store", 10**9)))
    stored = read(shelf.keeper)
    for one in (stored, DEMO):
        shelf.put(one)
    closed, digest = weakref.ref(stored), stored.digest
    del stored, one
    shelf.close_stored()
    gc.collect()
    assert closed() is None and shelf.find(DEMO.digest) is DEMO
    again = shelf.find(digest)
    assert again is not None and again.digest == digest


def test_a_corpus_that_the_store_threw_out_is_closed_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", 10**9)
    shelf = caches.Shelf(Keeper(store))
    digest = shelf.put(read(shelf.keeper))
    store.clear()
    assert shelf.find(digest) is not None
    shelf.close_stored()
    assert shelf.find(digest) is None
