"""The methods paragraph: statements with their citations, in every form, and those that results share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

from nereval_core import __version__
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.sentences import name_list, number_with_noun
from nereval_core.conventions import Outcome, find_convention
from nereval_core.options import INTERVAL_METHOD
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.report import METHODS_FORMS
from nereval_core.report.references import HOLM, INTERVAL, METHODS, STRATA, bibtex, works, works_named_in
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import CRITERIA, Criterion, Decision, same_rule
from nereval_core.scoring.protocols import CountedScores
from nereval_core.tables.rendering import escape_latex, escape_markdown


@dataclass(frozen=True, slots=True)
class Cited:
    """The place of a citation in a statement: the keys of the works."""

    keys: tuple[str, ...]


Statement = tuple[str | Cited, ...]
"""A sentence in parts, each text or a citation."""


def cite(*methods: str) -> Cited:
    """Return the citation of some METHODS."""
    return Cited(tuple(dict.fromkeys(key for name in methods for key in METHODS[name].sources)))


@dataclass(frozen=True)
class Methods:
    """What was done to get some figures: statements, and the signatures that reproduce the figures."""

    statements: tuple[Statement, ...]
    signatures: tuple[str, ...]

    def __repr__(self) -> str:
        return self.paragraph

    def in_words(self, words: Callable[[str], str]) -> Methods:
        """Return the same methods in other words: those of two annotators, say, for gold and predictions."""
        statements = tuple(
            tuple(words(part) if isinstance(part, str) else part for part in statement) for statement in self.statements
        )
        return Methods(statements, self.signatures)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the works cited, in the order of the statements."""
        parts = (part for statement in self.statements for part in statement)
        return tuple(dict.fromkeys(key for part in parts if isinstance(part, Cited) for key in part.keys))

    @property
    def paragraph(self) -> str:
        """The statements and signatures as plain text, works by authors and year."""
        return f"{self._sentences(str, _in_brackets)} {self._signed}: {'; '.join(self.signatures)}"

    @property
    def bibtex(self) -> str:
        """The works cited, as entries of BibTeX."""
        return bibtex(self.keys)

    def as_text(self) -> str:
        """Return the paragraph and the works cited, a line each."""
        return "\n".join([self.paragraph, *([""] if self.keys else []), *self._references()]) + "\n"

    def as_markdown(self) -> str:
        """Return the paragraph with links, the signatures, and the works cited."""
        parts = [
            self._sentences(escape_markdown, _linked),
            f"{self._signed}:",
            *(f"    {signature}" for signature in self.signatures),
        ]
        listed = "\n".join(f"- {escape_markdown(line)}" for line in self._references())
        return "\n\n".join([*parts, *([listed] if listed else [])]) + "\n"

    def as_latex(self) -> str:
        r"""Return the paragraph with `\cite`, whose keys are those of `bibtex`."""
        signed = "\\\\\n".join(map(escape_latex, self.signatures))
        return (
            f"{self._sentences(escape_latex, _latex_citation)} {self._signed}:\n"
            f"\\begin{{flushleft}}\\footnotesize\\ttfamily\n{signed}\n\\end{{flushleft}}\n"
        )

    @property
    def _signed(self) -> str:
        return "Signature" if len(self.signatures) == 1 else "Signatures"

    def _sentences(self, escape: Callable[[str], str], cited: Callable[[tuple[str, ...]], str]) -> str:
        return " ".join(
            "".join(escape(part) if isinstance(part, str) else cited(part.keys) for part in statement)
            for statement in self.statements
        )

    def _references(self) -> Iterable[str]:
        return [f"{works()[key].reference} {works()[key].url}".rstrip() for key in sorted(self.keys)]


FORMS: Mapping[str, Callable[[Methods], str]] = MappingProxyType(
    dict(
        zip(METHODS_FORMS, (Methods.as_markdown, Methods.as_text, Methods.as_latex, attrgetter("bibtex")), strict=True)
    )
)
"""The forms of a paragraph by the ending of its file."""


def _in_brackets(keys: tuple[str, ...]) -> str:
    return f" ({'; '.join(works()[key].citation for key in keys)})" if keys else ""


def _linked(keys: tuple[str, ...]) -> str:
    return f" ({'; '.join(map(linked_citation, keys))})" if keys else ""


def linked_citation(key: str) -> str:
    """Return the citation of a work in Markdown, a link where its address is known."""
    work = works()[key]
    return f"[{work.citation}]({work.url})" if work.url else work.citation


def _latex_citation(keys: tuple[str, ...]) -> str:
    return f"~\\cite{{{','.join(keys)}}}" if keys else ""


def scored_statements(scored: Mapping[str, CountedScores], names: Sequence[str]) -> Iterator[Statement]:
    """Yield what was scored: the systems by name, and the criteria with these names."""
    scores = next(iter(scored.values()))
    # Criteria that count tokens have no number of spans.
    counted = min((scores.criterion(name) for name in names), key=lambda criterion: criterion.unit != "span")
    gold = number_with_noun(f"gold {counted.unit}", scores.counts(counted.name).pos)
    yield (_against(list(scored), gold, number_with_noun(scores.unit, scores.documents)), ".")
    yield from type_statements(scores.settings)
    yield from criteria_statements([scores.criterion(name) for name in names], scores.settings)
    yield ("Precision, recall and F1 are micro averages: counts are summed before they are divided.",)


def published_statements(outcomes: Mapping[str, Outcome]) -> Iterator[Statement]:
    """Yield what was scored by a published scorer, by the name of the system."""
    outcome = next(iter(outcomes.values()))
    convention = find_convention(outcome.convention)
    keys = works_named_in(convention.source)
    source = convention.source
    for key in keys:
        citation = works()[key].citation
        source = source.replace(f" ({citation})", "").replace(f"; {citation}", "")
    defaults = {option.name: option.default for option in convention.options}
    options_given = [f"{name} {value}" for name, value in outcome.options.items() if value != defaults.get(name)]
    gold, documents = outcome.gold.spans, outcome.gold.documents
    data = number_with_noun("gold span", gold), number_with_noun(outcome.documents.unit, documents)
    options = f", with {name_list(options_given)}" if options_given else ""
    yield (
        _against(list(outcomes), *data),
        f" as the scorer {convention.name} does{options}: {source}",
        Cited(keys),
        ".",
    )


def _against(systems: Sequence[str], gold: str, documents: str) -> str:
    who = f"The system {systems[0]} was" if len(systems) == 1 else f"The systems {name_list(systems)} were"
    return f"{who} scored against {gold} in {documents} with nereval {__version__}"


def type_statements(settings: Settings) -> Iterator[Statement]:
    """Yield how types were merged and left out for all criteria."""
    if settings.merge:
        yield (f"Types were merged before scoring: {merged_in_words(dict(settings.merge))}.",)
    if settings.leave_out:
        yield (f"Spans of {_types(settings.leave_out)} were left out.",)


GOLD_AND_PREDICTIONS = ("gold spans and predictions", "Each gold span and each prediction")
TWO_ANNOTATORS = ("spans of two annotators", "Each span of two annotators")
"""The spans of both sides that were aligned, in words: all of them, and each."""


def criteria_statements(
    criteria: Sequence[Criterion], settings: Settings, sides: tuple[str, str] = GOLD_AND_PREDICTIONS
) -> Iterator[Statement]:
    """Yield how spans of the two sides were aligned, and the condition of each criterion."""
    all_spans, each_span = sides
    pairs = [rule for rule in criteria if rule.unit == "span"]
    if pairs and settings.counting == "one-to-one":
        yield (f"In each document {all_spans} are aligned one to one, such that the score is best.",)
    elif pairs:
        yield (
            f"{each_span} has the best decision that an overlapping span of the other side gives, without a one-to-one "
            "alignment.",
        )
    parts: list[str | Cited] = []
    for source, alike in groupby(pairs, _source):
        for criterion in alike:
            parts += ["; " if parts else "A pair is correct ", f"under {criterion.name} where {_condition(criterion)}"]
        parts.append(source)
    if parts:
        yield (*parts, ".")
    for criterion in criteria:
        if criterion.unit == "token":
            statement = (
                "tokens are counted in place of spans, and a token is correct if it has the same type on both sides"
            )
            yield (f"Under {criterion.name} {statement}{_own_types(criterion)}", _source(criterion), ".")


def _condition(criterion: Criterion) -> str:
    return criterion.condition() + _half_points(criterion) + _own_types(criterion)


def _half_points(criterion: Criterion) -> str:
    """Return in words which aligned pairs count half, "" where none does."""
    half = [part for part, decision in criterion.near_misses.items() if decision == Decision.PAR]
    if not half:
        return ""
    if len(half) == len(criterion.near_misses):
        return " (any other aligned pair counts half)"
    return f" (an aligned pair that differs in {half[0]} alone counts half)"


def _own_types(criterion: Criterion) -> str:
    merged = f", types merged: {merged_in_words(dict(criterion.merge))}" if criterion.merge else ""
    return merged + (f", {_types(criterion.leave_out)} left out" if criterion.leave_out else "")


def _types(names: Sequence[str]) -> str:
    return f"the type {names[0]}" if len(names) == 1 else f"the types {name_list(names)}"


def _source(criterion: Criterion) -> Cited:
    """Return the citation of a criterion of the field; a user's own has none, whatever its name."""
    built_in = CRITERIA.get(criterion.name)
    return Cited(works_named_in(built_in.source) if built_in is not None and same_rule(criterion, built_in) else ())


def holm_statement(over: str) -> Statement:
    """Return over what p values were corrected."""
    return (f"p values were corrected over {over} by Holm's method", cite(HOLM), ".")


def significance_statement(level: float, corrected: str = "") -> Statement:
    """Return when a difference is called significant."""
    return (f"A difference is called significant where p is at most {1 - level:.2g}{corrected}.",)


def interval_statement(what: str, plan: ResamplingPlan, resampled_units: str, units: ResamplingUnits) -> Statement:
    """Return how intervals of `what` were made; `resampled_units` is what was resampled."""
    return (
        f"The {plan.level:.0%} intervals of {what} are from the {INTERVAL_METHOD}, widened "
        "where units are few or uneven",
        cite(INTERVAL),
        f", from {plan.resamples:,} resamples of {resampled_units}",
        cite(*([] if units.strata is None else [STRATA])),
        f" (seed {plan.seed}).",
    )
