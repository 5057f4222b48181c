"""The verb `sensitivity`: systems under all criteria, without and with merged types, and experiments with criteria."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.cli.options import (
    GOLD_AND_PREDICTIONS,
    Parser,
    UsageError,
    add_leave_out,
    add_output,
    add_reading,
    comma_separated,
)
from nereval_core.problems import quoted

if TYPE_CHECKING:
    from nereval_core.api.load import Loaded
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
    add = parser.add_argument_group("scoring").add_argument
    add("--criteria", default="all", metavar="LIST", help="names and .toml files, separated by commas (default: all)")
    add("--criterion", action="append", default=[], metavar="RULE", help="a criterion of your own, as for score")
    add("--merge", action="append", default=[], metavar="A,B=NAME", help="a setting with types merged; repeatable")
    add_leave_out(add)
    add("--counting", choices=("one-to-one", "each-side", "both"), default="one-to-one", help="each-side: no alignment")

    add = parser.add_argument_group("in place of the tables of all criteria, any of these").add_argument
    add("--gap", metavar="A,B", help="the gap of F1 between two criteria, by cause, and the decisions under both")
    add(
        "--curve",
        choices=("gold", "prediction", "union"),
        help="scores against the least overlap, as a share of it",
    )
    add("--any-type", action="store_true", help="with --curve: types need not be equal")
    recovered = "gold spans missed under strict, by the first criterion to credit them"
    add("--recovered", action="store_true", help=recovered)
    add("--gone", metavar="CRITERION", help="the confusions under this criterion that each --merge removes")
    add(
        "--stand-in",
        metavar="CRITERION",
        help="agreement of other criteria with this one, over folds of documents",
    )
    add("--folds", type=int, default=10, metavar="K", help="with --stand-in: the number of folds (default: 10)")
    seed = "with --stand-in: the seed that documents are shuffled with (default: 0)"
    add("--seed", type=int, default=0, metavar="N", help=seed)
    ladder = "the pairs of a record under each criterion, and the rules that flip them"
    add("--ladder", nargs=2, metavar=("DOC", "RECORD"), help=ladder)
    add_output(parser, figure="a dot plot of F1, or the lines of --curve, with the tables")
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.cli.output import output_places, write_result

    places = output_places(options, "figure")
    experiments = [name for name in EXPERIMENTS if getattr(options, name)]
    if experiments:
        _check_experiments(options, experiments)
        write_result(_experiments(options, experiments), places, figure_width=options.figure_width)
    else:
        write_result(_all_criteria(options), places, figure_width=options.figure_width)


def _all_criteria(options: argparse.Namespace) -> Result:
    from nereval_core.analysis.criteria.sensitivity import ALL_TYPES, merge_settings, sensitivity
    from nereval_core.cli.output import progress_bar, say
    from nereval_core.cli.results.sensitivity import COUNTINGS, sensitivity_result
    from nereval_core.cli.runner import applicable_criteria, load_layers, say_unused, types_of
    from nereval_core.scoring import Settings

    settings, merges = _settings_and_merges(options)
    loaded = load_layers(options)
    corpus, leave_out = loaded.corpus, settings.leave_out
    criteria = applicable_criteria(settings.criteria, options, corpus.gold)
    merged = merge_settings(merges, corpus, leave_out=leave_out, criteria=criteria)
    every_merge = tuple(item for merge in merges for item in merge.items())
    say_unused(Settings(criteria, every_merge, leave_out), types_of(loaded))
    if ALL_TYPES not in merged:
        say(f"merge {quoted(ALL_TYPES)} left out: there is no second type")
    countings = COUNTINGS[options.counting]
    progress = progress_bar("settings", "scored")
    marks = loaded.marks
    table = sensitivity(corpus, criteria, merged, countings, leave_out=leave_out, marks=marks, progress=progress)
    return sensitivity_result(corpus, merged, table, leave_out)


def _settings_and_merges(options: argparse.Namespace) -> tuple[Settings, list[dict[str, str]]]:
    """Return the settings without a merge, and the merges of each setting.

    Raises:
        FormatError: with the problems of both.
    """
    from nereval_core.analysis.criteria.sensitivity import parse_merges
    from nereval_core.cli.runner import scoring_settings
    from nereval_core.problems import FormatError

    try:
        settings = scoring_settings(options, several_merges=True)
    except FormatError as error:
        try:
            parse_merges(options.merge)
        except FormatError as other:
            raise FormatError([*error.problems, *other.problems]) from None
        raise
    return settings, parse_merges(options.merge)


def _check_experiments(options: argparse.Namespace, experiments: list[str]) -> None:
    names = ", ".join(f"--{name.replace('_', '-')}" for name in experiments)
    if options.figure is not None and experiments != ["curve"]:
        raise UsageError(f"--figure draws the scores under all criteria, or --curve alone: leave out {names}")
    if options.counting != "one-to-one":
        raise UsageError(f"{names}: counting one to one only")
    single = [form for form in ("csv", "parquet") if getattr(options, form) is not None]
    if single and len(experiments) > 1:
        raise UsageError(f"--{single[0]} holds one table, ask for one of {names}")
    if options.gap and len(comma_separated([options.gap])) != 2:
        raise UsageError(f"--gap {quoted(options.gap)}, name two criteria, separated by a comma")
    if options.gone and not options.merge:
        raise UsageError("--gone: name the merged types, --merge A,B=NAME")


def _experiments(options: argparse.Namespace, experiments: list[str]) -> Result:
    from nereval_core.cli.results.experiments import experiments_result
    from nereval_core.cli.runner import load_layers, say_unused, score_systems, types_of

    loaded = load_layers(options)
    settings = _experiment_settings(options, experiments, loaded)
    say_unused(settings, types_of(loaded))
    systems = {layer.name: scores for layer, scores in score_systems(loaded, settings)}
    return experiments_result(loaded.corpus.gold, systems, options, experiments)


def _experiment_settings(options: argparse.Namespace, experiments: list[str], loaded: Loaded) -> Settings:
    """Return criteria and merges; without merges for `--gone`, which compares scores without and with them."""
    from dataclasses import replace

    from nereval_core.analysis.criteria.gap import CHAIN
    from nereval_core.analysis.criteria.sensitivity import parse_merges
    from nereval_core.cli.runner import applicable_criteria, scoring_settings
    from nereval_core.scoring.criteria import CRITERIA

    merge: dict[str, str] = {}
    if not options.gone:
        for setting in parse_merges(options.merge):
            merge |= setting
    settings = scoring_settings(options, several_merges=True)
    criteria = {one.name: one for one in applicable_criteria(settings.criteria, options, loaded.corpus.gold)}
    needed = CHAIN if "recovered" in experiments else ()
    for name in (*needed, *comma_separated([options.gap or ""]), options.stand_in or "", options.gone or ""):
        if name in CRITERIA and CRITERIA[name].lacks(loaded.corpus.gold) is None:
            criteria.setdefault(name, CRITERIA[name])
    return replace(settings, criteria=tuple(criteria.values()), merge=tuple(sorted(merge.items())))
