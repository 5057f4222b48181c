"""Steps that verbs share: settings of scoring from the options, the layers read, and their scores."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from nereval_core.api.load import Loaded, load_corpus
from nereval_core.cli.files import Paths, gold_path, system_paths
from nereval_core.cli.options import ALL, comma_separated, load_options
from nereval_core.cli.output import progress_bar, say
from nereval_core.corpus import Layer
from nereval_core.pairing.notices import NamedLayer, notices_of
from nereval_core.problems import SHOWN, FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, Source
from nereval_core.scoring import Counting, Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Annotated, Criterion, check_criteria, choose_criteria


def load_layers(
    options: argparse.Namespace,
    gold: Paths | None = None,
    systems: Mapping[str, Paths] | None = None,
    *,
    reference: str | None = "gold",
) -> Loaded:
    """Read gold and the systems, by default all that are named, and say what was read unless told to be quiet.

    Notices on systems call gold by the name `reference`; there are none where it is None.

    Raises:
        FormatError: with the problems of all files.
    """
    loaded = load_corpus(
        gold_path(options) if gold is None else gold,
        system_paths(options) if systems is None else systems,
        options=load_options(options),
        progress=lambda name: progress_bar(name, "read"),
    )
    if not options.quiet:
        for reading in (loaded.gold, *loaded.systems.values()):
            say_read(reading)
        say_lost(loaded)
    if reference is not None:
        say_notices(loaded.corpus.gold, loaded.corpus.systems, reference=reference)
    return loaded


def load_for_scoring(options: argparse.Namespace) -> tuple[Loaded, Settings]:
    """Read gold and the systems, and return them with the settings of scoring.

    Raises:
        FormatError: with the problems of all options, or of all files.
    """
    settings = scoring_settings(options)
    loaded = load_layers(options, reference=None)
    settings = replace(settings, criteria=applicable_criteria(settings.criteria, options, loaded.corpus.gold))
    say_notices(loaded.corpus.gold, loaded.corpus.systems, settled=settings.settled_types)
    say_unused(settings, types_of(loaded))
    return loaded, settings


def types_of(loaded: Loaded) -> set[str]:
    """Return the types that a span of gold or of a system has."""
    return {kind for layer in (loaded.corpus.gold, *loaded.corpus.systems) for kind in layer.types}


def score_systems(loaded: Loaded, settings: Settings) -> list[tuple[Layer, Scores]]:
    """Score every system, and say which documents were aligned greedily."""
    scored = []
    for layer in loaded.corpus.systems:
        progress = progress_bar(layer.name, "scored")
        marks = loaded.marks[layer.name]
        scores = score_layers(loaded.corpus.gold, layer, settings, marks=marks, progress=progress)
        say_greedy(layer.name, scores.greedy)
        scored.append((layer, scores))
    return scored


# Settings of scoring


def scoring_settings(options: argparse.Namespace, *, several_merges: bool = False) -> Settings:
    """Return criteria, merges, types left out and the counting.

    With `several_merges`, each merge is a setting of its own, and so may be each counting: neither is returned.

    Raises:
        FormatError: with all that is wrong with them at once.
    """
    problems: list[Problem] = []
    composed: list[Criterion] = []
    chosen: list[str | Criterion] = []
    merge: dict[str, str] = {}
    named = SCHEMAS if options.criteria is None else comma_separated([options.criteria])
    for item in named:
        try:
            if item == ALL:
                # Which of them apply is known when gold is read: see `applicable_criteria`.
                chosen += CRITERIA
            elif item.endswith(".toml"):
                from nereval_core.scoring.criterion_syntax import criteria_from_toml

                composed += criteria_from_toml(Source.of_path(item).files[0].text(), item)
                chosen += composed
            else:
                chosen.append(item)
        except FormatError as error:
            problems += error.problems
    for item in options.criterion:
        try:
            composed.append(_composed_criterion(item))
        except FormatError as error:
            problems += error.problems
    try:
        if options.merge and not several_merges:
            from nereval_core.scoring.type_merging import parse_merge

            merge = parse_merge(options.merge)
    except FormatError as error:
        problems += error.problems
    criteria: tuple[Criterion, ...] = ()
    try:
        if chosen or composed or not problems:
            criteria = choose_criteria([*chosen, *composed], composed=composed, source="--criteria")
    except FormatError as error:
        problems += error.problems
    if problems:
        raise FormatError(problems)
    leave_out = tuple(sorted(set(comma_separated(options.leave_out))))
    counting: Counting = "one-to-one" if several_merges else options.counting
    return Settings(criteria, tuple(sorted(merge.items())), leave_out, counting)


def applicable_criteria(
    criteria: Iterable[Criterion], options: argparse.Namespace, gold: Annotated
) -> tuple[Criterion, ...]:
    """Return the criteria that gold has what they need for; say which of those that only `all` names are skipped.

    Raises:
        FormatError: one that is named itself needs what no gold span has.
    """
    named = comma_separated([options.criteria or ""])
    free = {criterion for name, criterion in CRITERIA.items() if ALL in named and name not in named}
    check_criteria((criterion for criterion in criteria if criterion not in free), gold, source="--criteria")
    kept = tuple(criterion for criterion in criteria if criterion.lacks(gold) is None)
    for criterion in criteria:
        if criterion not in kept:
            say(f"--criteria all: {criterion.name} skipped, it needs {criterion.lacks(gold)}")
    bare = len(gold) - len(gold.cores)
    if bare and any(criterion.boundary_rule.bare for criterion in kept):
        say(f"core: {bare} of {len(gold)} gold spans have no core, each counts as its own")
    return kept


def _composed_criterion(text: str) -> Criterion:
    """Read a criterion written `NAME: key=value, key=value`.

    Raises:
        FormatError: another form, or a part that is unknown or out of range.
    """
    from nereval_core.scoring.criterion_syntax import criterion_from_parts

    name, colon, rest = text.partition(":")
    parts: dict[str, str] = {}
    for item in rest.split(",") if rest.strip() else ():
        key, equals, value = item.partition("=")
        if not equals or key.strip() in parts or key.strip() in ("merge", "leave_out"):
            colon = ""
        parts[key.strip()] = value.strip()
    if not colon:
        remedy = 'write "NAME: boundaries=overlap, types=any, otherwise=PAR"; merge and leave_out go in a .toml file'
        raise FormatError.single("--criterion", None, f"{quoted(text)} is not a criterion", remedy)
    return criterion_from_parts(name.strip(), parts, "--criterion")


# Messages


def sizes_in_words(documents: int, spans: int, types: int) -> str:
    """Return the size of a layer: `20 documents, 1 span, 1 type`."""
    return ", ".join((counted(documents, "document"), counted(spans, "span"), counted(types, "type")))


def say_read(reading: Reading) -> None:
    """Print the format and size of a layer, and the reader's notes."""
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    sizes = sizes_in_words(len(reading.documents), len(reading.layer), len(reading.layer.types))
    say(f"{reading.source}: {'; '.join((form, sizes, *reading.notes))}")


def say_lost(loaded: Loaded) -> None:
    """Print the spans that were lost when layers were projected onto gold's texts."""
    for lost in loaded.lost.values():
        for problem in lost[:SHOWN]:
            say(str(problem), warning=True)
        if len(lost) > SHOWN:
            say(f"{lost[0].source}: {len(lost)} spans lost in all; the first {SHOWN} are shown", warning=True)


def say_notices(
    gold: NamedLayer, systems: Iterable[NamedLayer], *, reference: str = "gold", settled: Collection[str] = ()
) -> None:
    """Print the systems that are identical to gold in content, and types that gold does not have."""
    for system in systems:
        for sentence in notices_of(gold, system, reference=reference, settled=settled):
            say(f"{system.name}: {sentence}", warning=True)


def say_unused(settings: Settings, types: Collection[str]) -> None:
    """Print the types to be merged or left out that no span has (`types` are those of spans): often typing errors."""
    merged = dict(settings.merge)
    for option, names in (
        ("--merge", sorted(set(merged).difference(types))),
        ("--leave-out", sorted(set(settings.leave_out).difference(types, merged.values()))),
    ):
        if names:
            say(f"{option}: no span has the type {', '.join(map(quoted, names))}", warning=True)


def say_greedy(name: str, documents: Sequence[str]) -> None:
    """Print the documents of a system in which clusters were too large for the exact alignment."""
    if documents:
        say(
            f"{name}: clusters too large to be aligned exactly were aligned greedily, in: {', '.join(documents)}",
            warning=True,
        )
