"""Criteria as data: the field's own, composed ones, TOML, merges."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError
from nereval_core.scoring.criteria import (
    APPLICABLE,
    BOUNDARY_RULES,
    CRITERIA,
    Criterion,
    Decision,
    TypeRules,
    same_rule,
)
from nereval_core.scoring.criterion_syntax import criteria_from_toml, criterion_from_parts, criterion_to_toml
from nereval_core.scoring.type_merging import parse_merge
from tests.support.draws import draws
from tests.support.spans import CRITERIA_TESTED

NAMES = "strict exact partial type muc left right either approximate lenient core alternatives fragment"


def test_every_criterion_is_listed_and_explained() -> None:
    assert list(CRITERIA) == NAMES.split()
    assert list(APPLICABLE) == [name for name in NAMES.split() if name not in ("core", "alternatives")]
    for criterion in CRITERIA.values():
        assert criterion.sentence.endswith(".") and criterion.source and criterion.rule()


COMPOSED = """
[criterion.half]
boundaries = "overlap"
types = "any"
otherwise = "PAR"
minimum = 0.1
share = "union"
merge = {macromolecule = ["protein", "DNA"]}
leave_out = ["cell_line"]

[criterion.start-only]
boundaries = "start"
"""


def test_every_boundary_rule_is_held_to_the_oracle() -> None:
    assert {rule.boundaries for rule in CRITERIA_TESTED} == set(BOUNDARY_RULES)
    with pytest.raises(ValueError, match="no boundary rule is called 'middle'"):
        Criterion(name="own", boundaries="middle", same_type=True)


def test_composed_criteria_from_toml() -> None:
    half, start = criteria_from_toml(COMPOSED, "my.toml")
    assert (half.name, half.near_misses, half.share) == ("half", {"boundaries": Decision.PAR}, "union")
    assert half.minimum == Fraction(1, 10)
    assert half.merge == (("DNA", "macromolecule"), ("protein", "macromolecule"))
    assert (start.boundaries, start.same_type, start.leave_out) == ("start", True, ())
    assert start.near_misses == {"boundaries": Decision.INC, "type": Decision.INC}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no criteria found"),
        ("[criterion.x\n", "my.toml:1: not TOML"),
        ("a = 1\nb = = 2\n", "my.toml:2: not TOML"),
        ("[other]\n", "no criteria found"),
        ('\n[criterion.x]\nboundaries = "near"\n', "my.toml:2: criterion 'x': boundaries is 'near'; use one of equal"),
        ("[criterion.x]\nminimum = 2\n", "minimum is 2; give a number from 0 to 1"),
        ('[criterion.x]\nminimum = "nan"\n', "minimum is 'nan'"),
        ('[criterion.x]\nminimum = "1e999999999"\n', "minimum is '1e999999999'"),
        ("a = " + "[" * 100_000, "not TOML"),
        ("a = " + "1" * 10_000, "not TOML"),
        ('[criterion.x]\nmerge = {"" = ["b"]}\n', "merge is not a table of lists"),
        ('[criterion.x]\notherwise = ["PAR"]\n', "otherwise is '[\\'PAR\\']'; use one of INC, PAR"),
        ('[criterion.x]\nother_type = "COR"\n', "other_type is 'COR'; use one of INC, PAR"),
        ('[criterion.x]\ntypes = "any"\nother_type = "INC"\n', "other_type is never used, as no pair fails there"),
        ('[criterion.x]\nother_boundaries = "PAR"\n', "other_boundaries is never used, as no pair fails there"),
        ('[criterion.x]\nkind = "any"\n', "unknown key 'kind'; use boundaries, types"),
        ('[criterion.strict]\ntypes = "any"\n', "taken by a criterion of the field"),
        ('[criterion.x]\nmerge = {a = ["b"], c = ["b"]}\n', "a type is merged twice"),
        ('[criterion.x]\nmerge = {a = ["b"], c = ["a"]}\n', "merged into 'a', which is itself merged into 'c'"),
        ("[criterion.x]\nmerge = 3\n", "merge is not a table of lists"),
        ('[criterion.x]\nmerge = {a = "b"}\n', "merge is not a table of lists"),
        ('[criterion.x]\nleave_out = "b"\n', "leave_out is not a list"),
        ('[criterion."a b"]\n', "its name cannot be used"),
    ],
)
def test_wrong_criteria_are_refused(text: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        criteria_from_toml(text, "my.toml")
    assert said in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        criteria_from_toml('[criterion.x]\nminimum = -1\nshare = "all"\n[criterion.y]\ntypes = "some"\n', "my.toml")
    assert len(caught.value.problems) == 3


@draws(20)
@given(
    boundaries=st.sampled_from(tuple(BOUNDARY_RULES)),
    types=st.sampled_from(["equal", "any"]),
    decisions=st.dictionaries(
        st.sampled_from(["otherwise", "other_boundaries", "other_type"]), st.sampled_from(["INC", "PAR"])
    ),
    minimum=st.fractions(0, 1, max_denominator=1000),
    share=st.sampled_from(["gold", "prediction", "union"]),
    merge=st.dictionaries(st.text(min_size=1, max_size=3), st.just("merged"), max_size=3),
    leave_out=st.lists(st.text(min_size=1, max_size=3), max_size=2, unique=True),
)
def test_toml_round_trip(
    boundaries: str,
    types: str,
    decisions: dict[str, str],
    minimum: Fraction,
    share: str,
    merge: dict[str, str],
    leave_out: list[str],
) -> None:
    parts = {
        "boundaries": boundaries,
        "types": types,
        "minimum": str(minimum),
        "share": share,
        "merge": {"merged": sorted(merge)} if merge else {},
        "leave_out": leave_out,
    }
    unused = {"other_type"} if types == "any" else set()
    unused |= {"other_boundaries"} if boundaries == "overlap" and not minimum else set()
    parts |= {key: decision for key, decision in decisions.items() if key not in unused}
    criterion = criterion_from_parts("mine", parts, "test")
    (again,) = criteria_from_toml(criterion_to_toml(criterion), "test")
    assert again == criterion and same_rule(again, criterion)


@pytest.mark.parametrize(
    ("values", "merge"),
    [
        (["a,b=c"], {"a": "c", "b": "c"}),
        (["a,b=b"], {"a": "b", "b": "b"}),
        ([" a , b = c ", "d=c"], {"a": "c", "b": "c", "d": "c"}),
        ([], {}),
        (['"a,b",c="d,e"'], {"a,b": "d,e", "c": "d,e"}),
        ([' "a;b" , c = "d=\\"e\\\\" '], {"a;b": 'd="e\\', "c": 'd="e\\'}),
        (['a"b,c=d'], {'a"b': "d", "c": "d"}),
    ],
)
def test_merges(values: list[str], merge: dict[str, str]) -> None:
    assert parse_merge(values) == merge
    again = merged_in_words(merge)
    assert again == "none" if not merge else parse_merge([again]) == merge


@pytest.mark.parametrize(
    "values",
    [["a,b=b,c"], ["a,b=,c"], ["a,b"], ["=c"], ["a,=c"], ["a="], ["a=b", "a=c"], ["a=b", "b=c"], ["a=b", "b=a"]],
)
def test_wrong_merges(values: list[str]) -> None:
    with pytest.raises(FormatError):
        parse_merge(values)


def test_a_merge_into_a_name_with_a_comma_is_asked_for_in_one_line() -> None:
    with pytest.raises(FormatError) as error:
        parse_merge(["protein,DNA=protein,x"])
    assert str(error.value) == (
        "--merge: 'protein,DNA=protein,x' merges into 'protein,x', a name with a comma; merge each type into one name, "
        'or quote it: A,B="protein,x"'
    )


@pytest.mark.parametrize(("label", "name"), [("a", "m"), ("b", None), ("c", "c"), ("d", None), ("e", None)])
def test_type_rules_merge_and_leave_out_by_either_name(label: str, name: str | None) -> None:
    assert TypeRules({"a": "m", "b": "m", "e": "gone"}, ("b", "d", "gone")).name(label) == name


def test_same_rule_ignores_what_a_criterion_is_called() -> None:
    mine = Criterion(name="mine", boundaries="equal", same_type=True)
    assert same_rule(mine, CRITERIA["strict"]) and not same_rule(mine, CRITERIA["exact"])


@pytest.mark.parametrize(("minimum", "said"), [("0.5", "0.5"), ("1/3", "1/3"), ("0.333333", "0.333333"), ("1", "1")])
def test_a_rule_says_its_minimum_exactly(minimum: str, said: str) -> None:
    criterion = criterion_from_parts("mine", {"minimum": minimum}, "test")
    assert f"at least {said} of the gold is shared" in criterion.rule()
