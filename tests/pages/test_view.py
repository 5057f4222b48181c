"""The view in an address: written and read back, and what is dropped."""

from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.records.queries import ABSENT, ORDERS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.view import FIGURE_SLIDES, FIGURES, LAYOUTS, QUESTIONS, SLICED_BY, SLIDES, TABS, View
from pages.shared.view.link import LIMIT, SORT, check_view, read_link, write_link, write_short_link

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
TYPES = st.lists(NAMES | st.sampled_from(["a,b", "=x", "50%", "-", "%2C", ";"]), unique=True, max_size=4).map(tuple)
SIDES = st.lists(NAMES | st.sampled_from([ABSENT, "-", "--"]), unique=True, max_size=4).map(tuple)


@st.composite
def merges(draw: st.DrawFn) -> tuple[tuple[str, str], ...]:
    """Draw merges in the order they are read in: members of one name together."""
    members = draw(TYPES)
    names = draw(st.lists(NAMES, min_size=len(members), max_size=len(members)))
    order = list(dict.fromkeys(names))
    return tuple(sorted(zip(members, names, strict=True), key=lambda pair: order.index(pair[1])))


@st.composite
def views(draw: st.DrawFn) -> View:
    tabs = {field: draw(st.sampled_from(["", *words])) for field, words in TABS.items()}
    return View(
        corpus=draw(st.text("0123456789abcdef", min_size=12, max_size=16)),
        system=draw(NAMES | st.just("")),
        criterion=draw(st.sampled_from(["strict", "left", "own"])),
        merge=draw(merges()),
        leaveout=draw(TYPES),
        type=draw(TYPES),
        decision=tuple(draw(st.lists(st.sampled_from(DECISIONS), unique=True))),
        gold=draw(SIDES),
        pred=draw(SIDES),
        doc=draw(NAMES | st.just("")),
        record=draw(st.sampled_from(["", "g:12-19:Drug", "p:0-3,5-7:a b~2", "g:0-1:\n"])),
        q=draw(NAMES | st.just("")),
        beside=draw(NAMES | st.just("")),
        order=draw(st.sampled_from(ORDERS)),
        slide=draw(st.sampled_from(["", *SLIDES])),
        cell=draw(st.just(()) | st.tuples(NAMES, NAMES | st.just("")) | st.tuples(st.just(""), NAMES)),
        unfold=draw(TYPES),
        share=draw(st.sampled_from(["", "counts", "column"])),
        layout=tuple(draw(st.lists(st.sampled_from(LAYOUTS), unique=True))),
        **tabs,
    )


@given(views())
def test_what_is_written_is_read_back(view: View) -> None:
    params = dict(parse_qsl(urlencode(write_link(view)), keep_blank_values=True, strict_parsing=bool(write_link(view))))
    assert read_link(params) == (view, ())


def test_the_default_view_needs_no_parameters() -> None:
    assert write_link(View()) == {}
    assert read_link({}) == (View(), ())


def test_a_digest_is_shortened() -> None:
    assert write_link(View(corpus="0123456789abcdef" * 4)) == {"corpus": "0123456789abcdef"}


@pytest.mark.parametrize(
    ("params", "kept", "told"),
    [
        ({"colour": "red"}, View(), "colour"),
        ({"corpus": "abc"}, View(), "corpus"),
        ({"corpus": "ABCDEF012345"}, View(), "corpus"),
        ({"decision": "COR,WRONG"}, View(decision=("COR",)), "WRONG"),
        ({"merge": "a,b"}, View(), "merge"),
        ({"merge": "a=x;a=y"}, View(merge=(("a", "x"),)), "merge"),
        ({"merge": "a,=x"}, View(), "merge"),
        ({"type": "a,,b"}, View(type=("a", "b")), "type"),
        ({"gold": ""}, View(), "gold"),
        ({"record": "12-19"}, View(), "record"),
        ({"record": "x:12-19:Drug"}, View(), "record"),
        ({"sort": "sideways,text"}, View(order="text"), "sideways"),
        ({"order": "sideways"}, View(), "sideways"),
        ({"layout": "sideways,gamma"}, View(layout=("gamma",)), "sideways"),
        ({"overview_tab": "curve"}, View(), "curve"),
        ({"doc": "a\0b"}, View(), "doc"),
    ],
)
def test_what_cannot_be_understood_is_dropped_and_told(params: dict[str, str], kept: View, told: str) -> None:
    view, notices = read_link(params)
    assert view == kept
    assert len(notices) == 1 and told in notices[0]


@given(st.dictionaries(st.sampled_from([*View.__slots__, "x"]), st.text(max_size=20)))
def test_no_address_fails(params: dict[str, str]) -> None:
    view, _ = read_link(params)
    assert read_link(write_link(view)) == (view, ())


@pytest.mark.parametrize("size", [LIMIT - 2, LIMIT - 1])
def test_a_view_that_is_too_long_is_not_linked(size: int) -> None:
    # "q=" and so many letters
    view = View(q="a" * size)
    assert write_short_link(view) == (write_link(view) if size + 2 <= LIMIT else None)


CORPUS = {
    "systems": ["one", "two"],
    "criteria": ["strict", "type"],
    "known_types": ["DNA", "RNA", "PER"],
    "scored_types": ["nucleic", "PER"],
    "documents": ["d1"],
}
MERGE = (("DNA", "nucleic"), ("RNA", "nucleic"))


@pytest.mark.parametrize(
    ("given_view", "kept", "told"),
    [
        (View(system="one", criterion="type", merge=MERGE, type=("nucleic",), doc="d1"), None, []),
        (View(gold=(ABSENT, "PER"), pred=(ABSENT,), merge=MERGE), None, []),
        (View(leaveout=("nucleic", "PER"), merge=MERGE), None, []),
        (View(doc="d1", record="g:0-1:PER"), None, []),
        (View(system="three"), View(), ["three"]),
        (View(criterion="core"), View(), ["core"]),
        (View(merge=(*MERGE, ("LOC", "place"))), View(merge=MERGE), ["LOC"]),
        (View(type=("DNA", "PER"), merge=MERGE), View(type=("PER",), merge=MERGE), ["DNA"]),
        (View(leaveout=("LOC",)), View(), ["LOC"]),
        (View(pred=("LOC",)), View(), ["LOC"]),
        (View(doc="d9", record="g:0-1:PER"), View(), ["d9"]),
        (View(record="g:0-1:PER"), View(), ["record"]),
        (View(q="/(/ words:3"), View(q="words:3"), ["'/(/' is not a regular expression"]),
    ],
)
def test_what_the_corpus_lacks_is_dropped_and_told(given_view: View, kept: View | None, told: list[str]) -> None:
    view, notices = check_view(given_view, **CORPUS)
    assert view == (given_view if kept is None else kept)
    assert len(notices) == len(told)
    assert all(word in notice for word, notice in zip(told, notices, strict=True))


OLD_LINKS = [
    ("longest", View(order="longest")),
    ("document", View()),
    (
        "text,row-share,off-diagonal,longest,column-share",
        View(order="longest", share="column", layout=("off-diagonal",)),
    ),
    ("whole-document,by-confusion", View(layout=("whole-document", "by-confusion"))),
    ("as-map", View()),
    ("by-class", View(inspect_tab="by-class")),
    ("averages", View(overview_tab="averages")),
    ("all-criteria", View(overview_tab="all-criteria", layout=("all-criteria",))),
    ("decades", View(overview_tab="by-slice", slices_tab="decades")),
    ("by-slice,by-tokens,scores", View(overview_tab="by-slice", slice_by="tokens", slices_tab="scores")),
    ("averages,by-tokens", View(overview_tab="averages", slice_by="tokens")),
    ("all-pairs,curve,adjudicate", View(systems_tab="all-pairs", criteria_tab="curve", review_tab="finish")),
    ("published", View(layout=("published",))),
    ("figures,as-alpha,gamma", View(annotators_tab="figures", figure="alpha", layout=("gamma",))),
    ("as-kappa", View(annotators_tab="figures", figure="kappa")),
    ("edges", View(annotators_tab="consistency", question="edges")),
    ("figures,edges", View(annotators_tab="figures", question="edges")),
    ("slides", View(slide="record")),
    ("slides,scores-slide", View(slide="scores")),
    ("confusion-slide,records-only,slides", View(slide="confusion", layout=("records-only",))),
    ("given-mentions,any-link", View(mentions="given", layout=("any-link",))),
    ("overlapping,first-3", View(layout=("overlapping",), rank="3")),
    ("confused-ids", View(linking_tab="ids")),
]
"""Values of `sort`, which was one parameter for all of these fields, and what such links show."""


@pytest.mark.parametrize(("sort", "view"), OLD_LINKS)
def test_an_older_link_shows_what_it_showed(sort: str, view: View) -> None:
    assert read_link({"sort": sort}) == (view, ())


@pytest.mark.parametrize("word", SORT)
def test_every_older_word_is_a_value_of_a_field(word: str) -> None:
    view, notices = read_link({"sort": word})
    assert not notices and read_link(write_link(view)) == (view, ())


def test_every_word_of_a_field_had_an_older_word() -> None:
    words = {("order", word) for word in ORDERS} | {(field, word) for field in TABS for word in TABS[field]}
    words |= {("layout", word) for word in LAYOUTS if word != "all-criteria"} | {
        ("question", word) for word in QUESTIONS
    }
    words |= {("slice_by", word) for word in SLICED_BY} | {("figure", word) for word in FIGURES}
    words |= {("slide", word) for word in ("record", *FIGURE_SLIDES)}
    assert words <= set(SORT.values())


def test_the_newer_parameter_goes_before_the_older_word() -> None:
    assert read_link({"order": "text", "sort": "longest"}) == (View(order="text"), ())


def test_a_switch_is_turned_on_and_off() -> None:
    view = View(layout=("gamma", "published"))
    assert view.with_layout("gamma", False).layout == ("published",)
    assert view.with_layout("gamma").layout == ("published", "gamma")
