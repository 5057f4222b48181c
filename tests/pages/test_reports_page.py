"""Download report on Overview: all systems, the records of the present view, and the command that makes it again."""

from __future__ import annotations

import argparse
import html
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nereval_core.api.load_options import LoadOptions
from nereval_core.options import offers
from nereval_core.pairing.selection import DocumentIds
from nereval_core.pairing.type_names import parse_types
from nereval_core.readers import Source
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.review.store import ReviewStore
from pages.shared.data import caches, masks, reference_layer, verdict_store
from pages.shared.data.loading import load
from pages.shared.data.page_context import PageContext
from pages.shared.frame import share_menu
from pages.shared.view import MASKED, View
from pages.shared.view.queries import query_of
from tests.cli.test_review_apply_command import drafted
from tests.support.pages import DEMO, VIEW, opened

ROOT = Path(__file__).parents[2]
VIEW_OF_TEAM = View(system="team")


def here(view: View) -> PageContext:
    loaded = masks.masked_corpus(DEMO) if view.mask else DEMO
    return PageContext(loaded, view, caches.settings_of(loaded.corpus.gold, view))


def test_the_button_is_there() -> None:
    app = opened("Overview", VIEW, menu="share")
    assert "Download report" in [one.proto.label for one in app.get("download_button")]


def test_it_holds_the_records_of_the_present_view() -> None:
    view = replace(VIEW, decision=("MIS",), criterion="partial")
    at = here(view)
    made = share_menu.report_html(at).decode()
    listed = at.ledger().total(query_of(view)).records
    assert made.count("<article") == listed > 5
    assert all("missed (MIS)" in head for head in re.findall("<h4>(.*?)</h4>", made))
    assert f"rules, all {listed} records" in made
    assert all(f"<bdi>{system}</bdi>" in made for system in at.systems)
    assert "criterion partial |" in made


def test_it_says_how_to_make_it_again() -> None:
    view = replace(VIEW, merge=(("PROTEINAS", "X Y"), ("UNCLEAR", "X Y")), leaveout=("NORMALIZABLES",), mask=MASKED)
    (line,) = re.findall("<code>(nereval report .*?)</code>", share_menu.report_html(here(view)).decode())
    words = shlex.split(html.unescape(line))
    assert words[:3] == ["nereval", "report", "gold.jsonl"]
    assert "rules=rules.jsonl" in words and words[words.index("--merge") + 1] == "PROTEINAS,UNCLEAR=X Y"
    assert words[words.index("--leave-out") + 1] == "NORMALIZABLES" and "--mask" in words


def test_its_command_runs_and_makes_the_same_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {"gold": "Ann B-PER|met O|Bob B-PER|in O|Rome B-LOC", "team": "Ann B-PER|met O|Bop I-PER|in O|Rome B-LOC"}
    for name, words in lines.items():
        (tmp_path / f"{name}.conll").write_text(words.replace("|", "\n") + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    types = parse_types("PER = person, or so\n", source="types")
    options = LoadOptions(repair="conlleval", token_text="gold", gold_types=types, pred_types=types)
    loaded = load("c", Source.of_path("gold.conll"), {"team": Source.of_path("team.conll")}, options)
    assert not loaded.problems
    page = PageContext(loaded, VIEW_OF_TEAM, caches.settings_of(loaded.corpus.gold, VIEW_OF_TEAM))
    made = share_menu.report_html(page).decode()
    (line,) = re.findall("<code>(.*?nereval report .*?)</code>", made)
    python = f"{shlex.quote(sys.executable)} -m nereval_core"
    command = html.unescape(line).replace("nereval report", f"{python} report")
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    again = (tmp_path / "report.html").read_text(encoding="utf-8")
    signatures = [re.findall("<code>(team: .*?)</code>", text) for text in (made, again)]
    assert signatures[0] == signatures[1] != []


EVERY_OPTION = LoadOptions(
    gold_format="conll",
    pred_column=3,
    scheme="iob2",
    labels=("O", "B-PER"),
    offsets=Offsets("UTF-16 units", 1, True),
    keys={"text": "content", "spans": "marks"},
    columns={"start": 3, "type": "kind"},
    edits=0.1,
    align_text=True,
    truncated="outside",
    documents=DocumentIds(("a", "b")),
    unplaced="drop",
)


def test_every_option_of_reading_is_read_again_from_its_command() -> None:
    parser = argparse.ArgumentParser()
    for name, offer in offers(LoadOptions).items():
        if offer.flag:
            kind = {"action": "store_true"} if EVERY_OPTION.align_text is True and name == "align_text" else {}
            parser.add_argument(offer.flag, dest=name, **kind)  # type: ignore[arg-type]
    words = vars(parser.parse_args(EVERY_OPTION.command_words()))
    read = {
        name: offers(LoadOptions)[name].parsed(value) for name, value in words.items() if value not in (None, False)
    }
    again = LoadOptions(**read)
    expected = replace(EVERY_OPTION, labels=again.labels, documents=again.documents)
    assert again == expected and again.labels.names == ("O", "B-PER")  # type: ignore[union-attr]
    assert again.documents is not None and again.documents.ids == ("a", "b")
    with_comma = LoadOptions(documents=DocumentIds(("a,b", "c")))
    assert with_comma.command_words() == ["--documents", "documents.txt"]
    assert with_comma.written_files() == {"documents.txt": ["a,b", "c"]}
    shared = LoadOptions(documents=DocumentIds(("a,b", "c")), common=True)
    assert shared.command_words() == ["--documents", "shared"] and not shared.written_files()


def test_masked_it_holds_nothing_of_the_text() -> None:
    made = share_menu.report_html(here(replace(VIEW, mask=MASKED))).decode()
    shown = re.sub("<[^>]*>", " ", "".join(re.findall("<article.*?</article>", made, re.DOTALL)))
    assert "xxxxx" in shown
    assert not re.findall(r"\b(?:aspirin|Aspirin|patient|treated|infusion)\b", shown)


def test_it_says_what_is_taken_as_gold_and_where_verdicts_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = replace(VIEW, reference="annotator-1", system="annotator-2")
    store = ReviewStore(tmp_path / "review.sqlite")
    store.give(drafted(DEMO, "rules")[:1], "Ann")
    store.close()
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    verdict_store._kept.cache_clear()
    verdict_store.refresh()
    loaded = reference_layer.with_reference(DEMO, "annotator-1")
    made = share_menu.report_html(PageContext(loaded, view, caches.settings_of(loaded.corpus.gold, view))).decode()
    verdict_store._kept.cache_clear()
    assert f"<title>{DEMO.corpus.name}, annotator-1 taken as gold</title>" in made
    assert "report annotator-1.jsonl annotator-2=annotator-2.jsonl" in made and "--review review.sqlite" in made


def test_records_of_one_system_only(monkeypatch: Any) -> None:
    monkeypatch.setattr(share_menu, "MOST", 3)
    made = share_menu.report_html(here(VIEW)).decode()
    assert made.count("<article") == 3 and "rules, the first 3 of " in made
