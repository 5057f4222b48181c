"""The verb `check`: hold scores against minima and against those of an earlier run; exit status 1 where one fails."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nereval_core.api.load_options import ScoringOptions
from nereval_core.cli.options import FAILED, GOLD_AND_PREDICTIONS, Parser, UsageError, add_options, add_reading, parsed

if TYPE_CHECKING:
    from nereval_core.analysis.score_checks import Bound

HELP = "fail where scores are below a minimum, or fell since an earlier run"
USAGE = "GOLD PRED [PRED ...] --min BOUND | --against FILE --max-drop BOUND [options]"
EXAMPLE = "gold.jsonl system.jsonl --min strict.f1=0.80 --min type.recall@PER=0.9 --against last.json --max-drop 0.01"
NOTES = f"""\
A BOUND is CRITERION.MEASURE=NUMBER, or CRITERION.MEASURE@TYPE=NUMBER; measures are precision, recall and f1, numbers
are from 0 to 1. Every system must hold every bound. An undefined figure (0/0) holds no minimum, and no greatest drop
if it was defined before; a figure that was undefined before has none. Figures are compared unrounded; differences
below 0.000000001 do not count. Without --criteria those that bounds name are scored. A type that no span has is
refused. A system whose content is identical to gold's fails, unless --allow-identical allows it.

--against holds a system against the one of its name; where both runs have one system, names do not matter. Scores
under other settings are refused. Where gold has changed since, a note says so.
exit status: 1 where a bound does not hold, with a line for each on standard output; 0 where all hold, printing nothing

{GOLD_AND_PREDICTIONS}"""
EARLIER = "give the file that `nereval score GOLD PRED --json FILE` wrote"


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument_group("checks").add_argument
    add("--min", action="append", default=[], metavar="BOUND", help="the least value of a figure; repeatable")
    add("--against", metavar="FILE", help="scores of an earlier run, as `nereval score --json FILE` wrote them")
    drop = "the greatest drop since then: a BOUND, or a NUMBER for the F1 of every criterion; repeatable"
    add("--max-drop", action="append", default=[], metavar="BOUND", help=drop)
    add("--allow-identical", action="store_true", help="let a prediction pass that is identical to gold in content")
    add("--junit", metavar="FILE", help="write the checks as JUnit XML")
    add_options(parser, ScoringOptions)
    add_reading(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core.analysis.score_checks import (
        check_drops,
        check_identity,
        check_minima,
        check_types,
        earlier_systems,
        parse_bounds,
    )
    from nereval_core.api.scoring import score_systems, settings_for
    from nereval_core.cli.files import check_places, load_layers, read_json
    from nereval_core.cli.output import Console, write_files
    from nereval_core.cli.results.junit import junit_bytes
    from nereval_core.report.json_results import results

    if (options.against is None) != (not options.max_drop):
        raise UsageError("--against and --max-drop go together: --against last.json --max-drop 0.01")
    if not options.min and options.against is None:
        raise UsageError("name a bound: --min strict.f1=0.8, or --against FILE --max-drop 0.01")
    places = {} if options.junit is None else {"junit": options.junit}
    check_places(options, places)
    minima, drops = parse_bounds(options.min, "--min"), parse_bounds(options.max_drop, "--max-drop", bare=True)
    earlier = None if options.against is None else read_json(options.against, EARLIER)
    if options.criteria is None and not options.criterion:
        options.criteria = _criteria_of([*minima, *drops], earlier, options.against)
    scoring, console = parsed(ScoringOptions, options), Console(options.quiet)
    loaded = load_layers(options, console)
    settings = settings_for(loaded, scoring, console)
    _check_criteria("--min", minima, settings.criteria)
    _check_criteria("--max-drop", drops, settings.criteria)
    scored_layers = zip(loaded.corpus.systems, score_systems(loaded, settings, console).values(), strict=True)
    now = results(loaded.corpus.gold, list(scored_layers))
    scored = [scores for system in now["systems"] for scores in system["criteria"].values()]
    types = sorted({kind for scores in scored for kind in scores["types"]})
    check_types(minima, types, "--min")
    checks = [] if options.allow_identical else list(check_identity(now["systems"]))
    checks += check_minima(now["systems"], minima)
    if earlier is not None:
        then = earlier_systems(earlier, now["systems"], drops, options.against)
        was = {kind for system in then.values() for scores in system["criteria"].values() for kind in scores["types"]}
        check_types(drops, sorted({*types, *was}), "--max-drop")
        if earlier["gold"]["sha256"] != now["gold"]["sha256"]:
            console.warn(f"{options.against}: scores of other gold annotation; a drop may be gold's")
        checks += check_drops(now["systems"], then, drops)
    write_files(places, {"junit": junit_bytes(checks)} if places else {})
    failures = [check.failure for check in checks if check.failure]
    for line in failures:
        print(line)
    if failures:
        raise SystemExit(FAILED)


def _criteria_of(bounds: list[Bound], earlier: Any, source: str) -> str | None:
    """Return the criteria that bounds name and, for the F1 of every criterion, those of the earlier scores."""
    from nereval_core.analysis.score_checks import EVERY_F1, systems_of
    from nereval_core.scoring.criteria import CRITERIA

    names = dict.fromkeys(bound.figure.criterion for bound in bounds if bound.figure is not None)
    if any(bound.figure is EVERY_F1 for bound in bounds):
        # Those of one's own are scored only where --criterion or a .toml file says them.
        systems = systems_of(earlier, source).values()
        names |= dict.fromkeys(name for system in systems for name in system["criteria"] if name in CRITERIA)
    return ",".join(names) or None


def _check_criteria(option: str, bounds: list[Bound], criteria: Any) -> None:
    """Refuse bounds of criteria that are not scored.

    Raises:
        FormatError: with all of them.
    """
    from nereval_core.problems import FormatError, Problem, quoted

    scored = [criterion.name for criterion in criteria]
    unknown = {bound.figure.criterion for bound in bounds if bound.figure} - set(scored)
    remedy = f"name it in --criteria, or choose among {', '.join(scored)}"
    if unknown:
        raise FormatError(
            Problem(option, None, f"the criterion {quoted(name)} is not scored", remedy) for name in sorted(unknown)
        )
