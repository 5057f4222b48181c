"""The verb `sensitivity`: systems under all criteria, without and with merged types, and experiments with criteria."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.api.verb_options import SensitivityOptions
from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_options,
    add_output,
    add_reading,
    parsed,
)
from nereval_core.problems import quoted

if TYPE_CHECKING:
    from nereval_core.api.load import Loaded
    from nereval_core.api.scoring import Listener
    from nereval_core.cli.output import Result
    from nereval_core.scoring import Settings

HELP = "score under all criteria, without and with merged types"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = 'gold.jsonl a.jsonl b.jsonl --merge "DNA,RNA=nucleic" --figure criteria.html'
NOTES = f"""\
Every system is scored without a merge, with each --merge alone, and with all types merged into one. A semicolon
separates several merges in one setting: --merge "DNA,RNA=nucleic;cell_line,cell_type=cell". strict is always scored,
for the difference from it. --csv and --parquet have a row a merge, counting, criterion and system; --json has the
merges by name, the overtakings and the ranking in words too. How Tsai et al. 2006 count a gold span matched by two
predictions is not known to us, so both countings are offered, and none of their tables is claimed.

--gap splits by the difference in each gold span's pair: left, right or both boundaries, fragments, type, boundary and
type; "aligned otherwise" is what no rule but another alignment makes. The parts add up. --recovered goes from strict to
lenient, down to gold spans that no prediction overlaps. --stand-in gives the mean difference of F1, a paired t-test and
Pearson's correlation over disjoint folds and all systems; folds of one corpus are few and alike, so p says less than it
seems to. --ladder tries moves of a boundary by up to 6 characters, and to the start or end of a span near by, and
scores the document again; RECORD is one under the first criterion. Questions other than --gone are answered with all
merges in force. --csv takes one of these questions at a time.

{GOLD_AND_PREDICTIONS}"""
EXPERIMENTS = ("gap", "curve", "recovered", "gone", "stand_in", "ladder")
"""Options that each request an experiment, in the order of their tables."""


def add_arguments(parser: Parser) -> None:
    add_options(parser, SensitivityOptions)
    add_output(parser, figure="a dot plot of F1, or the lines of --curve, with the tables")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from nereval_core.cli.files import load_layers
    from nereval_core.cli.output import Console, output_places, write_result

    places = output_places(arguments, "figure")
    options = parsed(SensitivityOptions, arguments)
    experiments = [name for name in EXPERIMENTS if getattr(options.experiments, name)]
    if experiments:
        _check_experiments(arguments, options, experiments)
    console = Console(arguments.quiet)
    loaded = load_layers(arguments, console, reference="gold")
    if experiments:
        result = _experiments(options, experiments, loaded, console)
    else:
        result = _all_criteria(options, loaded, console)
    write_result(result, places, figure_width=arguments.figure_width)


def _all_criteria(options: SensitivityOptions, loaded: Loaded, listener: Listener) -> Result:
    from nereval_core.analysis.criteria.sensitivity import ALL_TYPES, merge_settings, sensitivity
    from nereval_core.api.scoring import applicable_criteria, tell_unused
    from nereval_core.cli.results.sensitivity import COUNTINGS, sensitivity_result
    from nereval_core.scoring import Settings

    settings, corpus = options.scoring.settings, loaded.corpus
    leave_out = settings.leave_out
    criteria = applicable_criteria(options.scoring, settings.criteria, corpus.gold, listener)
    merged = merge_settings(options.merges, corpus, leave_out=leave_out, criteria=criteria)
    all_merges = tuple(item for merge in options.merges for item in merge.items())
    tell_unused(Settings(criteria, all_merges, leave_out), loaded.types, listener)
    if ALL_TYPES not in merged:
        listener.note(f"merge {quoted(ALL_TYPES)} left out: there is no second type")
    countings = COUNTINGS[options.counting]
    progress = listener.progress("settings", "scored")
    marks = loaded.marks
    table = sensitivity(corpus, criteria, merged, countings, leave_out=leave_out, marks=marks, progress=progress)
    return sensitivity_result(corpus, merged, table, leave_out)


def _check_experiments(arguments: argparse.Namespace, options: SensitivityOptions, experiments: list[str]) -> None:
    names = ", ".join(f"--{name.replace('_', '-')}" for name in experiments)
    if arguments.figure is not None and experiments != ["curve"]:
        raise UsageError(f"--figure draws the scores under all criteria, or --curve alone: leave out {names}")
    if options.counting != "one-to-one":
        raise UsageError(f"{names}: counting one to one only")
    single = [form for form in ("csv", "parquet") if getattr(arguments, form) is not None]
    if single and len(experiments) > 1:
        raise UsageError(f"--{single[0]} holds one table, ask for one of {names}")
    if options.experiments.gone and not options.merges:
        raise UsageError("--gone: name the merged types, --merge A,B=NAME")


def _experiments(options: SensitivityOptions, experiments: list[str], loaded: Loaded, listener: Listener) -> Result:
    from nereval_core.api.scoring import score_systems, tell_unused
    from nereval_core.cli.results.sensitivity import experiments_result

    settings = _experiment_settings(options, loaded, listener)
    tell_unused(settings, loaded.types, listener)
    return experiments_result(loaded.corpus.gold, score_systems(loaded, settings, listener), options, experiments)


def _experiment_settings(options: SensitivityOptions, loaded: Loaded, listener: Listener) -> Settings:
    """Return criteria and merges; without merges for `--gone`, which compares scores without and with them."""
    from dataclasses import replace

    from nereval_core.analysis.criteria.gap import CHAIN
    from nereval_core.api.scoring import applicable_criteria
    from nereval_core.scoring.criteria import CRITERIA

    merge: dict[str, str] = {}
    questions = options.experiments
    if not questions.gone:
        for setting in options.merges:
            merge |= setting
    gold, settings = loaded.corpus.gold, options.scoring.settings
    criteria = {each.name: each for each in applicable_criteria(options.scoring, settings.criteria, gold, listener)}
    needed = CHAIN if questions.recovered else ()
    for name in (*needed, *questions.gap, questions.stand_in, questions.gone):
        if name in CRITERIA and CRITERIA[name].lacks(gold) is None:
            criteria.setdefault(name, CRITERIA[name])
    return replace(settings, criteria=tuple(criteria.values()), merge=tuple(sorted(merge.items())))
