"""The Review page in a browser: what it promises is what the copy that it hands out scores."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from nereval_core.cli import main
from nereval_core.review.store import ReviewStore
from tests.cli.test_review_apply_command import SYSTEMS, drafted
from tests.support.browser import Visit, serve_app
from tests.support.pages import DEMO, VIEW


def test_the_copy_scores_as_the_page_says(browser: Any, tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    store.give(drafted(DEMO, "rules"), "Ann")
    store.close()
    with serve_app("--review", str(tmp_path / "review.sqlite")) as address:
        visit = Visit(browser, address)
        visit.open("Review", VIEW)
        said = visit.page.get_by_test_id("stMetric").filter(has_text="F1 of rules under strict").inner_text()
        promised = re.findall(r"0\.\d{3}", said)[0]
        with visit.rerun():
            visit.page.get_by_text("Export and import", exact=True).click()
        visit.save("gold-corrected.jsonl", tmp_path / "gold-corrected.jsonl")
        visit.save("Log of changes (CSV)", tmp_path / "log.csv")
        visit.close()
    files = [str(tmp_path / "gold-corrected.jsonl"), str(SYSTEMS["rules"])]
    assert main(["score", *files, "-q", "--criteria", "strict", "--json", str(tmp_path / "scores.json")]) == 0
    scores = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert f"{scores['systems'][0]['criteria']['strict']['f1']:.3f}" == promised
    log = (tmp_path / "log.csv").read_text(encoding="utf-8")
    assert f"corrected sha256:{scores['gold']['sha256'][:16]}" in log
