"""Pages over a scored folder show what they show over the same corpus in memory, and say what they cannot show."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.cli import main
from nereval_core.corpus import Documents
from nereval_core.engine import folder_records
from nereval_core.engine.scored_folder import MANIFEST, read
from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.records.queries import Query
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.scoring import Scores, score_layers
from nereval_core.tables.glossary import DECISIONS
from pages.shared.data import caches, scored_folders
from pages.shared.data.loading import DEMOS, load_demo
from pages.shared.view import View
from pages.shared.view.keys import VERDICT
from pages.shared.view.link import read_link
from tests.support.pages import address, heat_map, opened, sound, start_afresh
from tests.support.workbench import act, workbench


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A served folder with shards of the demo and what scoring them left."""
    folder = tmp_path_factory.mktemp("served")
    names = ("gold", *systems())
    for name in names:
        source = DEMOS / "pharmacology" / f"{name}.jsonl"
        assert main(["convert", str(source), str(folder / name), "--to", "jsonl", "--shards", "3", "--quiet"]) == 0
    places = [str(folder / name) for name in names]
    target = str(folder / "scored")
    assert main(["score", *places, "--engine", "local", "--criteria", "all", "--out", target, "--quiet"]) == 0
    return folder


def systems() -> tuple[str, ...]:
    return tuple(layer.name for layer in load_demo("pharmacology").corpus.systems)


@pytest.fixture
def served(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    start_afresh()
    caches.shelf.cache_clear()
    # Other tests star records of the same demo.
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    monkeypatch.setattr(caches, "served_folder", lambda: root)
    yield root
    start_afresh()
    caches.shelf.cache_clear()


def whole() -> tuple[Scores, Documents]:
    """Score the demo in memory, its documents as in the shards."""
    loaded = load_demo("pharmacology")
    settings = caches.settings_of(loaded.corpus.gold, View())
    return score_layers(loaded.corpus.gold, loaded.corpus.system(systems()[0]), settings), loaded.corpus.documents


def test_the_command_line_leaves_what_pages_read(root: Path) -> None:
    folder = read(root / "scored")
    scores, documents = whole()
    loaded = load_demo("pharmacology")
    for criterion in folder.settings.criteria:
        found = folder.ledger(systems()[0], criterion.name)
        memory = ledger(scores, criterion.name, (loaded.corpus.gold, loaded.corpus.system(systems()[0])))
        assert found.confusion() == memory.confusion()
        assert found.total(Query()) == memory.total(Query())
        for text in ("", "the", "a"):
            # Shards hold documents in the order of the file: so do lists.
            one, other = (each.page(Query(text=text), rows=10_000) for each in (found, memory))
            columns = [column for column in one if column not in ("doc", "gold", "pred")]
            assert one[columns].astype("object").equals(other[columns].astype("object"))
    assert len(scored_folders.open_folder(root / "scored", root).corpus.documents) == len(documents)


def test_a_folder_is_opened_at_start(served: Path) -> None:
    app = opened("Start")
    assert app.selectbox(key="scored_folder").options == ["scored"]
    app = sound(app.button(key="scored_open").click().run())
    assert any("scored folder" in table.value.get("format", pd.Series()).tolist() for table in app.dataframe)
    assert read(served / "scored").digest.startswith(address(app)["corpus"])


def shown(app: AppTest) -> list[str]:
    tables = [table.value.to_csv() for table in app.dataframe]
    page = app.session_state["page"]
    drawn = {"Inspect": lambda: workbench(app)["entries"], "Confusion": lambda: heat_map(app)["texts"]}
    return [*tables, json.dumps(drawn[page]())] if page in drawn else tables


@pytest.mark.parametrize(
    ("page", "change"),
    [
        ("Overview", {}),
        ("Overview", {"criterion": "fragment", "overview_tab": "all-criteria"}),
        ("Confusion", {}),
        ("Inspect", {}),
        ("Inspect", {"decision": DECISIONS, "type": ("Drug",), "q": "the"}),
        ("Inspect", {"order": "longest", "criterion": "type"}),
    ],
)
def test_a_page_shows_what_it_shows_in_memory(served: Path, page: str, change: dict[str, object]) -> None:
    view = View(system=systems()[0], **change)  # type: ignore[arg-type]
    folder, memory = (
        opened(page, replace(view, corpus=digest), menu="types")
        for digest in (read(served / "scored").digest, load_demo("pharmacology").corpus.digest)
    )
    assert shown(folder) == shown(memory) and shown(folder)
    # The types of a folder are as they were.
    offered = [[box.label for box in app.multiselect] for app in (folder, memory)]
    assert [boxes.count("Types shown in lists") for boxes in offered] == [1, 1]
    assert [boxes.count("Types left out") for boxes in offered] == [0, 1]
    signatures = [[code.value for code in app.code if "sha256" in code.value] for app in (folder, memory)]
    assert signatures[0] == signatures[1] and len(signatures[0]) == (page == "Overview")


def test_the_texts_of_a_folder_are_those_in_memory(served: Path) -> None:
    view = View(corpus=read(served / "scored").digest, system=systems()[0])
    app, memory = (
        opened("Inspect", replace(view, corpus=digest))
        for digest in (view.corpus, load_demo("pharmacology").corpus.digest)
    )
    for _ in range(3):
        one, other = workbench(app), workbench(memory)
        assert all(one[name] == other[name] for name in ("texts", "open", "at", "total"))
        assert {key: card["reason"] for key, card in one["cards"].items()} == {
            key: card["reason"] for key, card in other["cards"].items()
        }
        app, memory = act(app, "j"), act(memory, "j")


def test_a_folder_has_no_verdicts_and_it_is_said_why(served: Path) -> None:
    app = opened("Inspect", View(corpus=read(served / "scored").digest, system=systems()[0]))
    assert "Verdicts are not given on a scored folder" in workbench(app)["verdicts"]["reason"]
    assert not [button.key for button in app.button if (button.key or "").startswith(VERDICT)]


def test_records_of_a_folder_are_starred_and_presented(served: Path) -> None:
    view = View(corpus=read(served / "scored").digest, system=systems()[0])
    app = opened("Inspect", view)
    app = act(act(app, "j"), "star")
    found = read_link(address(app))[0]
    # A link that names the playlist alone finds the folder by its digest.
    app = opened("Present", View(playlist=found.playlist, slide="record"))
    assert address(app)["corpus"] == view.corpus[:16] and any("<h1>" in one.proto.body for one in app.get("html"))
    playlist = PlaylistStore(ReviewStore.of_environment()).playlists().find(found.playlist)
    assert playlist is not None
    item = f"{found.playlist}/{playlist.items[-1].uid[:12]}"
    for shown in (replace(found, playlist=""), View(playlist=item)):
        app = opened("Present", replace(shown, slide="record"))
        assert any('<p class="nvs-decision">' in one.proto.body for one in app.get("html"))
        assert address(app)["record"] == found.record


@pytest.mark.parametrize("page", ["Linking", "Criteria", "Slices", "Systems"])
def test_what_needs_all_spans_says_where_to_go(served: Path, page: str) -> None:
    app = opened(page, View(corpus=read(served / "scored").digest, system=systems()[0]))
    assert "Overview, Confusion and Inspect show it" in app.info[0].value
    assert not app.dataframe


def test_a_link_may_not_change_how_it_was_scored(served: Path) -> None:
    view = View(corpus=read(served / "scored").digest, system=systems()[0], criterion="seqeval", leaveout=("Drug",))
    app = opened("Overview", view)
    assert "a scored folder has its own" in app.warning[0].value and "seqeval" in app.warning[0].value
    assert shown(app) == shown(opened("Overview", replace(view, criterion="strict", leaveout=())))


def test_parts_are_said_to_be_parts(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_records, "SORTED_RECORDS", 3)
    monkeypatch.setattr(folder_records, "OFFERED_RECORDS", 3)
    view = View(corpus=read(served / "scored").digest, system=systems()[0])
    app = opened("Inspect", replace(view, order="text"))
    captions = " ".join(caption.value for caption in app.caption)
    assert "not sorted by text" in captions and "the first 3 records" in captions
    assert shown(app) == shown(opened("Inspect", view))


@pytest.mark.parametrize("harm", ["manifest", "form", "index", "shard"])
def test_a_damaged_folder_is_told_and_the_rest_goes_on(
    harm: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_afresh()
    caches.shelf.cache_clear()
    shutil.copytree(root / "scored", tmp_path / "scored")
    digest = read(root / "scored").digest
    manifest = tmp_path / "scored" / MANIFEST
    if harm == "manifest":
        manifest.write_text(manifest.read_text()[:-40])
    elif harm == "form":
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"form": 99}))
    elif harm == "index":
        (tmp_path / "scored" / "index" / "0.0.columns").unlink()
    else:
        for file in (tmp_path / "scored" / "columns").iterdir():
            file.write_bytes(file.read_bytes()[:-5])
    monkeypatch.setattr(caches, "served_folder", lambda: tmp_path)
    if harm in ("manifest", "form"):
        app = sound(opened("Start").button(key="scored_open").click().run())
        assert len(app.error) == 1 and str(tmp_path / "scored") in app.code[0].value
        assert opened("Overview", View(corpus=digest)).info
    else:
        app = opened("Inspect", View(corpus=digest, system=systems()[0]))
        assert len(app.error) == 1
        assert {"index": "0.0.columns: No such file", "shard": "shard 1 of 3: damaged"}[harm] in app.code[0].value
    assert opened("Overview", View(corpus=load_demo("pharmacology").corpus.digest)).dataframe
    start_afresh()
    caches.shelf.cache_clear()


@pytest.mark.parametrize("name", ["columns", "index", "counts", "scored.json", "columns/*", "index/*"])
def test_links_of_a_scored_folder_stay_inside(name: str, root: Path, tmp_path: Path) -> None:
    served, outside = tmp_path / "served", tmp_path / "outside"
    for place in (served, outside):
        shutil.copytree(root / "scored", place / "scored")
    shutil.copytree(root / "scored", served / "own")
    for target, refused in ((served / "own", False), (outside / "scored", True)):
        for path in (served / "scored").glob(name):
            path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)
            path.symlink_to(target / path.relative_to(served / "scored"))
        start_afresh()
        caches.shelf.cache_clear()
        found = []
        try:
            loaded = scored_folders.open_folder(served / "scored", served)
            found.append(loaded.corpus.documents.texts[0])
            assert loaded.folder is not None
            loaded.folder.ledger(loaded.start, "strict").total(Query())
            loaded.folder.scores(loaded.start).by_document("strict")
        except FormatError as error:
            assert refused and "outside the folder being served" in str(error)
        else:
            assert found and not refused
