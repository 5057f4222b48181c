"""Download report on Overview: all systems, the records of the present view, and the command that makes it again."""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nereval_core.review.store import ReviewStore
from pages.shared.data import caches, masks, reference_layer, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.frame import share_menu
from pages.shared.view import MASKED, View
from pages.shared.view.queries import query_of
from tests.cli.test_review_apply_command import drafted
from tests.support.pages import DEMO, VIEW, opened


def here(view: View) -> PageContext:
    loaded = masks.masked_corpus(DEMO) if view.mask else DEMO
    return PageContext(loaded, view, caches.settings_of(loaded.corpus.gold, view))


def test_the_button_is_there() -> None:
    app = opened("Overview", VIEW, bar_share_menu=True)
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
