"""Every script of endurance runs briefly, counts nothing that must not happen, and sees it where it happens."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import random
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from nereval_core.corpus.masking import masked_text
from nereval_core.report.figures.files import paper_file
from tests.endurance import (
    bombs,
    damaged_stores,
    forged_values,
    full_disks,
    fuzzed_inputs,
    killed_reviewers,
    masking,
    neighbours,
    people,
    raw_requests,
    second_account,
    swapped_links,
    tries,
    week,
)
from tests.endurance.__main__ import NEVER, main
from tests.endurance.damaged_stores import Damaged
from tests.endurance.fuzzed_inputs import Given, Inputs
from tests.endurance.kept_things import KINDS
from tests.endurance.tries import FAILURES, FailedTryError, Try, make_tries
from tests.support.browser import Visit
from tests.support.markers import Search, markers
from tests.support.traps import Trap


def test_nothing_outside_is_read_while_links_are_swapped(tmp_path: Path) -> None:
    counts = swapped_links.run(tmp_path, lambda tries: tries < 2_000)
    assert counts["leaks"] == 0
    # Both were seen: what leads inside is read, and what leads outside is refused.
    assert counts["read"] > 100 and counts["refused"] > 100


def test_a_script_tries_something_however_long_it_prepares(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tests.endurance", "fuzzed-inputs", "--seconds", "0"])
    assert main() == 0 and "tries: 1" in capsys.readouterr().out


def test_fuzzed_inputs_are_read_or_refused(tmp_path: Path) -> None:
    counts = fuzzed_inputs.run(tmp_path, lambda tries: tries < 400)
    assert (counts["tries"], counts[FAILURES]) == (400, 0)
    assert min(counts["read"], counts["refused"]) > 40 and min(counts["upload"], counts["archive"]) > 20


def test_damaged_stores_answer_as_before_or_not(tmp_path: Path) -> None:
    counts = damaged_stores.run(tmp_path, lambda tries: tries < 75)
    assert (counts["tries"], counts[FAILURES]) == (75, 0)
    assert all(counts[kind.name] > 0 for kind in KINDS)
    examined = [name for name in counts if name.startswith("examined")]
    assert counts["refused"] > 5 and len(examined) > 3


def test_verdicts_of_killed_reviewers_are_there_or_refused(tmp_path: Path) -> None:
    counts = killed_reviewers.run(tmp_path, lambda tries: tries < 4, processes=2)
    assert (counts["tries"], counts[FAILURES]) == (4, 0)


def test_no_bomb_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = bombs.run(tmp_path, lambda tries: tries < 2)
    assert (counts["tries"], counts[FAILURES]) == (2, 0)
    gold = tmp_path / "gold.jsonl"
    gold.write_text(bombs.GOLD)
    monkeypatch.setattr(bombs, "MOST_BYTES", 1_000_000)
    with pytest.raises(FailedTryError, match="takes too much"):
        bombs.read(gold, gold)


def test_verdicts_on_full_disks_are_kept_or_refused(tmp_path: Path) -> None:
    counts = full_disks.run(tmp_path, lambda tries: tries < 4)
    assert (counts["tries"], counts[FAILURES]) == (4, 0)
    if counts[full_disks.NOT_MOUNTED]:
        pytest.skip("only root may mount a small disk")
    assert min(counts["kept"], counts["refused"]) > 5


def test_nothing_of_another_account_is_used(tmp_path: Path) -> None:
    counts = second_account.run(tmp_path, lambda tries: tries < 24)
    assert (counts["tries"], counts[FAILURES]) == (24, 0)
    if counts[second_account.NOT_ROOT]:
        pytest.skip("only root may act as another account")
    assert {f"{attack}: used" in counts or f"{attack}: refused" in counts for attack in second_account.ATTACKS} == {
        True
    }


def test_raw_requests_without_a_pass_are_answered_nothing(tmp_path: Path) -> None:
    counts = raw_requests.run(tmp_path, lambda tries, share=1.0: tries < 100)
    assert not [name for name in NEVER if counts[name]]
    assert counts["requests sent"] == 100 and counts["status 401"] > 10 and counts["status 403"] > 10


@pytest.mark.parametrize(
    ("answer", "outcomes"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nok", [("200", False)]),
        (b"HTTP/1.1 200 OK\r\n\r\n<title>Streamlit</title>", [("200", True)]),
        (b"HTTP/1.1 404 No\r\n\r\nHTTP/1.1 101 Go\r\n\r\n", [("404", False), ("101", True)]),
        (b"HTTP/1.1 401 No\r\n\r\nzqaaaaaqz", [("401", True)]),
    ],
)
def test_answers_that_need_a_pass_are_seen(answer: bytes, outcomes: list[tuple[str, bool]]) -> None:
    assert list(raw_requests._outcomes(answer, "zqaaaaaqz")) == outcomes


def test_no_forged_value_makes_a_page_run_for_ever(tmp_path: Path) -> None:
    counts = forged_values.run(tmp_path, lambda tries, share=1.0: tries < 15)
    assert counts["endless"] == 0 and min(counts["taken"], counts["refused"]) > 0


def prepare_faults(folder: Path) -> Try:
    """Make tries of which some fail, each in another way."""

    def fails(number: int) -> Iterator[str]:
        if number == 12:
            os.abort()
        if number == 13:
            time.sleep(600)
        if number in (14, 15):
            raise FailedTryError("of one kind", f"input {number}")
        if number == 16:
            raise KeyError(number)
        yield "done"

    return fails


def test_tries_that_fail_hang_or_end_their_process_are_counted_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tries, "LOST_SECONDS", 1.0)
    counts = make_tries(prepare_faults, tmp_path, lambda tries: tries < 10, first=10)
    assert counts == {"tries": 10, "done": 5, FAILURES: 5}
    said = capfd.readouterr().err
    for number, kind in (
        (12, "the process ended with status -6"),
        (13, "not done after 1 seconds"),
        (14, "of one kind"),
        (16, "KeyError at test_endurance.py"),
    ):
        assert f"--first {number} --tries 1: {kind}" in said
    assert "input 14" in said and "input 15" not in said and 'test_endurance.py", line' in said


def prepare_broken_inputs(folder: Path) -> Try:
    """Let each input break another promise."""
    inputs = Inputs(folder)

    def writes_outside() -> None:
        (folder / ".." / "outside").touch()

    def leaves_a_file() -> None:
        (inputs.work / "left").touch()

    def takes_memory() -> None:
        bytearray(600 << 20)[:: 1 << 12] = b"x" * (600 << 8)

    def starts_a_process() -> None:
        os.system("true")

    faults: tuple[Callable[[], None], ...] = (writes_outside, leaves_a_file, takes_memory, starts_a_process)

    def given(drawn: random.Random) -> Given:
        fault = faults[inputs_made.pop()]

        def reads() -> Iterator[str]:
            fault()
            yield "read"

        return "fault", {}, reads

    inputs_made = list(range(len(faults)))
    inputs._given = given  # type: ignore[method-assign]
    return inputs.make


def test_promises_that_inputs_break_are_seen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert make_tries(prepare_broken_inputs, tmp_path, lambda tries: tries < 4) == {"tries": 4, FAILURES: 4}
    said = capfd.readouterr().err
    for kind in ("reached out of the temporary folder: open", "left behind", "more than 500 MB", "os.system"):
        assert kind in said


def prepare_unchecked(folder: Path) -> Try:
    """Map the columns of scored folders without looking at what stands in them."""
    from nereval_core.engine import record_columns as shard

    shard.CHECKED_BYTES = 0
    return Damaged(folder / "own", [kind for kind in KINDS if kind.name == "scored folders"]).make


def test_other_answers_of_what_is_damaged_are_seen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    counts = make_tries(prepare_unchecked, tmp_path, lambda tries: tries < 120)
    assert counts[FAILURES] > 0 and "scored folders: another answer" in capfd.readouterr().err


def test_nobody_is_sent_a_word_of_another(tmp_path: Path) -> None:
    counts = people.run(
        tmp_path, lambda clicks, share=1.0: clicks < 30, visitors=2, pause=(0, 0), rounds=1, first_turns=1
    )
    assert counts["foreign texts"] == counts["errors"] == counts["lost verdicts"] == 0
    assert counts["own texts"] > 100 and counts["verdicts"] >= 2 and counts["links of others"] > 0


def test_memory_that_does_not_come_back_is_seen() -> None:
    # Measured with 20 people, and with 50.
    assert people.grown((258, 336, 328, 344)) == people.grown((254, 345, 362, 365)) == 0
    assert people.grown((258, 400)) == people.grown((258, 336, 380)) == 1
    assert people.grown((258, 300, 340, 380)) == 2


def test_a_killed_server_loses_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    counts = week.run(tmp_path, lambda sessions, share=1.0: True, sessions=10, tenths=2, killed=1)
    assert counts["foreign texts"] == counts["errors"] == counts["lost verdicts"] == counts["lost uploads"] == 0
    assert counts["temporaries"] == counts["processes"] == 0
    assert counts["kills"] == 1 and counts["verdicts"] >= 100 and counts["opened again"] >= 1


# What computing beside somebody costs is for a quiet machine to say.
@pytest.mark.nightly
def test_neighbours_compute_while_somebody_clicks(tmp_path: Path) -> None:
    counts = neighbours.run(tmp_path, lambda tries, share=1.0: False, spans=1_000, megabytes=1, tangled=200, quiet=2)
    assert counts["errors"] == 0
    assert len([name for name, count in counts.items() if name.endswith(": clicks") and count]) == 5


@pytest.mark.browser
def test_other_sites_lead_here_and_reach_nothing(tmp_path: Path, browser: Any) -> None:
    # Not by tests that have no browser: it takes long to import.
    from tests.endurance import cross_site

    counts = cross_site.run(tmp_path, lambda clicks, share=1.0: clicks < 3, browser=browser, servers=(("https", ()),))
    # An attack from each of two sites.
    assert (counts["clicks"], counts["attacks"]) == (3, 2)
    assert [counts[name] for name in ("errors", "leaks", "lost uploads")] == [0, 0, 0]


@pytest.mark.browser
@pytest.mark.nightly
def test_what_other_sites_reach_is_seen(tmp_path: Path, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.endurance import cross_site

    # Streamlit then connects pages of all origins, and lets them read.
    monkeypatch.setenv("STREAMLIT_SERVER_ENABLE_CORS", "false")
    counts = cross_site.run(tmp_path, lambda clicks, share=1.0: clicks < 3, browser=browser, servers=(("http", ()),))
    # A cookie of another port of this machine is not kept from it.
    assert counts["attacks"] == 2 and counts["leaks"] > 0


@pytest.mark.browser
def test_no_payload_runs(tmp_path: Path, browser: Any) -> None:
    # Not by tests that have no browser: it takes long to import.
    from tests.endurance import payloads

    counts = payloads.run(tmp_path, lambda views: views < 2, together=40, steps=False, browser=browser)
    assert not [name for name in NEVER if counts[name]]
    assert counts["views"] == 2 and counts["payloads"] > 30


@pytest.mark.browser
def test_what_a_payload_does_is_seen(browser: Any, app: str, tmp_path: Path) -> None:
    trap = Trap(Visit(browser, app))
    file = tmp_path / "saved.html"
    file.write_text(
        "<script>nereval_ran(1)</script><img class=zq src=https://payload.example/2.png><svg><text><tspan>zq3</tspan>"
        "</text></svg><a href='javascript:nereval_ran(4)'></a><div data-testid=stMarkdownContainer><em>zq5</em></div>"
    )
    trap.look_at_file(file)
    trap.visit.context.close()
    assert ("ran", "1") in trap.found and trap.counts()["requests"] == 1
    made = " ".join(words for kind, words in trap.found if kind == "made")
    assert all(one in made for one in ("element: <img", "address: <a", "markup: <tspan", "markup: <em"))


def test_cells_that_are_formulas_and_commands_are_seen(tmp_path: Path) -> None:
    from tests.endurance.payload_walk import formulas

    table = tmp_path / "table.csv"
    table.write_text("=1+1,-0.5,'=1+1\n@a,plain,+b\n", encoding="utf-8")
    assert list(formulas(table)) == ["=1+1", "@a", "+b"]
    paper = tmp_path / "table.tex"
    paper.write_text("% \\input{a comment}\n\\textbackslash{}input\\{x\\} & \\href{y} \\\\\n", encoding="utf-8")
    assert list(formulas(paper)) == ["\\href{"]


@pytest.mark.parametrize("word", markers(3))
def test_pieces_of_words_are_seen_however_they_are_written(word: str) -> None:
    search, text = Search(markers(6)), f"about {word} and what else is said"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("sheet.xml", text)
    utf_8 = text.encode()
    for raw in (
        *(utf_8, text.upper().encode(), text[::-1].encode(), word[2:6].encode(), json.dumps(text).encode()),
        *("".join(f"%{byte:02X}" for byte in utf_8).encode(), "".join(f"&#{ord(char)};" for char in text).encode()),
        *(base64.b64encode(b"12" + utf_8), base64.urlsafe_b64encode(utf_8), utf_8.hex().encode()),
        *(text.encode("utf-16-le"), b"1" + text.encode("utf-16-be"), gzip.compress(utf_8), archive.getvalue()),
    ):
        assert search.found(raw) == {word}, raw
    assert not search.found(utf_8, [word]) and not search.found(b"X" * 99 + masked_text(text).encode())


@pytest.mark.browser
def test_pieces_of_words_are_seen_in_the_shapes_of_a_pdf() -> None:
    words = markers(3)
    drawn = paper_file(go.Figure(go.Bar(x=words, y=[1, 2, 3])), "f.pdf", 84)
    assert Search(markers(6)).found(drawn) == set(words)


def test_a_masking_server_sends_none_of_the_texts(tmp_path: Path) -> None:
    # Of a corpus that was read, and of a scored folder.
    counts = masking.run(tmp_path, lambda views: views < 2, drawn=False)
    assert not [name for name in NEVER if counts[name]]
    assert counts["messages"] > 500 and counts["files"] > 5 and counts["quoting"] > 0
