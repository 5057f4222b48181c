"""Refused files on the front page: problems by kind beside each file, and what each way to read them makes of it."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.components import refusals
from pages.shared.view import keys
from tests.support.pages import account, drop, opened, problems, read, settled, sound, ways
from tests.support.shared_corpora import SHARED, needs

TAGS = "Aspirin\tB-Drug\nhelps\tO\n\n"


def refused(system: str) -> AppTest:
    app = opened("Start")
    drop(app, {"gold.tsv": TAGS.encode(), "system.tsv": system.encode()})
    return read(app)


CASES = {
    "malformed tags": (
        TAGS.replace("O", "I-Brand"),
        {
            "cut malformed tags as conlleval does: 2 spans; 1 malformed chunk cut as conlleval does": [1, 2],
            "drop malformed chunks: 1 span; 1 malformed chunk discarded": [1, 1],
        },
    ),
    "another spelling": (
        TAGS.replace("helps", "help"),
        {
            "take gold's text where tokens are spelt differently: 1 span; 1 token spelt differently than in gold: "
            "gold's text used": [1, 1]
        },
    ),
}


@pytest.mark.parametrize(("case", "way"), [(case, way) for case, (_, expected) in CASES.items() for way in expected])
def test_each_way_reads_what_it_says(case: str, way: str) -> None:
    system, expected = CASES[case]
    app = refused(system)
    assert app.error and list(ways(app)) == [f"{words.replace(': ', ': **', 1)}**" for words in expected]
    app = settled(ways(app)[f"{way.replace(': ', ': **', 1)}**"].click().run())
    assert not app.error and list(account(app)["spans"]) == expected[way] and not ways(app)


def test_a_refused_file_has_no_tick_and_shows_the_place() -> None:
    app = refused(TAGS.replace("O", "I-Brand"))
    marked = {name: line.value for line in app.markdown for name in ("gold", "system") if f"**{name}" in line.value}
    assert "✓" in marked["gold"] and "✗ not read" in marked["system"] and "✓" not in marked["system"]
    assert [code.value.splitlines()[1] for code in app.code] == [">      2  helps\tI-Brand"]


ALIGNED = {
    "gold": ("d", "in  Paris now", [(4, 9), (10, 13)]),
    "other writing": ("d", "in Paris  now", [(3, 8), (8, 13)]),
    "other ids": ("x", "in  Paris now", [(4, 9)]),
    "other ids and texts": ("x", "in Rome now", [(3, 7)]),
}


def spans_in(name: str, text: str, spans: list[tuple[int, int]]) -> bytes:
    rows = [{"start": low, "end": high, "label": "X"} for low, high in spans]
    return json.dumps({"id": name, "text": text, "spans": rows}).encode()


@pytest.mark.parametrize(("case", "lost"), [("other writing", 1), ("other ids", 0)])
def test_texts_are_aligned_and_what_is_lost_is_listed(case: str, lost: int) -> None:
    app = opened("Start")
    drop(app, {"gold.jsonl": spans_in(*ALIGNED["gold"]), "system.jsonl": spans_in(*ALIGNED[case])})
    app = read(app)
    if case == "other writing":
        assert "in white space alone" in problems(app)[0]
        ((words, button),) = ways(app).items()
        assert words.startswith("align texts") and "1 span lost" in words
        app = settled(button.click().run())
    assert not app.error
    assert list(account(app)["spans"]) == [2, 1]
    listed = [one for one in app.expander if "left out" in one.label]
    assert [one.label for one in listed] == ["1 span of system left out: no place in the text"] * lost
    if lost:
        (row,) = listed[0].dataframe[0].value.to_dict("records")
        assert (row["source"], row["line"]) == ("system.jsonl", 1)
        assert "span [8, 13) '  now'" in row["span"]


def test_what_pairing_by_order_would_not_mend_is_only_told() -> None:
    app = opened("Start")
    drop(app, {"gold.jsonl": spans_in(*ALIGNED["gold"]), "system.jsonl": spans_in(*ALIGNED["other ids and texts"])})
    app = read(app)
    assert app.error and problems(app) and not any("order" in words for words in ways(app))


def test_what_no_option_mends_is_only_told() -> None:
    app = refused("helps\tB-Drug\n\n")
    assert app.error and problems(app) and not ways(app)


def test_nothing_is_offered_where_the_files_are_gone() -> None:
    app = refused(CASES["malformed tags"][0])
    app = sound(app.switch_page("pages/90_Guide.py").run())
    app = sound(app.switch_page("app.py").run())
    assert app.error and not ways(app)
    assert any(code.value.startswith("system.tsv:2: ") for code in app.code)


def test_problems_of_one_kind_are_one_line() -> None:
    app = refused("Aspirin\tI-Drug\nhelps\tO\n\n" + "a\tB-Brand\nb\tI-Drug\n\n" * 25)
    # Behind the tags that are malformed lies that gold has other tokens.
    assert app.error[0].value == "27 problems in 1 file."
    assert [line.partition(" is ")[0] for line in problems(app)[:2]] == [
        "'I-Drug' at the start of a sentence",
        "**25 ×** 'I-Drug' after 'B-Brand'",
    ]


def test_the_first_of_several_tags_does_not_stand_for_all() -> None:
    types = ["Drug"] * 2 + ["Brand"] * 6 + ["Group"] * 3 + ["A", "B", "B"]
    app = refused("".join(f"a\tB-Form\nb\tI-{type}\n\n" for type in types))
    kinds = "6 × 'I-Brand', 3 × 'I-Group', 2 × 'I-Drug', 2 × 'I-B', 1 × 'I-A'"
    first = f"**14 of a kind** ({kinds}), the first: 'I-Drug' after 'B-Form' is not legal in"
    assert any(line.startswith(first) for line in problems(app)), problems(app)


def test_the_foot_of_the_page_says_that_files_were_refused() -> None:
    app = refused(TAGS.replace("helps", "help"))
    assert any("1 problem above" in caption.value for caption in app.caption)


def test_a_token_that_is_spelt_differently_is_shown_at_its_own_line() -> None:
    app = refused(TAGS.replace("helps", "help"))
    assert problems(app)[0].startswith(
        "document '1' spells 1 token differently from gold: at token 2 'help' here, 'helps'"
    )
    assert any(line.startswith(">") and "help" in line for code in app.code for line in code.value.splitlines())


def test_a_way_to_read_all_files_stands_above_their_problems() -> None:
    wrong = TAGS.replace("O", "I-Brand").encode()
    app = opened("Start")
    app = read(drop(app, {"gold.tsv": TAGS.encode(), "a.tsv": wrong, "b.tsv": wrong}))
    kinds = [element.type for element in app.main]
    fix_all = next(at for at, element in enumerate(app.main) if getattr(element, "key", "") == "fix_all")
    assert kinds.index("error") < fix_all < kinds.index("code")
    # The button that read them may be far below.
    assert app.session_state[keys.INTO_VIEW]["key"] == refusals.HEAD
    app = settled(app.button(key="fix_all").click().run())
    assert not app.error and list(account(app)["spans"]) == [1, 2, 2]


@needs("wnut17")
def test_a_run_as_submitted_is_read_in_one_click() -> None:
    folder = SHARED / "wnut17"
    files = {"gold.conll": folder / "emerging.test.annotated", "mic-cis.conll": folder / "submissions/mic-cis.txt"}
    app = opened("Start")
    drop(app, {name: path.read_bytes() for name, path in files.items()})
    app = read(app)
    assert app.error[0].value == "840 problems in 1 file." and len(problems(app)) == 2
    app = settled(next(iter(ways(app).values())).click().run())
    assert list(account(app)["spans"]) == [1079, 891]
