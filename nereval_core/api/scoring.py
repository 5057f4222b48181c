"""Score what was loaded for any verb, and tell a listener what a reader of the scores should know."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Protocol

from nereval_core.alignment.codes import Progress
from nereval_core.api.load import Loaded
from nereval_core.api.load_options import ALL, ScoringOptions
from nereval_core.pairing import NamedLayer, Pairing, TypesNotInGoldWarning, notices_of
from nereval_core.problems import SHOWN, counted, quoted
from nereval_core.readers import Reading
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Annotated, Criterion, check_criteria


class Listener(Protocol):
    """Takes what a verb has to tell while it reads and scores: a terminal prints it, Python issues warnings."""

    def read(self, text: str) -> None:
        """Take a line on what was read."""

    def note(self, text: str) -> None:
        """Take a line on what was done otherwise than one may expect."""

    def warn(self, text: str, category: type[UserWarning] = UserWarning) -> None:
        """Take a line on what is often a mistake."""

    def progress(self, name: str, done_word: str) -> Progress | None:
        """Return what is called with the number done and the total, None if nobody looks."""


@dataclass(frozen=True)
class PythonWarnings:
    """The listener of the library: warnings are issued at the line that called it, everything else is not told."""

    progress_function: Progress | None = None

    def read(self, text: str) -> None:
        """Tell nothing: the reading has it."""

    def note(self, text: str) -> None:
        """Tell nothing: the result has it."""

    def warn(self, text: str, category: type[UserWarning] = UserWarning) -> None:
        warnings.warn(text, category, stacklevel=_levels_inside() + 1)

    def progress(self, name: str, done_word: str) -> Progress | None:
        return self.progress_function


class UnusedTypesWarning(UserWarning):
    """Types that are merged or left out are those of no span."""


class GreedyAlignmentWarning(UserWarning):
    """Spans of a document were too tangled to be aligned exactly."""


def score_loaded(loaded: Loaded, options: ScoringOptions, listener: Listener) -> dict[str, Scores]:
    """Return the scores of each system by name.

    Raises:
        FormatError: a criterion that is named needs what no gold span has.
    """
    return score_systems(loaded, settings_for(loaded, options, listener), listener)


def score_systems(loaded: Loaded, settings: Settings, listener: Listener) -> dict[str, Scores]:
    """Return the scores of each system by name under settings, and tell which documents were aligned greedily."""
    scores = {}
    for name, layer in zip(loaded.systems, loaded.corpus.systems, strict=True):
        progress = listener.progress(name, "scored")
        marks = loaded.marks[name]
        scores[name] = score_layers(loaded.corpus.gold, layer, settings, marks=marks, progress=progress)
        tell_greedy(name, scores[name].greedy, listener)
    return scores


def settings_for(loaded: Loaded, options: ScoringOptions, listener: Listener) -> Settings:
    """Return the settings with the criteria that gold allows, and tell what they and the types of systems call for.

    Raises:
        FormatError: a criterion that is named needs what no gold span has.
    """
    settings = options.settings
    gold = loaded.corpus.gold
    settings = replace(settings, criteria=applicable_criteria(options, settings.criteria, gold, listener))
    tell_notices(gold, loaded.named_layers(), listener, settled=settings.settled_types)
    tell_unused(settings, loaded.types, listener)
    return settings


def applicable_criteria(
    options: ScoringOptions, criteria: Iterable[Criterion], gold: Annotated, listener: Listener
) -> tuple[Criterion, ...]:
    """Return the criteria that gold has what they need for; tell those that only `all` names and that are skipped.

    Raises:
        FormatError: a criterion that is named itself needs what no gold span has.
    """
    criteria = tuple(criteria)
    named = options.criteria or ()
    optional = {criterion for name, criterion in CRITERIA.items() if ALL in named and name not in named}
    check_criteria((criterion for criterion in criteria if criterion not in optional), gold, source="--criteria")
    applicable = tuple(criterion for criterion in criteria if criterion.lacks(gold) is None)
    for criterion in criteria:
        if criterion not in applicable:
            listener.note(f"--criteria all: {criterion.name} skipped, it needs {criterion.lacks(gold)}")
    bare = len(gold) - len(gold.cores)
    if bare and any(criterion.boundary_rule.bare for criterion in applicable):
        listener.note(f"core: {bare} of {len(gold)} gold spans have no core, each counts as its own")
    return applicable


def sizes_in_words(documents: int, spans: int, types: int) -> str:
    """Return the size of a layer: `20 documents, 1 span, 1 type`."""
    return ", ".join((counted(documents, "document"), counted(spans, "span"), counted(types, "type")))


def tell_read(reading: Reading, listener: Listener) -> None:
    """Tell the format and size of a layer, and the reader's notes."""
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    sizes = sizes_in_words(len(reading.documents), len(reading.layer), len(reading.layer.types))
    listener.read(f"{reading.source}: {'; '.join((form, sizes, *reading.notes))}")


def tell_lost(loaded: Loaded, listener: Listener) -> None:
    """Warn of the spans that were lost when layers were projected onto gold's texts."""
    for lost in loaded.lost.values():
        for problem in lost[:SHOWN]:
            listener.warn(str(problem))
        if len(lost) > SHOWN:
            listener.warn(f"{lost[0].source}: {len(lost)} spans lost in all; the first {SHOWN} are shown")


def tell_notices(
    gold: NamedLayer,
    systems: Mapping[str, NamedLayer],
    listener: Listener,
    *,
    reference: str = "gold",
    settled: Collection[str] = (),
) -> None:
    """Warn of systems that are identical to gold, or to another `reference`, and of types that it does not have."""
    for name, system in systems.items():
        for sentence, category in notices_of(gold, system, reference=reference, settled=settled).by_category():
            # The sentence on types speaks of gold, whatever the reference is called.
            is_clear = reference == "gold" or category is not TypesNotInGoldWarning
            listener.warn(f"{name if is_clear else f'{name} against {reference}'}: {sentence}", category)


def tell_unused(settings: Settings, types: Collection[str], listener: Listener) -> None:
    """Warn of types to be merged or left out that no span has (`types` are those of spans): often typing errors."""
    merged = dict(settings.merge)
    for option, names in (
        ("--merge", sorted(set(merged).difference(types))),
        ("--leave-out", sorted(set(settings.leave_out).difference(types, merged.values()))),
    ):
        if names:
            listener.warn(f"{option}: no span has the type {', '.join(map(quoted, names))}", UnusedTypesWarning)


def tell_greedy(name: str, documents: Sequence[str], listener: Listener) -> None:
    """Warn of the documents of a system in which clusters were too large for the exact alignment."""
    if documents:
        sentence = f"clusters too large to be aligned exactly were aligned greedily, in: {', '.join(documents)}"
        listener.warn(f"{name}: {sentence}", GreedyAlignmentWarning)


def check_pairing(pairing: Mapping[str, Any]) -> None:
    """Refuse keywords that are not options of pairing, in the name of the verb that was called with them.

    Raises:
        TypeError: as Python raises it, with the nearest keyword that the verb has.
    """
    unknown = [name for name in pairing if name not in Pairing.__annotations__]
    if unknown:
        from difflib import get_close_matches

        code = _outermost_frame()[0].f_code
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        nearest = get_close_matches(unknown[0], [*parameters, *Pairing.__annotations__], 1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise TypeError(f"{code.co_name}() got an unexpected keyword argument {unknown[0]!r}{hint}")


def _levels_inside() -> int:
    """Return the number of frames, from the caller's on, that belong to this package."""
    # Without this function's own.
    return _outermost_frame()[1] - 1


def _outermost_frame() -> tuple[FrameType, int]:
    """Return the frame of this package that was entered first, and how many frames from the caller's on are inside."""
    package, levels = __name__.partition(".")[0], 0
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_back.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, levels = frame.f_back, levels + 1
    return frame, levels + 1
