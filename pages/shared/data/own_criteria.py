"""One's own matching criteria: loaded from TOML for this session, offered beside the field's, saved as TOML.

They live in session state, not on the server: another user may call another rule by the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Source
from nereval_core.scoring.criteria import Criterion, same_rule
from nereval_core.scoring.criterion_syntax import criteria_from_toml, criterion_to_toml
from pages.shared.view import View, keys, state
from pages.shared.view.link import is_rule_of, read_rule
from pages.shared.view.text import plain, show_problems

MOST = 20
"""Criteria of its own that a session may have: each is scored with all others."""
SIZE = 100_000
"""Bytes that a file of criteria may have."""
TEMPLATE = """\
# One table for each criterion: [criterion.NAME], the name made of letters, digits and . _ + -
# What is left out of a table stands as in the first one's comments.

[criterion.half]
boundaries = "overlap"   # equal, start, end, either, contain, overlap, core, alternatives (overlap)
types = "any"            # equal, any (equal)
minimum = 0.5            # the least share of characters that both have, 0 to 1 (0)
share = "union"          # of what: gold, prediction, union (gold)
otherwise = "PAR"        # what an aligned pair gets that fails: INC, PAR (INC)
sentence = "Half of what the two cover together must be shared; any other overlap earns half."

[criterion.one-type]
boundaries = "equal"
other_boundaries = "PAR"  # what a pair gets that fails by its boundaries or its minimum (otherwise)
other_type = "INC"        # what a pair gets that fails by its type; one that fails both gets the lesser (otherwise)
merge = {macromolecule = ["protein", "DNA", "RNA"]}   # types scored as one (none)
leave_out = ["cell_line"]                             # types not scored at all (none)
"""


@dataclass(frozen=True)
class OwnCriteria:
    """The criteria of a session by name, the problems of the files loaded last, and how often files were loaded."""

    criteria: tuple[Criterion, ...] = ()
    problems: tuple[str, ...] = ()
    loads: int = 0


def own_state() -> OwnCriteria:
    own: OwnCriteria = st.session_state.get(keys.OWN, OwnCriteria())
    return own


def receive_rule(view: View) -> tuple[View, tuple[str, ...]]:
    """Add the criterion whose rule a link carries; return the view without the rule, and problems in words.

    A criterion of that name which decides otherwise is left as it is: the one received gets another name.
    """
    if not view.rule:
        return view, ()
    without = replace(view, rule="")
    if not is_rule_of(view.rule, view.criterion):
        # With another criterion the reader has chosen that one since.
        is_alone = view.criterion == View().criterion
        return without, ("rule: the link does not choose its criterion; copy the whole link",) if is_alone else ()
    try:
        criterion = read_rule(view.rule)
    except FormatError as error:
        return without, tuple(f"{problem.source}: {problem.found}" for problem in error.problems)
    own = own_state()
    by_name = {rule.name: rule for rule in own.criteria}
    for number in range(1, MOST + 2):
        name = criterion.name if number == 1 else f"{criterion.name[:60]}-{number}"
        if name not in by_name and len(by_name) < MOST:
            st.session_state[keys.OWN] = replace(own, criteria=(*own.criteria, replace(criterion, name=name)))
            return replace(without, criterion=name), ()
        if name in by_name and same_rule(by_name[name], criterion):
            return replace(without, criterion=name), ()
    return without, (f"rule: there is no room for it beside {MOST} criteria of your own",)


def criteria() -> tuple[Criterion, ...]:
    return own_state().criteria


def read_files(files: Iterable[tuple[str, bytes]]) -> tuple[tuple[Criterion, ...], tuple[Problem, ...]]:
    """Return the criteria of TOML files, the later of two that have one name, and the problems of the other files."""
    by_name: dict[str, Criterion] = {}
    problems: list[Problem] = []
    for name, raw in files:
        try:
            by_name |= {criterion.name: criterion for criterion in _read(name, raw)}
        except FormatError as error:
            problems += error.problems
    return tuple(by_name.values()), tuple(problems)


def _read(name: str, raw: bytes) -> tuple[Criterion, ...]:
    if len(raw) > SIZE:
        raise FormatError.single(name, None, f"{len(raw):,} bytes", f"give a TOML file of at most {SIZE:,}")
    if not name.lower().endswith(".toml"):
        raise FormatError.single(name, None, "no TOML file by its name", "give criteria in a file called NAME.toml")
    if not raw:
        return criteria_from_toml("", name)
    (file,) = Source.of_uploads([(name, raw)]).files
    return criteria_from_toml(file.text(), name)


def add_files(old: OwnCriteria, files: Iterable[tuple[str, bytes]]) -> OwnCriteria:
    """Return a session's criteria with those of files added: a criterion replaces the one of its name."""
    new, problems = read_files(files)
    by_name = {criterion.name: criterion for criterion in (*old.criteria, *new)}
    if len(by_name) > MOST:
        names = {criterion.name for criterion in old.criteria}
        more = [criterion.name for criterion in new if criterion.name not in names][MOST - len(names) :]
        by_name = {name: criterion for name, criterion in by_name.items() if name not in more}
        finding = f"{len(more)} criteria more than the {MOST} that a session can have, from {more[0]} on"
        problems = (*problems, Problem("criteria", None, finding, "remove some of the others first"))
    lines = FormatError(problems).lines() if problems else ()
    return OwnCriteria(tuple(by_name.values()), tuple(lines), old.loads + 1)


def write_toml(criteria: Iterable[Criterion]) -> str:
    return "\n".join(criterion_to_toml(criterion) for criterion in criteria)


def rule_words(criterion: Criterion) -> str:
    """Return the sentence, the rule and the types of a user's own criterion as Markdown."""
    parts = [criterion.sentence.rstrip("."), criterion.rule()]
    parts += [f"types merged: {merged_in_words(dict(criterion.merge))}"] if criterion.merge else []
    parts += [f"left out: {', '.join(criterion.leave_out)}"] if criterion.leave_out else []
    return plain(". ".join(part[:1].upper() + part[1:] for part in parts if part) + ".", 600)


def draw_own(view: View, gold: Layer) -> None:
    """Offer the session's own criteria, with ways to load, save and remove them."""
    own = own_state()
    if own.criteria:
        with st.container(horizontal=True, gap="small"):
            for criterion in own.criteria:
                _offer(criterion, is_chosen=criterion.name == view.criterion, lacks=criterion.lacks(gold))
        reasons = [
            f"{plain(rule.name)} does not apply: it needs {n}." for rule in own.criteria if (n := rule.lacks(gold))
        ]
        if reasons:
            st.caption("  \n".join(reasons))
    if own.problems:
        show_problems(own.problems)
    # Under a new key after each load: what was taken over stands above, and what was removed must not come back.
    key = f"own_upload_{own.loads}"
    st.file_uploader(
        "Load from TOML",
        type="toml",
        accept_multiple_files=True,
        max_upload_size=1,
        key=key,
        on_change=_load,
        args=(key,),
        help="Several criteria a file, several files at once. One of a name already here replaces it. "
        "No other user sees them. They stay until the page is left for good; links carry the rule of the one chosen.",
    )
    with st.container(horizontal=True, gap="small"):
        _download("Template", TEMPLATE, "nereval-criteria-template.toml", "An example to begin with.")
        if own.criteria:
            _download("Save as TOML", write_toml(own.criteria), "nereval-criteria.toml", "All your own criteria.")


def _offer(criterion: Criterion, *, is_chosen: bool, lacks: str | None) -> None:
    st.button(
        plain(criterion.name),
        key=f"criterion-{criterion.name}",
        type="primary" if is_chosen else "secondary",
        disabled=lacks is not None,
        help=rule_words(criterion),
        on_click=state.update,
        kwargs={"criterion": criterion.name},
    )
    st.button(
        "×",
        key=f"own-remove-{criterion.name}",
        type="tertiary",
        help=f"Remove {plain(criterion.name)}",
        on_click=_remove,
        args=(criterion.name,),
    )


def _download(label: str, text: str, name: str, why: str) -> None:
    st.download_button(
        label, text, file_name=name, mime="application/toml", on_click="ignore", type="tertiary", help=why
    )


def _load(key: str) -> None:
    files: Sequence[tuple[str, bytes]] = [(file.name, file.getvalue()) for file in st.session_state[key] or ()]
    if files:
        st.session_state[keys.OWN] = add_files(own_state(), files)


def _remove(name: str) -> None:
    own = own_state()
    rest = tuple(criterion for criterion in own.criteria if criterion.name != name)
    st.session_state[keys.OWN] = replace(own, criteria=rest, problems=())
    if state.view().criterion == name:
        state.update(criterion=View().criterion)


def say_not_carried(view: View, *, carried: bool) -> None:
    """Say beside a link that it has no room for the rule of the user's own criterion, if it has not."""
    if not carried and any(criterion.name == view.criterion for criterion in criteria()):
        name = plain(view.criterion)
        st.caption(
            f"The matching criterion {name} is one of your own. The link names it but has no room for its rule: "
            "send its TOML file along (Matching criterion, your own, Save as TOML)."
        )


def add_criterion(criterion: Criterion) -> bool:
    """Take a criterion over, in place of the one of its name; return whether there was room for it."""
    own = own_state()
    by_name = {rule.name: rule for rule in own.criteria} | {criterion.name: criterion}
    if len(by_name) > MOST:
        st.session_state[keys.OWN] = replace(
            own, problems=(f"criteria: {MOST} is all a session can have; remove some",)
        )
        return False
    st.session_state[keys.OWN] = replace(own, criteria=tuple(by_name.values()), problems=())
    return True
