"""The verb `agreement`: how far annotators agree, each two and all together."""

from __future__ import annotations

import argparse
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
    check_resampling,
)

if TYPE_CHECKING:
    from nereval_core.api.load import Loaded
    from nereval_core.corpus import Layer
    from nereval_core.scoring import Settings
    from nereval_core.scoring.criteria import Criterion

HELP = "tell how far annotators agree, with intervals"
USAGE = "A B [C ...] [options]"
EXAMPLE = "ann.jsonl bob.jsonl cem.jsonl --by type"
NOTES = f"""\
A, B, C are the layers of annotators or systems over the same documents; none is gold. A is read by options for gold,
and the others by those for predictions. F1 is of each two under --criteria, kappa and
alpha are on tokens (a token's category is the set of types that cover it), unitizing alpha is on characters; of more
than two annotators F1 and observed agreement are means over their pairs and kappa is Fleiss'. Intervals are
bias-corrected bootstrap intervals over documents, or what --resample-by names. Where an annotator has not read a
document, --documents shared leaves it out; --missing empty would count it as read and found empty.

{FILES.format("A, B, C", "agreement", "ann=A1 ann=A2 bob=B1 bob=B2", "B", "agreement")}"""
BY = ("type", "document")


def add_arguments(parser: Parser) -> None:
    add_resampling(parser.add_argument_group("agreement").add_argument)
    add_output(parser, by=("type,document", "break the figures down"))
    add_scoring(parser, "strict")
    add_reading(parser, "A first, then B or NAME=B, …", ("A", "the others"))


def run(options: argparse.Namespace) -> None:
    from nereval_core.analysis.agreement import agree
    from nereval_core.analysis.resampling import Plan
    from nereval_core.analysis.resampling_units import resampling_units
    from nereval_core.cli.files import TWO_OF_ONE, paths_by_name
    from nereval_core.cli.output import say_greedy
    from nereval_core.cli.results.agreement import agreement_result
    from nereval_core.cli.runner import output_places, write_result

    if len(paths_by_name(options.files)) == 1 and None in (options.gold_column, options.pred_column):
        raise UsageError(f"name two annotators or more, {TWO_OF_ONE}")
    by = check_by(options, BY, f"there are {' and '.join(BY)}")
    check_resampling(options)
    places = output_places(options)
    loaded, layers, settings = _load(options)
    units = resampling_units(loaded.corpus.documents, options.resample_by)
    plan = Plan(resamples=options.resamples, seed=options.seed)
    found = agree(layers, settings, plan=plan, resampled=units)
    for pair, scores in found.scores.items():
        greedy = sorted({name for each in scores.values() for name in each.greedy})
        say_greedy(" and ".join(found.annotators[number] for number in pair), greedy)
    marks = [f"{name}: {mark}" for name, some in loaded.marks.items() for mark in some]
    write_result(agreement_result(found, by=by, marks=marks), places)


def _load(options: argparse.Namespace) -> tuple[Loaded, dict[str, Layer], Settings]:
    """Return the annotators by name, all over the documents of the first, and what is scored of them.

    A criterion is scored that some annotator, taken as gold, has what it needs for.

    Raises:
        FormatError: one that is named itself needs what none has; or bad input.
    """
    from dataclasses import replace

    from nereval_core.cli.files import paths_by_name
    from nereval_core.cli.output import say_unused
    from nereval_core.cli.runner import load_layers, types_of
    from nereval_core.cli.settings import applicable_criteria, scoring_settings

    settings = scoring_settings(options)
    paths = paths_by_name(options.files)
    if len(paths) == 1:
        # Two annotators are two columns of one file.
        (path,) = paths.values()
        name = f"column {options.gold_column}"
        paths = {name: path, f"column {options.pred_column}": path}
    else:
        name, path = next(iter(paths.items()))
    loaded = load_layers(options, path, {other: place for other, place in paths.items() if other != name})
    say_unused(settings, types_of(loaded))
    gold = loaded.corpus.gold.renamed(name)
    layers = {layer.name: layer for layer in (gold, *loaded.corpus.systems)}
    criteria: list[Criterion] = []
    for criterion in settings.criteria:
        able = next((layer for layer in layers.values() if criterion.lacks(layer) is None), gold)
        criteria += applicable_criteria((criterion,), options, able)
    return loaded, layers, replace(settings, criteria=tuple(criteria))
