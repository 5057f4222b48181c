"""The options of each verb, for the library and the command line alike; each refuses what it cannot be when it is made.

They are light, so that help is printed at once: what a check needs is imported when options are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from nereval_core.api.load_options import ResamplingOptions, ScoringOptions
from nereval_core.options import (
    FOLD_COUNT,
    MARGIN,
    RANKS,
    SEED,
    TOP,
    Offer,
    check_margin,
    check_offers,
    comma_separated,
    composed,
)
from nereval_core.problems import FormatError, Problem, one_line, quoted

if TYPE_CHECKING:
    from nereval_core.analysis.consistency.indexed_layer import LetterCase
    from nereval_core.analysis.linking import Truth
    from nereval_core.analysis.linking.mentions import Boundaries, Mentions
    from nereval_core.review.standing_verdicts import Reviewed
    from nereval_core.scoring.criteria import Share


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """How systems are compared; `runs` are the names of the runs of each system of several."""

    TITLE: ClassVar[str] = "comparing"

    baseline: str | None = Offer(
        "--baseline", "the system the others are compared with (default: the first)", "NAME"
    ).field(None)
    resampling: ResamplingOptions = composed(ResamplingOptions)
    margin: float | None = Offer(
        "--margin",
        "also test equivalence: systems are as good as the baseline, F1 at most M apart, 0.01 say",
        "M",
        number=MARGIN,
    ).field(None)
    measures: tuple[str, ...] = Offer(
        "--measures",
        "also compare these: f1, precision, recall, macro-f1, macro-precision, macro-recall, ser",
        "M,...",
        listed=True,
    ).field(())
    scorers: tuple[str, ...] = Offer(
        "--scorers",
        "also compare headline figures of published scorers (see `conventions`), and of one of their evaluations",
        "NAME[/EVALUATION],...",
        listed=True,
    ).field(())
    by_type: bool = False
    runs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scoring: ScoringOptions = composed(ScoringOptions)

    def __post_init__(self) -> None:
        from nereval_core.analysis.comparison.measures import check_measures, check_scorers

        check_measures(self.measures)
        check_scorers(self.scorers)
        check_margin(self.margin, runs=bool(self.runs))

    def check_systems(self, names: Iterable[str]) -> None:
        """Refuse a baseline or runs that are not among the systems.

        Raises:
            FormatError: one of them is not, or there is no system.
        """
        from nereval_core.analysis.comparison.runs import group_runs

        systems = group_runs(names, self.runs)
        if not systems:
            raise FormatError.single("compare", None, "no system to compare", "give systems by name")
        check_baseline(self.baseline, systems)


def check_baseline(baseline: str | None, systems: Iterable[str]) -> None:
    """Refuse a baseline that is not one of the systems.

    Raises:
        FormatError: it is not.
    """
    names = list(systems)
    if baseline is not None and baseline not in names:
        remedy = f"choose among {', '.join(map(quoted, names))}"
        raise FormatError.single("--baseline", None, f"no system is called {quoted(baseline)}", remedy)


@dataclass(frozen=True, kw_only=True)
class SlicesOptions:
    """How scores are sliced: `by` names slicings, by default all that apply; `baseline` is for the `tests`."""

    TITLE: ClassVar[str] = "slicing"

    by: tuple[str, ...] = Offer("--by", "properties, separated by commas; see below", "LIST", listed=True).field(())
    tests: bool = Offer("--tests", "test each slice against the rest, and changes between systems within it").field(
        False
    )
    baseline: str | None = Offer("--baseline", "the system that changes are from (default: the first)", "NAME").field(
        None
    )
    resampling: ResamplingOptions = composed(ResamplingOptions, resamples=2_000)
    scoring: ScoringOptions = composed(ScoringOptions, without=("counting",), criteria=("strict",))

    def __post_init__(self) -> None:
        from nereval_core.analysis.slices import check_slicings

        check_slicings(self.by)
        if self.baseline is not None and not self.tests:
            raise FormatError.single("--baseline", None, "changes are from it in tests alone", "add --tests")


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """How the agreement of annotators is measured."""

    TITLE: ClassVar[str] = "agreement"

    gamma: bool = Offer(
        "--gamma",
        "also measure gamma of 2015 (Mathet et al.), on places and types of units: by sampling, so it takes long",
    ).field(False)
    resampling: ResamplingOptions = composed(ResamplingOptions)
    scoring: ScoringOptions = composed(ScoringOptions, without=("counting",), criteria=("strict",))


@dataclass(frozen=True, kw_only=True)
class ErrorsOptions:
    """Under which criteria the gains of mended errors are computed, and the classes that are mended in a prediction."""

    TITLE: ClassVar[str] = "mending"

    mend: tuple[str, ...] = Offer("--mend", "classes separated by commas, or all", "CLASS", listed=True).field(())
    scoring: ScoringOptions = composed(ScoringOptions, without=("counting",), criteria=("strict",))

    def __post_init__(self) -> None:
        assert self.mended is not None, "unknown classes are refused here"

    @cached_property
    def mended(self) -> tuple[str, ...]:
        """The classes of errors that are mended, in their order."""
        from nereval_core.analysis.errors import parse_classes

        return parse_classes(self.mend) if self.mend else ()


@dataclass(frozen=True, kw_only=True)
class ConsistencyOptions:
    """What a layer is searched for: `kinds` of findings, by default all, and whether `case` tells spellings apart."""

    TITLE: ClassVar[str] = "searching"

    kinds: tuple[str, ...] = Offer(
        "--kinds",
        "types, not-everywhere, edges, nesting, odd-ends, against-all (default: all)",
        "LIST",
        listed=True,
    ).field(())
    case: LetterCase = Offer(
        "--case",
        "tell spellings that differ in case apart if they are annotated differently (default), never, always",
        choices=("differs", "ignore", "keep"),
    ).field("differs")
    top: int | None = Offer(
        "--top", "findings of each kind (default: 20 in tables, all in JSON and CSV)", "N", number=TOP
    ).field(None)

    def __post_init__(self) -> None:
        from nereval_core.analysis.consistency.kinds import check_kinds

        check_offers(self)
        check_kinds(self.kinds)


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report shows; `records` is how many records of each class of errors, or a query that chooses them."""

    TITLE: ClassVar[str] = "the report"

    title: str = Offer("--title", "the title of the report", "TEXT", parse=one_line).field("")
    mask: bool = Offer("--mask", "replace letters and digits of the texts, for data that must not be shown").field(
        False
    )
    scoring: ScoringOptions = composed(
        ScoringOptions, without=("counting",), criteria=("strict", "exact", "partial", "type")
    )


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """Questions about criteria that are answered in place of the tables of all criteria."""

    TITLE: ClassVar[str] = "in place of the tables of all criteria, any of these"

    gap: tuple[str, ...] = Offer(
        "--gap",
        "the gap of F1 between two criteria, by cause, and the decisions under both",
        "A,B",
        parse=comma_separated,
    ).field(())
    curve: Share | None = Offer(
        "--curve", "scores against the least overlap, as a share of it", choices=("gold", "prediction", "union")
    ).field(None)
    any_type: bool = Offer("--any-type", "with --curve: types need not be equal").field(False)
    recovered: bool = Offer(
        "--recovered", "gold spans missed under strict, by the first criterion to credit them"
    ).field(False)
    gone: str = Offer("--gone", "the confusions under this criterion that each --merge removes", "CRITERION").field("")
    stand_in: str = Offer(
        "--stand-in", "agreement of other criteria with this one, over folds of documents", "CRITERION"
    ).field("")
    folds: int = Offer(
        "--folds", "with --stand-in: the number of folds (default: {default})", "K", number=FOLD_COUNT
    ).field(10)
    seed: int = Offer(
        "--seed",
        "with --stand-in: the seed that documents are shuffled with (default: {default})",
        "N",
        number=SEED,
    ).field(0)

    ladder: tuple[str, ...] = Offer(
        "--ladder",
        "the pairs of a record under each criterion, and the rules that flip them",
        ("DOC", "RECORD"),
    ).field(())

    def __post_init__(self) -> None:
        check_offers(self)
        if self.gap and len(self.gap) != 2:
            finding = f"{quoted(','.join(self.gap))} is not a pair"
            raise FormatError.single("--gap", None, finding, "name two criteria, separated by a comma")


@dataclass(frozen=True, kw_only=True)
class SensitivityOptions:
    """Under what systems are scored for their sensitivity; each of `merge` is a setting of its own."""

    TITLE: ClassVar[str] = "scoring"

    scoring: ScoringOptions = composed(ScoringOptions, without=("merge", "counting"), criteria=("all",))
    merge: tuple[str, ...] = Offer(
        "--merge", "a setting with types merged; repeatable", "A,B=NAME", repeatable=True
    ).field(())
    counting: Literal["one-to-one", "each-side", "both"] = Offer(
        "--counting", "each-side: no alignment", choices=("one-to-one", "each-side", "both")
    ).field("one-to-one")
    experiments: ExperimentOptions = composed(ExperimentOptions)

    def __post_init__(self) -> None:
        check_offers(self)
        assert self.merges is not None, "merges that cannot be read are refused here"

    @cached_property
    def merges(self) -> list[dict[str, str]]:
        """The merges of each setting: type -> merged name."""
        from nereval_core.analysis.criteria.sensitivity import parse_merges

        return parse_merges(self.merge)


BOUNDARIES: tuple[Boundaries, ...] = ("strict", "overlapping")


def _ranks(words: str) -> tuple[float, ...]:
    return tuple(dict.fromkeys(RANKS.parse(word) for word in words.split(",")))


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """How linked mentions are judged: each number of ranks `n` under each rule of `boundaries`."""

    TITLE: ClassVar[str] = "scoring"

    n: tuple[int, ...] = Offer(
        "--n", "numbers of ranked links of a prediction that count (default: {default})", "1,3,5", parse=_ranks
    ).field((1, 3, 5))
    boundaries: tuple[Boundaries, ...] = Offer(
        "--boundaries", "strict, overlapping (default: both)", "RULES", parse=comma_separated
    ).field(BOUNDARIES)
    mentions: Mentions = Offer("--mentions", "gold: judge equal boundaries only", choices=("end-to-end", "gold")).field(
        "end-to-end"
    )
    truth: Truth = Offer("--gold-links", "the links of gold that are correct", choices=("first", "any")).field("first")
    leave_out: tuple[str, ...] = Offer(
        "--leave-out", "leave types out, with commas; repeatable", "TYPE", listed=True
    ).field(())

    def __post_init__(self) -> None:
        check_offers(self)
        for rank in self.n:
            RANKS.check(rank)
        unknown = [rule for rule in self.boundaries if rule not in BOUNDARIES]
        if unknown or not self.boundaries:
            finding = f"there is no {quoted(','.join(unknown))}"
            raise FormatError.single("--boundaries", None, finding, f"choose among {', '.join(BOUNDARIES)}")
        if not self.rules:
            finding = "--mentions gold judges equal boundaries only"
            raise FormatError.single("--boundaries", None, finding, "leave them out")

    @property
    def rules(self) -> tuple[Boundaries, ...]:
        """The rules of boundaries that mentions are judged under."""
        possible = BOUNDARIES if self.mentions == "end-to-end" else BOUNDARIES[:1]
        return tuple(rule for rule in possible if rule in self.boundaries)


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """Which links of a mention count for its document."""

    links: Truth = Offer(
        "--links", "the links of a mention that count for its document", choices=("first", "any")
    ).field("first")

    def __post_init__(self) -> None:
        check_offers(self)


@dataclass(frozen=True, kw_only=True)
class VerdictOptions:
    """Which verdicts are accepted, of `reviewers` and of `kinds`, None for all; and which documents they change."""

    TITLE: ClassVar[str] = "verdicts"

    reviewers: tuple[str, ...] | None = Offer(
        "--reviewer", "accept those of NAME only; repeatable", "NAME", repeatable=True
    ).field(None)
    kinds: tuple[str, ...] | None = Offer(
        "--kind", "accept gold,pred,both,neither,unclear only", "LIST", listed=True
    ).field(None)
    only_this_document: bool = True

    def __post_init__(self) -> None:
        from nereval_core.review.verdicts import KINDS

        if unknown := [kind for kind in self.kinds or () if kind not in KINDS]:
            remedy = f"choose among {', '.join(KINDS)}"
            raise FormatError.single("--kind", None, f"there is no {quoted(unknown[0])}", remedy)

    def accepted(self, reviewed: Reviewed, source: str = "verdicts") -> Reviewed:
        """Return the accepted verdicts; problems name their `source`.

        Raises:
            FormatError: with each reviewer who has no current verdict.
        """
        from nereval_core.review.apply import select_verdicts

        names = ", ".join(map(quoted, reviewed.reviewers)) or "nobody"
        problems = [
            Problem(source, None, f"no current verdict of {quoted(name)}", f"there are verdicts of {names}")
            for name in self.reviewers or ()
            if not reviewed.by([name]).reviewers
        ]
        if problems:
            raise FormatError(problems)
        return select_verdicts(reviewed, who=self.reviewers, kinds=self.kinds)
