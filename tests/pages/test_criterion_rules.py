"""The rule of a criterion of one's own in a link: written, read back, and taken over by whoever follows it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.scoring.criteria import Criterion, Decision, same_rule
from nereval_core.scoring.criterion_syntax import criteria_from_toml
from pages.shared.data import own_criteria
from pages.shared.view import View, keys
from pages.shared.view.link import is_rule_of, read_rule, write_rule
from tests.pages.test_own_criteria import BOTH, HALF, STATE, TOML, VIEW, names, under
from tests.support.layer_strategies import texts
from tests.support.pages import address, opened, sound

BOUNDARIES = ("equal", "start", "end", "either", "contain", "overlap", "core", "alternatives")


@st.composite
def composed(draw: st.DrawFn) -> Criterion:
    kinds = draw(st.lists(texts(min_size=1), max_size=5, unique=True))
    merged = draw(st.lists(st.sampled_from(["x", "y;z", "a=b", "100%"]), max_size=len(kinds)))
    boundaries, same_type = draw(st.sampled_from(BOUNDARIES)), draw(st.booleans())
    minimum = draw(st.fractions(0, 1, max_denominator=1000))
    decisions = st.sampled_from([Decision.INC, Decision.PAR])
    return Criterion(
        name=draw(st.text("abcXYZ09_.+-", max_size=9).map("own-{}".format)),
        boundaries=boundaries,
        same_type=same_type,
        other_boundaries=draw(decisions) if minimum or boundaries != "overlap" else Decision.INC,
        other_type=draw(decisions) if same_type else Decision.INC,
        minimum=minimum,
        share=draw(st.sampled_from(["gold", "prediction", "union"])) if minimum else "gold",
        merge=tuple(sorted(zip((kind for kind in kinds if kind not in merged), merged, strict=False))),
        leave_out=tuple(sorted(draw(st.lists(texts(min_size=1), max_size=2, unique=True)))),
    )


@given(composed())
def test_a_rule_is_read_as_it_was_written(criterion: Criterion) -> None:
    text = write_rule(criterion)
    found = read_rule(text)
    assert same_rule(found, criterion) and found.name == criterion.name and is_rule_of(text, criterion.name)


@pytest.mark.parametrize(
    "text",
    [
        *("", "half", "half:", "half:x", "half:boundaries", "half:boundaries=middle", "half:minimum=2", ":types=any"),
        *("strict:boundaries=equal", "half:merge=a,b", "half:merge=a>", "half:merge=>x", "half:types=any;types=any"),
        *("half:colour=red", "half:merge=a>b;merge=b>c"),
    ],
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read_rule(text)


def test_a_link_carries_the_rule_of_an_own_criterion() -> None:
    app = opened("Inspect", under(HALF), **STATE)
    rule = address(app)["rule"]
    assert same_rule(read_rule(rule), HALF) and not app.warning
    received = opened("Inspect", replace(under(HALF), rule=rule))
    assert names(received) == ["half"] and same_rule(received.session_state[keys.OWN].criteria[0], HALF)
    assert address(received) == address(app) and not received.warning
    assert [frame.value.shape for frame in received.dataframe] == [frame.value.shape for frame in app.dataframe]
    strict = sound(received.switch_page("pages/10_Overview.py").run())
    assert address(strict)["rule"] == rule


def test_a_rule_of_a_name_that_means_something_else_here_gets_another_name() -> None:
    (other,) = criteria_from_toml('[criterion.half]\nboundaries = "start"\n', "t")
    link = replace(VIEW, criterion="half", rule=write_rule(other))
    app = opened("Overview", link, **STATE)
    assert names(app) == ["half", "one-type", "half-2"] and address(app)["criterion"] == "half-2"
    assert same_rule(app.session_state[keys.OWN].criteria[0], HALF)
    again = opened("Overview", link, **{keys.OWN: own_criteria.OwnCriteria((*BOTH, replace(other, name="half-2")))})
    assert names(again) == ["half", "one-type", "half-2"] and address(again)["criterion"] == "half-2"


@pytest.mark.parametrize("rule", ["half:boundaries=middle", "half", "other:boundaries=equal"])
def test_a_bad_rule_is_told_and_left(rule: str) -> None:
    app = opened("Overview", replace(VIEW, criterion="half", rule=rule))
    assert "half" in app.warning[0].value and "criterion" not in address(app) and "rule" not in address(app)


def test_there_is_an_end_to_what_a_session_takes() -> None:
    many = criteria_from_toml("".join(f"[criterion.c{number}]\n" for number in range(own_criteria.MOST)), "t")
    app = opened(
        "Overview",
        replace(VIEW, criterion="half", rule=write_rule(HALF)),
        **{keys.OWN: own_criteria.OwnCriteria(many)},
    )
    assert "no room" in app.warning[0].value and len(names(app)) == own_criteria.MOST


def test_a_rule_that_does_not_fit_is_left_out_and_that_is_said() -> None:
    long = replace(HALF, merge=tuple((f"type{number:04d}", "one") for number in range(300)), minimum=Fraction(1, 2))
    app = opened("Inspect", under(long), menu="share", **{keys.OWN: own_criteria.OwnCriteria((long,))})
    assert "rule" not in address(app) and address(app)["criterion"] == "half"
    assert any("no room for its rule" in caption.value for caption in app.caption)
    short = opened("Inspect", under(HALF), menu="share", **STATE)
    assert not any("no room for its rule" in caption.value for caption in short.caption)
    assert View().rule == "" and TOML
