"""The verb `agreement`: the agreement of annotators, of each pair and of all together."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nereval_core.cli.options import (
    FILES,
    Parser,
    UsageError,
    add_output,
    add_reading,
    add_resampling,
    add_scoring,
    check_by,
)
from nereval_core.options import check_resampling

if TYPE_CHECKING:
    from nereval_core.analysis.agreement import Agreement
    from nereval_core.analysis.agreement.coefficients import Pair
    from nereval_core.analysis.resampling_units import ResamplingPlan
    from nereval_core.api.load import Loaded
    from nereval_core.api.load_options import LoadOptions
    from nereval_core.cli.files import Paths
    from nereval_core.corpus import Layer
    from nereval_core.problems import Problem
    from nereval_core.scoring import Settings
    from nereval_core.scoring.criteria import Criterion

HELP = "measure the agreement of annotators, with intervals"
USAGE = "A B [C ...] [options]"
EXAMPLE = "ann.jsonl bob.jsonl cem.jsonl --system tagger=run.jsonl"
NOTES = f"""\
A, B, C are the layers of annotators or systems over the same documents; none is gold. Options for gold apply to A,
options for predictions to the others. F1 is computed for each pair under --criteria, kappa and alpha on tokens (the
category of a token is the set of types that cover it), unitizing alpha (of 2004) on characters. For more than two
annotators F1 and observed agreement are means over the pairs, undefined ones left out, and kappa is Fleiss'. Criteria
that are not symmetric give both ways. Intervals are bias-corrected bootstrap intervals over documents, or the units of
--resample-by. An undefined figure has its reason: no spans, one category only, or no expected disagreement.

All annotators are taken to have read all documents. If one has not read a document, --documents shared leaves it out,
--documents pairwise compares each pair on the documents that both have, and --missing empty counts it as read, without
a span, which lowers agreement. A file that lacks a document says that its annotator did not see it. Pairwise, all
annotators together have the means of F1 and observed agreement, without intervals, no kappa, and both alphas with
missing values.

--system holds a system against the human ceiling: is its mean F1 with annotators below that of annotators with one
another? The difference has an interval and a one-sided randomization test (Holm's correction over the systems).
--gamma has neither intervals nor figures by type or document. --seed decides what it draws. --merge and --leave-out
count for every figure, types merged by a criterion of your own for its F1 alone.

{FILES.format("A, B, C", "agreement", "ann=A1 ann=A2 bob=B1 bob=B2", "B", "agreement")}"""
BY = ("type", "document")


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("agreement").add_argument
    said = "hold a system against the agreement of annotators; repeatable"
    add("--system", action="append", default=[], metavar="[NAME=]FILE", help=said)
    gamma = "also measure gamma of 2015 (Mathet et al.), on places and types of units: by sampling, so it takes long"
    add("--gamma", action="store_true", help=gamma)
    add_resampling(add)
    add_output(parser, by=("type,document", "break the figures down"), methods=True)
    add_scoring(parser, "strict")
    add_reading(parser, "A first, then B or NAME=B, …", ("A", "the others"))


def run(options: argparse.Namespace) -> None:
    from pathlib import Path

    from nereval_core.analysis.agreement import PAIRWISE
    from nereval_core.analysis.resampling_units import ResamplingPlan
    from nereval_core.cli.files import TWO_OF_ONE, paths_by_name
    from nereval_core.cli.output import output_places, write_result
    from nereval_core.cli.results.agreement import agreement_result
    from nereval_core.cli.runner import say_greedy

    pairwise = options.documents == PAIRWISE and not Path(PAIRWISE).is_file()
    if pairwise and len(paths_by_name(options.files)) == 1:
        raise UsageError(f"--documents {PAIRWISE} compares files: name two annotators or more")
    if len(paths_by_name(options.files)) == 1 and None in (options.gold_column, options.pred_column):
        raise UsageError(f"name two annotators or more, {TWO_OF_ONE}")
    if both := sorted(paths_by_name(options.files).keys() & paths_by_name(options.system).keys()):
        raise UsageError(f"--system {both[0]} is called as an annotator, write NAME=FILE")
    by = check_by(options, BY, f"there are {' and '.join(BY)}")
    check_resampling(options.resamples, options.seed)
    places = output_places(options, "methods")
    plan = ResamplingPlan(resamples=options.resamples, seed=options.seed)
    found, marks = (_agree_pairwise if pairwise else _agree_on_all)(options, plan)
    for pair, scores in found.scores.items():
        greedy = sorted({name for each in scores.values() for name in each.greedy})
        say_greedy(" and ".join(found.annotators[number] for number in pair), greedy)
    for name, documents in (found.ceiling.greedy if found.ceiling else {}).items():
        say_greedy(f"{name} and annotators", documents)
    write_result(agreement_result(found, by=by, marks=marks), places)


def _agree_on_all(options: argparse.Namespace, plan: ResamplingPlan) -> tuple[Agreement, tuple[str, ...]]:
    """Return the agreement of annotators over the same documents, and the marks of the signature."""
    from nereval_core.analysis.resampling_units import resampling_units
    from nereval_core.api.agreement import annotator_layers, measure_with_systems
    from nereval_core.cli.files import paths_by_name
    from nereval_core.cli.runner import load_layers, say_unused, scoring_settings, types_of

    settings = scoring_settings(options)
    paths = paths_by_name(options.files)
    if len(paths) == 1:
        # One file has both annotators in two columns.
        (path,) = paths.values()
        name = f"column {options.gold_column}"
        paths = {name: path, f"column {options.pred_column}": path}
    else:
        name, path = next(iter(paths.items()))
    systems = paths_by_name(options.system)
    rest = {other: place for other, place in paths.items() if other != name} | systems
    loaded = load_layers(options, path, rest, reference=name)
    say_unused(settings, types_of(loaded))
    layers = annotator_layers(name, loaded)
    settings = _applicable(settings, options, [layer for other, layer in layers.items() if other not in systems])
    units = resampling_units(loaded.corpus.documents, options.resample_by)
    found = measure_with_systems(layers, tuple(systems), settings, plan, units, gamma=options.gamma)
    return found, _marks(loaded)


def _agree_pairwise(options: argparse.Namespace, plan: ResamplingPlan) -> tuple[Agreement, tuple[str, ...]]:
    """Return the agreement of each pair of annotators on the documents that both have.

    Raises:
        FormatError: the problems of reading all pairs, each once; no pair has a document in common.
    """
    from dataclasses import replace

    from nereval_core.analysis.agreement import measure_agreement, measure_pairwise_agreement
    from nereval_core.analysis.agreement.coefficients import NONE_IN_COMMON
    from nereval_core.analysis.resampling_units import resampling_units
    from nereval_core.api.agreement import annotator_layers, compared_pairs, score_systems
    from nereval_core.cli.files import paths_by_name
    from nereval_core.cli.options import SHARED, load_options
    from nereval_core.cli.output import say
    from nereval_core.cli.runner import say_notices, say_unused, scoring_settings
    from nereval_core.problems import FormatError, counted

    settings = scoring_settings(options)
    annotators, systems = (paths_by_name(files) for files in (options.files, options.system))
    names = (*annotators, *systems)
    both = load_options(argparse.Namespace(**{**vars(options), "documents": SHARED}))
    others = replace(both, gold_format=both.pred_format, gold_column=both.pred_column, gold_types=both.pred_types)
    pairs = _load_pairs(annotators | systems, both, others, len(systems))
    for pair in compared_pairs(len(names), len(systems)):
        if pair not in pairs:
            say(f"{' and '.join(names[number] for number in pair)}: {NONE_IN_COMMON}")
    if not any(pair[1] < len(annotators) for pair in pairs):
        raise FormatError.single("annotators", None, "no two have a document in common", "name those of the same texts")
    for pair, loaded in pairs.items():
        if not options.quiet:
            who = " and ".join(names[number] for number in pair)
            say(f"{who}: {counted(len(loaded.corpus.documents), loaded.corpus.documents.unit)} in common")
        say_notices(loaded.corpus.gold, loaded.corpus.systems, reference=names[pair[0]])
    layers = {pair: annotator_layers(names[pair[0]], loaded) for pair, loaded in pairs.items()}
    every = [layer for some in layers.values() for name, layer in some.items() if name in annotators]
    say_unused(settings, {kind for layer in every for kind in layer.types})
    settings = _applicable(settings, options, every)
    parts = {}
    for pair, loaded in pairs.items():
        if pair[1] < len(annotators):
            units = resampling_units(loaded.corpus.documents, options.resample_by)
            parts[pair] = measure_agreement(layers[pair], settings, plan=plan, resampled=units, gamma=options.gamma)
    scored = score_systems(layers, tuple(annotators), tuple(systems), settings)
    marks = tuple(dict.fromkeys(mark for one in pairs.values() for mark in _marks(one)))
    return measure_pairwise_agreement(tuple(annotators), parts, scored), marks


def _load_pairs(paths: Mapping[str, Paths], both: LoadOptions, others: LoadOptions, systems: int) -> dict[Pair, Loaded]:
    """Read each annotator once, and return each two on the documents that both have; the last are `systems`.

    Raises:
        FormatError: with the problems of all pairs, each once.
    """
    from nereval_core.api.agreement import compared_pairs, pair_annotators
    from nereval_core.api.load import NONE_SHARED, load_corpus, read_layers
    from nereval_core.problems import FormatError

    first, *rest = paths
    read = read_layers(paths[first], {name: paths[name] for name in rest}, both)
    readings = {first: read.gold, **read.systems}
    sound = {name: reading for name, reading in readings.items() if not isinstance(reading, FormatError)}
    if len(sound) == len(readings):
        with suppress(FormatError):
            return pair_annotators(sound, both, others, systems=systems)
    # Something is refused: each pair is loaded by itself, which tells what else stands behind a problem.
    pairs: dict[Pair, Loaded] = {}
    problems: list[Problem] = []
    for pair in compared_pairs(len(paths), systems):
        one, other = (list(paths)[number] for number in pair)
        try:
            pairs[pair] = load_corpus(paths[one], {other: paths[other]}, options=others if pair[0] else both)
        except FormatError as error:
            problems += [problem for problem in error.problems if problem.found != NONE_SHARED]
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return pairs


def _marks(loaded: Loaded) -> tuple[str, ...]:
    return tuple(f"{name}: {mark}" for name, some in loaded.marks.items() for mark in some)


def _applicable(settings: Settings, options: argparse.Namespace, layers: Sequence[Layer]) -> Settings:
    """Return settings with the criteria that can be applied with at least one of the annotators as gold.

    Raises:
        FormatError: a criterion given by name cannot be applied with any annotator as gold.
    """
    from dataclasses import replace

    from nereval_core.cli.runner import applicable_criteria

    criteria: list[Criterion] = []
    for criterion in settings.criteria:
        able = next((layer for layer in layers if criterion.lacks(layer) is None), layers[0])
        criteria += applicable_criteria((criterion,), options, able)
    return replace(settings, criteria=tuple(criteria))
