"""Types called by other names: the file, what it does to a reading, and what the signature says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import Layer, layer
from nereval_core.pairing.type_names import mapped, mapping_line, parse_types, read_types, type_names
from nereval_core.problems import FormatError
from nereval_core.readers import Reading
from nereval_core.report.signature import signature
from tests.support import ROOT
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers, texts

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES = DEMO / "gold.jsonl", DEMO / "rules.jsonl"

GOOD = [
    ("PER = person", {"PER": "person"}),
    ("PER=person\r\nORG\t=  organisation  \n", {"PER": "person", "ORG": "organisation"}),
    ("# a comment\n\nPER = person  # of all kinds\n", {"PER": "person"}),
    ("cell line = cell_line", {"cell line": "cell_line"}),
    ("C#=c sharp#1", {"C#": "c sharp#1"}),
    ('"a = b" = "#c"', {"a = b": "#c"}),
    ('"say \\"no\\"" = x # "y" = z', {'say "no"': "x"}),
    ("A = B\nB = A", {"A": "B", "B": "A"}),
    ("A = C\nB = C\nC = C", {"A": "C", "B": "C", "C": "C"}),
    ("B-PER = PER\nI-PER = PER", {"B-PER": "PER", "I-PER": "PER"}),
]


@pytest.mark.parametrize(("text", "pairs"), GOOD, ids=[text for text, _ in GOOD])
def test_lines_map_names(text: str, pairs: dict[str, str]) -> None:
    assert dict(parse_types(text, source="map.txt").pairs) == pairs


BAD = [
    ("PER", ["map.txt:1: 'PER' is not a mapping; write NAME = NAME"]),
    ("PER =", ["map.txt:1: 'PER =' is not a mapping"]),
    ("= person\n\nX = # gone", ["map.txt:1: '= person'", "map.txt:3: 'X = # gone'"]),
    ("a = b = c", ["map.txt:1: 'a = b = c'"]),
    ('"a = b', ["map.txt:1: "]),
    ('"" = b', ["map.txt:1: "]),
    ('"\\x" = b', ["map.txt:1: "]),
    ("a = b\na = b", ["map.txt:2: type 'a' is already mapped in line 1; map each name once"]),
    ('a = b\n"a" = c', ["map.txt:2: type 'a' is already mapped in line 1"]),
    ("", ["map.txt: no line maps a type; write"]),
    ("# PER = person", ["map.txt: no line maps a type; write"]),
]


@pytest.mark.parametrize(("text", "said"), BAD, ids=[text for text, _ in BAD])
def test_malformed_lines_are_told_with_their_place(text: str, said: list[str]) -> None:
    with pytest.raises(FormatError) as caught:
        parse_types(text, source="map.txt")
    lines = [str(problem) for problem in caught.value.problems]
    assert len(lines) == len(said) and all(line.startswith(begin) for line, begin in zip(lines, said, strict=True))


@given(st.dictionaries(texts(min_size=1), texts(min_size=1), min_size=1, max_size=4))
def test_written_names_are_read_again(pairs: dict[str, str]) -> None:
    text = "".join(f"{mapping_line(one, other)}  # said why\n" for one, other in pairs.items())
    assert dict(parse_types(text, source="map.txt").pairs) == pairs


def renamed(given: Layer, names: dict[str, str]) -> Layer:
    """Make the layer anew with its types renamed by hand."""
    kept = ("fragments", "ids", "links", "cores", "alternatives", "scores", "meta")
    labels = [names.get(given.label(span), given.label(span)) for span in range(len(given))]
    extras = {key: getattr(given, key) for key in kept}
    return layer(given.name, given.documents, given.doc, given.start, given.end, labels, extras=extras)


@draws(8)
@given(layers(), st.data())
def test_mapping_is_renaming_by_hand(given_layer: Layer, data: st.DataObject) -> None:
    kinds = st.sampled_from((*given_layer.types, "X", "Y"))
    names = data.draw(st.dictionaries(kinds, kinds, max_size=4))
    found = mapped(Reading(given_layer.documents, given_layer, "jsonl"), names)
    by_hand = renamed(given_layer, names)
    assert (found.layer.digest, found.layer.types) == (by_hand.digest, by_hand.types)
    made, wanted = content(found.layer), content(by_hand)
    assert {key: made[key] for key in made if key != "order"} == {key: wanted[key] for key in wanted if key != "order"}
    assert bool(found.mapped) == (found.layer.types != given_layer.types or found.layer.digest != given_layer.digest)


def test_scores_are_those_of_types_renamed_by_hand(tmp_path: Path) -> None:
    (tmp_path / "map.txt").write_text("DNA = acid\nRNA = acid\nprotein = Protein\n", encoding="utf-8")
    names = read_types(tmp_path / "map.txt")
    options = LoadOptions(gold_types=names, pred_types=names)
    loaded = load_corpus(GOLD, {"rules": RULES}, options=options)
    by_hand = [renamed(nereval_core.read(path).layer, dict(names.pairs)) for path in (GOLD, RULES)]
    assert loaded.corpus.gold.digest == by_hand[0].digest
    scores = nereval_core.score(nereval_core.read(GOLD, types=names), nereval_core.read(RULES, types=names))
    assert scores.counts("strict") == nereval_core.score(*by_hand).counts("strict")
    merged = nereval_core.score(GOLD, RULES, merge=["DNA,RNA=acid", "protein=Protein"])
    assert scores.counts("strict") == merged.counts("strict")
    assert scores.marks == loaded.marks["rules"] == ("types mapped: protein=Protein;DNA,RNA=acid",)
    assert signature(scores, "strict").endswith("documents 20 | types mapped: protein=Protein;DNA,RNA=acid")


SIDES = [
    ({"gold_types": {"DNA": "dna"}}, ("gold types mapped: DNA=dna",)),
    ({"pred_types": {"DNA": "dna"}}, ("pred types mapped: DNA=dna",)),
    (
        {"gold_types": {"DNA": "x"}, "pred_types": {"DNA": "y"}},
        ("gold types mapped: DNA=x", "pred types mapped: DNA=y"),
    ),
    ({"gold_types": {"XX": "x"}, "pred_types": {"DNA": "DNA"}}, ()),
    (
        {"pred_types": {**{f"type number {number}": "x" for number in range(20)}, "DNA": "x"}},
        ("pred types mapped: 21 names sha256:be1d40811bce6ea8",),
    ),
]


@pytest.mark.parametrize(("options", "marks"), SIDES)
def test_the_signature_says_the_side(options: dict[str, dict[str, str]], marks: tuple[str, ...]) -> None:
    given = LoadOptions(**{side: type_names(names) for side, names in options.items()})  # type: ignore[arg-type]
    assert load_corpus(GOLD, {"rules": RULES}, options=given).marks["rules"] == marks


def test_what_no_span_has_is_told_and_so_are_new_repetitions(tmp_path: Path) -> None:
    names = type_names({"DNE": "DNA", "RNA": "DNA"}, source="map.txt")
    loaded = load_corpus(GOLD, {"rules": RULES}, options=LoadOptions(gold_types=names, pred_types=names))
    assert loaded.gold.notes[-1] == "map.txt: no span has the type 'DNE'"
    loaded = load_corpus(GOLD, {"rules": RULES}, options=LoadOptions(pred_types=names))
    assert loaded.gold.notes[-1] == "map.txt: no prediction has the type 'DNE'"
    two = layer("two", loaded.corpus.documents, [0, 0], [0, 0], [3, 3], ["A", "B"])
    assert mapped(Reading(two.documents, two, ""), {"A": "B"}).notes[-1].endswith("after types were merged: 1")


def test_empty_names_are_refused() -> None:
    with pytest.raises(FormatError, match="is not a type name"):
        type_names({"PER": ""})
