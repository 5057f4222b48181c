"""Published scorers shard by shard: those whose counts add up give what one process gives; the others are refused."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.cli import main
from nereval_core.conventions import conventions
from nereval_core.conventions.outcome import add_tables
from nereval_core.engine.tally import Tally, goes_by_shards
from tests.support.commands import SIDES, Cli, corpus, written
from tests.support.draws import draws

ABLE = tuple(name for name, convention in conventions().items() if goes_by_shards(convention))
REFUSED = tuple(name for name in conventions() if name not in ABLE)
WORDS = ((0, 3), (4, 7), (8, 11), (12, 14))
"""The tokens that all documents of `corpus` begin with."""
NERVALUATE = ("nervaluate-1.2.1", "nervaluate-1.1.0", "nervaluate-0.3.1")
OPTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "nervaluate-1.2.1": (
        (),
        ("--tags", "A,C,Z"),
        ("--min_overlap_percentage", "60", "--as-reference", "text-partial"),
        ("--as-reference", "csv"),
    ),
    "nervaluate-1.1.0": ((), ("--tags", "B", "--as-reference", "text")),
    "nervaluate-0.3.1": ((), ("--tags", "Z,A"), ("--as-reference", "text-exact")),
    "conlleval": ((), ("--as-reference", "text"), ("--r", "--o", "B"), ("--l", "--as-reference", "text")),
    "pharmaconer": ((), ("--as-reference", "text")),
    "biocreative": ((),),
    "jnlpba-2004-10": ((), ("--as-reference", "text")),
    "bc5cdr": ((), ("--types", "A,B,Z")),
    "seqeval": ((), ("--suffix", "--as-reference", "text"), ("--zero-division", "1", "--as-reference", "json")),
    "seqscore": (
        (),
        ("--labels", "BMEOW", "--full-precision", "--as-reference", "delim"),
        ("--repair-method", "discard"),
    ),
    "spacy-ents": ((), ("--as-reference", "json")),
    "spacy-spans": ((), ("--as-reference", "json")),
    "semeval-2013-9.1": ((), ("--as-reference", "figures")),
    "smm4h-2022": ((), ("--as-reference", "text")),
    "symptemist": ((), ("--as-reference", "text")),
    "meddocan": ((), ("--sentences", "9", "--as-reference", "text")),
    "faireval": ((), ("--focus", "system", "--weights", "default"), ("--as-reference", "csv")),
}
"""By convention, what it is asked with."""


def scored(target: Path, *arguments: str) -> tuple[int, list[bytes]]:
    """Score into files; return the exit status and what they hold."""
    files = [target.with_suffix(f".{form}") for form in ("json", "csv")]
    status = main(["score", *arguments, "-q", *(f"--{path.suffix[1:]}={path}" for path in files)])
    return status, [path.read_bytes() for path in files if path.exists()]


def cut(folder: Path, sides: dict[str, list[dict[str, Any]]], ends: list[int]) -> list[str]:
    """Write each side as shards that end at these documents; some may be empty."""
    edges = [0, *sorted(ends), len(sides["gold"])]
    for side, rows in sides.items():
        (folder / side).mkdir()
        for number, (low, high) in enumerate(itertools.pairwise(edges)):
            text = "".join(json.dumps(row) + "\n" for row in rows[low:high])
            (folder / side / f"part-{number:02}.jsonl").write_text(text, encoding="utf-8")
    return [str(folder / side) for side in sides]


def test_every_convention_goes_by_shards_or_says_why_not() -> None:
    assert set(OPTIONS) == set(ABLE)
    assert all(conventions()[name].not_by_shards for name in REFUSED)


@draws(8)
@given(
    st.sampled_from([(name, options) for name in ABLE for options in OPTIONS[name]]),
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.lists(st.integers(0, 12), max_size=6),
)
def test_any_shards_give_what_one_process_gives(
    asked: tuple[str, tuple[str, ...]], seed: int, documents: int, ends: list[int]
) -> None:
    name, options = asked
    printed = ("--as-reference", *conventions()[name].forms)
    options = tuple(part for part in options if part not in printed)
    with tempfile.TemporaryDirectory() as root:
        sides = drawn(name, seed, documents)
        places = cut(Path(root), sides, [min(end, documents) for end in ends])
        # The first file, by which one process would know the format, may be empty.
        ways = (("--format", "jsonl"), ("--engine", "local"))
        found = [scored(Path(root, way[0]), *places, "--convention", name, *options, *way) for way in ways]
        assert found[0] == found[1]
        # Without an entity only the text of seqeval's report stops, which is not asked for here.
        right = all(places_of(sides["gold"]) & places_of(sides[side]) for side in SIDES[1:])
        stops = name == "biocreative" and not right
        assert (found[0][0], len(found[0][1])) == ((2, 0) if stops else (0, 2))


def places_of(rows: list[dict[str, Any]]) -> set[tuple[str, int, int]]:
    return {(row["id"], span["start"], span["end"]) for row in rows for span in row["spans"]}


def drawn(name: str, seed: int, documents: int) -> dict[str, list[dict[str, Any]]]:
    """Return a corpus that a convention can score: any spans for nervaluate, else runs of tokens."""
    sides = corpus(documents, seed=seed, tokens=bool(seed % 2))
    if name not in NERVALUATE:
        rng = random.Random(seed)
        for row in (row for rows in sides.values() for row in rows):
            cuts = sorted(rng.sample(range(5), rng.choice((0, 2, 4))))
            runs = zip(cuts[::2], cuts[1::2], strict=True)
            row["spans"] = [
                {"start": WORDS[low][0], "end": WORDS[high - 1][1], "label": rng.choice(("A", "B", "_", "0", "x-y"))}
                for low, high in runs
            ]
    if seed % 5 == 0:
        # Nothing is predicted, or nothing is to be found.
        for row in sides[random.Random(seed).choice(SIDES)]:
            row["spans"] = []
    return sides


@pytest.mark.parametrize(("name", "options"), [(name, options) for name in ABLE for options in OPTIONS[name]])
def test_what_is_printed_is_that_of_one_process(cli: Cli, tmp_path: Path, name: str, options: tuple[str, ...]) -> None:
    places = written(tmp_path, drawn(name, 7, 24), shards=4)
    one = cli(*places, "--convention", name, *options)
    status, out, err = cli(*places, "--convention", name, *options, "--engine", "local")
    assert (status, out) == one[:2] and status == 0 and out
    assert err.startswith(f"{places[0]}: 4 shards, 24 documents, ")
    said = [line for line in one[2].splitlines() if line.startswith(("one: ", "two: "))]
    assert [line for line in err.splitlines()[3:] if line.startswith(("one: ", "two: "))] == said


def test_missing_shards_are_counted_as_empty_likewise(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    Path(places[1], "part-2.jsonl").unlink()
    asked = (*places, "--convention", "nervaluate-1.2.1", "--missing", "empty", "--json", "-", "-q")
    one = cli(*asked)
    assert cli(*asked, "--engine", "local") == one
    assert one[0] == 0 and "missing counted empty: 5 documents" in one[1]


def test_counts_of_other_options_and_of_criteria_are_kept_apart(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    engine = ("--engine", "local", "--work", "counts")
    for options in ((), ("--tags", "A"), ("--min_overlap_percentage", "50")):
        asked = (*places, "--convention", "nervaluate-1.2.1", *options, "--json", "-")
        found = [cli(*asked, *engine) for _ in range(2)]
        assert [out for _, out, _ in found] == [cli(*asked)[1]] * 2
        assert ["were there already" in err for _, _, err in found] == [False, True]
    status, _, err = cli(*places, *engine)
    assert status == 0 and "were there already" not in err


def test_what_a_scorer_stops_at_is_told_of_all_systems_and_shards(cli: Cli, tmp_path: Path) -> None:
    sides = drawn("seqeval", 7, 6)
    asked = ("--convention", "seqeval", "--engine", "local", "-q")
    for number in (0, 5):
        sides["two"][number]["spans"] = [{"start": 0, "end": 5, "label": "A"}]
    status, out, err = cli(*written(tmp_path / "across", sides, shards=2), *asked)
    assert (status, out, len(err.splitlines())) == (2, "", 2)
    assert all("does not begin and end with a token" in line for line in err.splitlines())


@pytest.mark.parametrize("name", REFUSED)
def test_a_scorer_whose_counts_do_not_add_up_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    places = written(tmp_path, corpus(4))
    status, out, err = cli(*places, "--convention", name, "--engine", "local", "--json", "out.json")
    assert (status, out, len(err.splitlines())) == (2, "", 1) and not Path("out.json").exists()
    assert f"{name} cannot be scored shard by shard: {conventions()[name].not_by_shards}; " in err
    assert ", ".join(ABLE) in err


WRONG = (
    (("--loader", "list"), "with --loader list it scores tags"),
    (("--min_overlap_percentage", "0"), "0 is not between 1 and 100"),
    (("--min_overlap_percentage", "much"), "'much' is not a number"),
    (("--out", "scored"), "--out holds what criteria decide"),
    (("--records", "scored"), "--records holds what criteria decide"),
    (("--differences", "-"), "--differences has no use with --engine"),
    (("--criteria", "strict"), "--criteria would change the rules of nervaluate-1.2.1"),
    (("--as-reference", "xml"), "--as-reference 'xml', choose among text"),
)


@pytest.mark.parametrize(("options", "told"), WRONG, ids=lambda value: " ".join(value) if value else "")
def test_misused_options_are_told(cli: Cli, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    places = written(tmp_path, corpus(4))
    status, out, err = cli(*places, "--convention", "nervaluate-1.2.1", "--engine", "local", *options)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert told in err


TABLES = st.dictionaries(
    st.sampled_from("xy"), st.dictionaries(st.sampled_from("ABC"), st.tuples(st.integers(0, 9), st.integers(0, 9)))
)


@given(TABLES, TABLES, TABLES)
def test_tables_add_up_in_any_order(one: Any, two: Any, three: Any) -> None:
    whole = add_tables((one, two, three))
    assert add_tables((three, add_tables((two, one)))) == whole == add_tables((add_tables((one, two)), three))
    for table in "xy":
        for name in "ABC":
            rows = [part[table][name] for part in (one, two, three) if name in part.get(table, {})]
            assert whole.get(table, {}).get(name) == (tuple(map(sum, zip(*rows, strict=True))) if rows else None)
    kept = Tally.of_json(json.loads(json.dumps(Tally(published=one).as_json())))
    assert kept.published == {table: dict(rows) for table, rows in one.items()}
