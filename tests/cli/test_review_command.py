"""The command `review`: export, import and list, each with its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nereval_core.cli import main
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft, Key, Marked, Seen, Verdict, text_digest
from tests.support.databases import emptied

TEXT = "Ann took aspirin and then more aspirin."
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `review` in a folder with a corpus, over a store of three verdicts: status, standard output and error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEREVAL_REVIEW_URL")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    spans = [{"start": 9, "end": 16, "label": "Drug"}]
    Path("gold.jsonl").write_text(json.dumps({"id": "d1", "text": TEXT, "spans": spans}) + "\n")
    store = ReviewStore("own.sqlite")
    for who, at, kind in (("Ann", 9, "gold"), ("Bob", 31, "neither"), ("Ann", 17, "unclear")):
        span = Marked(((at, at + 7),), "Drug")
        text = TEXT if at != 17 else f"{TEXT} "
        seen = Seen.of("d1" if at != 17 else "d9", text, span)
        note = "x" * 100 if who == "Bob" else "=1+1\x1b[2J"
        store.give([Draft(Verdict(Key(text_digest(text), "gold", span), kind, seen, note=note))], who)  # type: ignore[arg-type]
    store.close()

    def review(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main(["review", *arguments])
        out, err = capfd.readouterr()
        return status, out, err

    return review


def test_what_is_exported_is_imported_into_the_users_store(run: Run) -> None:
    status, out, err = run("export", "--review", "own.sqlite")
    assert (status, len(out.splitlines())) == (0, 3) and err.endswith("own.sqlite: 3 verdicts exported\n")
    assert run("export", "out.jsonl", "--review", "own.sqlite")[:2] == (0, "")
    assert Path("out.jsonl").read_text() == out
    assert run("list")[2].endswith("review.sqlite: 0 verdicts\n") and not Path("data").exists()
    assert run("import", "out.jsonl") == (
        0,
        "",
        f"{Path('data/nereval/review.sqlite').absolute()}: 3 verdicts imported, 0 known before\n",
    )
    assert "0 verdicts imported, 3 known before" in run("import", "out.jsonl")[2]
    assert run("export")[1] == out


@pytest.mark.parametrize("words", [("list",), ("export",), ("backup", "copy.sqlite")], ids=lambda words: words[0])
def test_a_store_that_is_named_exists(words: tuple[str, ...], run: Run) -> None:
    refusal = "none.sqlite: there is no such file; name the file that holds the verdicts\n"
    assert run(*words, "--review", "none.sqlite") == (2, "", refusal)
    assert not Path("none.sqlite").exists() and not Path("copy.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "replaced"),
    [
        ("{export}", True),
        ("\n{export}{export}", True),
        ("", True),
        ("{gold}", False),
        ('{{"uid": "0"}}\n{export}', False),
        ("notes\n{export}", False),
        ("\ufeff", True),
        ("\0\xff", False),
    ],
)
def test_an_export_replaces_earlier_exports_alone(run: Run, content: str, replaced: bool) -> None:
    export = run("export", "--review", "own.sqlite")[1]
    old = content.format(export=export, gold=Path("gold.jsonl").read_text())
    Path("out.jsonl").write_text(old)
    status, out, err = run("export", "out.jsonl", "--review", "own.sqlite")
    assert (status, out, len(err.splitlines())) == (0 if replaced else 2, "", 1)
    assert Path("out.jsonl").read_text() == (export if replaced else old)
    assert ("out.jsonl: the file is not an earlier export of verdicts" in err) is not replaced


def test_what_was_decided_apart_is_printed(run: Run) -> None:
    Path("line.jsonl").write_text(run("export", "--review", "own.sqlite")[1].replace("a", "b", 0))
    store = ReviewStore("other.sqlite")
    span = Marked(((9, 16),), "Drug")
    store.give([Draft(Verdict(Key(text_digest(TEXT), "gold", span), "both", Seen.of("d1", TEXT, span)))], "Eve")
    store.close()
    status, out, err = run("import", "line.jsonl", "--review", "other.sqlite")
    assert status == 0 and err.endswith(
        "2 verdicts imported, 0 known before, 1 span with conflicting verdicts, not imported\n"
    )
    assert out.startswith("conflict: 'aspirin' in 'd1', gold: here Eve on ") and out.count("\n") == 1


def test_verdicts_are_listed_by_reviewer_kind_and_staleness(run: Run) -> None:
    own = ("--review", "own.sqlite")
    status, out, err = run("list", *own)
    assert status == 0 and "3 verdicts" in err
    assert "d1        g:9-16:Drug   aspirin  gold is right                " in out
    # What would move the cursor is written out, and what is long is cut before another column.
    assert "=1+1\\x1b[2J" in out and "x" * 100 in out
    assert f"{'x' * 59}…" in run("list", "gold.jsonl", *own)[1]

    def listed(*arguments: str) -> list[dict[str, str]]:
        status, out, _ = run("list", *arguments, *own, "--json", "-")
        assert status == 0
        rows: list[dict[str, str]] = json.loads(out)["verdicts"]
        return rows

    assert [row["record"] for row in listed("--reviewer", "Ann")] == ["g:9-16:Drug", "g:17-24:Drug"]
    (row,) = listed("--kind", "neither")
    assert (row["who"], row["right"], row["note"]) == ("Bob", "no entity", "x" * 100)
    assert [row["stale"] for row in listed("gold.jsonl")] == ["no", "yes", None]
    assert [row["record"] for row in listed("gold.jsonl", "--stale")] == ["g:31-38:Drug"]
    assert "'=1+1" in run("list", *own, "--csv", "-")[1]


def test_predictions_without_texts_are_listed_in_those_of_gold(run: Run) -> None:
    """Folders of .ann files alone, as shared tasks collect them; `review apply` reads them likewise."""
    Path("predictions").mkdir()
    Path("predictions/d1.ann").write_text("T1\tDrug 31 38\taspirin\n")
    status, out, err = run("list", "gold.jsonl", "predictions", "--review", "own.sqlite")
    assert (status, len(out.splitlines())) == (0, 5) and err.endswith("own.sqlite: 3 verdicts\n")
    assert run("list", "predictions", "--review", "own.sqlite")[0] == 2


def test_lines_written_by_hand_name_a_document_of_the_corpus(run: Run) -> None:
    line = {"document": "d1", "span": {"fragments": [[9, 16]], "type": "Drug"}, "quote": "aspirin", "kind": "both"}
    Path("hand.jsonl").write_text(json.dumps(line))
    assert "a verdict without uid; name the corpus" in run("import", "hand.jsonl")[2]
    assert "no name of a reviewer" in run("import", "hand.jsonl", "gold.jsonl")[2]
    status, _, err = run("import", "hand.jsonl", "gold.jsonl", "--reviewer", "Max")
    assert status == 0 and "1 verdict imported" in err
    assert "Max" in run("list")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "a", "b"), "unrecognized arguments: b"),
        (("list", "--kind", "maybe"), "--kind: there is no 'maybe'; choose among gold, pred, both, neither"),
        (("export", "own.sqlite", "--review", "own.sqlite"), "'own.sqlite' would be overwritten"),
        (("list", "gold.jsonl", "--csv", "gold.jsonl"), "'gold.jsonl' would be overwritten"),
        (("list", "--json", "x", "--csv", "x"), "two outputs have one place"),
        (("list", "--stale"), "--stale needs a corpus"),
        (("import",), "the following arguments are required: FILE"),
        (("import", "none.jsonl"), "none.jsonl: cannot be used: No such file or directory"),
        (("import", "own.sqlite"), "own.sqlite:1: "),
        (("list", "none.jsonl"), "none.jsonl: "),
        (("list", "--review", "gold.jsonl"), "gold.jsonl: this is not a database of SQLite; name another file"),
        (("list", "--review", "."), ": a folder stands there; name a file"),
        (("import", "out.jsonl", "--review", "gold.jsonl/x/y"), "Not a directory; name another file"),
        (("import", "out.jsonl", "--review", "/proc/x/y"), "No such file or directory; name another file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_with_status_2(run: Run, arguments: tuple[str, ...], said: str) -> None:
    if "out.jsonl" in arguments:
        run("export", "out.jsonl", "--review", "own.sqlite")
    before = sorted(Path().iterdir())
    status, out, err = run(*arguments)
    assert (status, out) == (2, "") and said in err
    assert "Traceback" not in err and len(err.splitlines()) <= 21
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_verdicts_of_a_database_are_applied_as_those_of_its_file(
    kind: str, run: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Verbs that only read take the URL of a database, and refuse one that is not there."""
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    if kind == "postgresql":
        url = request.getfixturevalue("server").url
        emptied(ReviewStore(url)).close()
    assert run("export", "out.jsonl", "--review", "own.sqlite")[0] == 0
    assert run("import", "out.jsonl", "--review", url)[0] == 0
    for verb, files in (("apply", ["gold.jsonl"]), ("adjudicate", ["gold.jsonl", "gold.jsonl"])):
        counts = []
        for name, place in (("file", "own.sqlite"), ("url", url)):
            status, _, err = run(verb, *files, "--out", f"{verb}-{name}.jsonl", "--review", place, "-q")
            assert status == 0, err
            counts.append(err)
        assert counts[0] == counts[1] and "1 verdict applied to 1 place" in counts[0], counts
        assert Path(f"{verb}-url.jsonl").read_bytes() == Path(f"{verb}-file.jsonl").read_bytes()
    assert run("what-if", "gold.jsonl", "gold.jsonl", "--review", url, "-q")[0] == 0


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("sqlite:///nowhere.sqlite", "sqlite:///nowhere.sqlite: there is no such file; name the file that holds"),
        ("postgresql://localhost:1/none", "postgresql://localhost:1/none: connection failed: "),
        ("mysql://x/y", "NEREVAL_REVIEW_URL: a database of the kind mysql; use PostgreSQL or SQLite"),
    ],
)
def test_a_database_that_cannot_be_read_is_refused_in_a_line(url: str, line: str, run: Run) -> None:
    status, out, err = run("apply", "gold.jsonl", "--out", "corrected.jsonl", "--review", url)
    assert (status, out) == (2, "") and err.startswith(line) and err.count("\n") == 1
    assert not Path("corrected.jsonl").exists() and not Path("nowhere.sqlite").exists()
