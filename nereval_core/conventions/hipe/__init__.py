"""The scorers of CLEF-HIPE 2020 and 2022, for entities and links in historical newspapers.

Predictions are matched in the order of the text: an identical gold span makes one correct; else it takes the gold span
of the same tokens, or the first overlapping one that is not yet taken. Labels that gold does not have are left out,
unless a tag set names them. The scorer calls ent_type "fuzzy".
Source: impresso/CLEF-HIPE-2020-scorer and hipe-eval/HIPE-scorer; Ehrmann et al. 2020 and 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerInput,
    ScorerOption,
    ScorerSteps,
)
from nereval_core.conventions.hipe.column_pass import ColumnPass, PassRequest, run_pass
from nereval_core.conventions.hipe.columns import (
    COLUMNS,
    FAMILY,
    HIPE_2022,
    JULY,
    JUNE,
    LAYER_COLUMNS,
    MENTIONS,
    NEL,
    CellColumn,
    ColumnPair,
    HipeVersion,
    pair_of_layers,
)
from nereval_core.conventions.hipe.figures import figure_rows_of, nested_figures, system_name, to_json, to_tsv
from nereval_core.conventions.hipe.files import read_pair
from nereval_core.conventions.hipe.matching import TokenText, differing_tokens
from nereval_core.conventions.hipe.spans import map_links, read_mapping
from nereval_core.conventions.outcome import CountTables, Figures, RatioNames, SideContent
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted


@dataclass(frozen=True, slots=True)
class TokenSlice:
    """A period (days, the second not in it) and a noise level (from, to), under the scorer's names for them."""

    period: str = "TIME-ALL"
    level: str = "LED-ALL"
    days: tuple[int, int] | None = None
    noise: tuple[float, float] | None = None


class ScoredColumns(NamedTuple):
    """Columns of both sides over the tokens of gold, and those that are scored; `system` names the predictions."""

    pair: ColumnPair
    columns: tuple[str, ...]
    system: str


def read(files: ScorerInput, options: Options, *, version: HipeVersion) -> ScoredColumns:
    """Read two files in the tab-separated format of CLEF-HIPE."""
    columns = _columns(version, options)
    _slices(options)
    needed = [*columns]
    if options["task"] == NEL:
        needed += [name for name in _mentions(version, options, columns) if name]
        needed += ["NE-COARSE-LIT"] if options["norm-time"] else []
    glue = options["glue"] or options.get("glueing_cols") or ()
    pair = read_pair(files.gold, files.pred, version, needed, glue)
    return ScoredColumns(pair, columns, files.pred.name)


def from_layers(layers: LayerPair, options: Options, *, version: HipeVersion) -> ScoredColumns:
    """Return layers as the one column that they stand for; links are those of the spans."""
    pair = pair_of_layers(layers.gold, layers.pred, version, options)
    return ScoredColumns(pair, (LAYER_COLUMNS[options["task"]],), layers.pred.name)


def match(scored: ScoredColumns, options: Options, *, version: HipeVersion) -> MatchedSides:
    """Match columns over the tokens of both sides, each within every slice."""
    pair, columns, system = scored
    slices = _slices(options)
    linking = options["task"] == NEL
    if not linking and options["map"] is not None:
        raise FormatError.single("--map", None, f"task {options['task']} scores no links", "ask for --task nel")
    if linking:
        pair = _relaxed(version, pair, options)
    tagset = _tagset(options)
    mentions = _mentions(version, options, columns) if linking else (None,) * len(columns)
    union = linking and bool(options.get("union"))
    groups = [columns] if union else [(name,) for name in columns]
    words = pair.words if version.text else None
    differ = differing_tokens(words)
    parts = [(part, _tokens(pair, part)) for part in slices]
    texts = [TokenText(words, differ, tokens) for _, tokens in parts]
    ranks = options["n_best"] if linking and not union else (1,)
    passes: dict[tuple[str, ...], ColumnPass] = {}
    for rank, (group, bounds), ((part, tokens), text) in product(
        ranks, zip(groups, mentions, strict=False), list(zip(parts, texts, strict=True))
    ):
        request = PassRequest(group, linking, bounds, rank, version.whole, tagset, tokens)
        path = [str(rank)] if linking and (version.slices or len(ranks) > 1) else []
        path += ["|".join(group), *((part.period, part.level) if version.slices else ())]
        passes[tuple(path)] = run_pass(pair, request, text)
    by_name = {"/".join(path): column_pass for path, column_pass in passes.items()}

    def records(evaluation: str) -> pd.DataFrame:
        return by_name[evaluation.rpartition("/")[0]].records(evaluation)

    whole = [
        column_pass
        for column_pass in passes.values()
        if column_pass.request.tokens is None and column_pass.request.ranks == ranks[0]
    ]
    contents = [
        SideContent.of_rows(
            pair.documents, sum(len(column_pass.sides[side]) for column_pass in whole), _lines(cells, columns)
        )
        for side, cells in enumerate((pair.gold, pair.pred))
    ]
    scores = _nested({path: nested_figures(column_pass.rows) for path, column_pass in passes.items()})
    return MatchedSides(
        counts=CountTables({}, contents[0], contents[1], system),
        documents=pair.documents,
        records=records,
        figures=Figures(scores, figure_rows_of({name: column_pass.rows for name, column_pass in by_name.items()})),
        notes=(*pair.notes, *(() if linking or tagset else filter(None, map(_uncounted, whole)))),
        system=system_name(system, skip_check=bool(options.get("skip-check") or options.get("skip_check"))),
    )


def _uncounted(column_pass: ColumnPass) -> str:
    """Return a note on the predictions of types that gold lacks, which the scorer leaves out without a tag set."""
    pred = column_pass.sides[1]
    codes = pred.labels[pred.cell, 0]
    number = int((~column_pass.allowed[codes[codes >= 0]]).sum())
    column = column_pass.request.columns[0]
    if not number:
        return ""
    return (
        f"{column}: {counted(number, 'prediction')} not counted, of types that gold lacks; a tag set counts them, with "
        "which the official results of HIPE-2020 were made"
    )


def _nested(leaves: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for path, leaf in leaves.items():
        inner = scores
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = leaf
    return scores


def _lines(side: Mapping[str, CellColumn], columns: Sequence[str]) -> list[str]:
    """Return text that says the cells of columns, whatever their codes."""
    lines = []
    for name in columns:
        cells, codes = side[name].cells, side[name].codes
        order = sorted(np.flatnonzero(np.bincount(codes, minlength=len(cells))).tolist(), key=cells.__getitem__)
        rank = np.zeros(len(cells), np.int32)
        rank[order] = np.arange(len(order))
        lines += [name, *(cells[code] for code in order), sha256(rank[codes].tobytes()).hexdigest()]
    return lines


def _columns(version: HipeVersion, options: Options) -> tuple[str, ...]:
    return COLUMNS[options.get("hipe_edition", "hipe-2020")][options["task"]]


def _mentions(version: HipeVersion, options: Options, columns: Sequence[str]) -> tuple[str | None, ...]:
    if not version.mentions or options.get("original_nel"):
        return (None,) * len(columns)
    return tuple(MENTIONS[name] for name in columns)


def _tagset(options: Options) -> frozenset[str]:
    if options["tagset"] is None:
        return frozenset()
    try:
        return frozenset(Path(options["tagset"]).read_text(encoding="utf-8").upper().splitlines())
    except (OSError, UnicodeDecodeError):
        finding = "is not text that can be read"
        raise FormatError.single(str(options["tagset"]), None, finding, "give a file with one label a line") from None


def _relaxed(version: HipeVersion, pair: ColumnPair, options: Options) -> ColumnPair:
    mapping = options["map"]
    if options["norm-histo"] and mapping is None:
        raise FormatError.single("--norm-histo", None, "no mapping of links", "give one with --map FILE")
    pred_map = read_mapping(mapping) if mapping is not None else {}
    gold_map = read_mapping(options["map-ref"]) if options["map-ref"] is not None else pred_map
    return map_links(
        pair,
        gold_map=gold_map,
        pred_map=pred_map,
        norm_time=options["norm-time"],
        both=options.get("hipe_edition", "hipe-2020") == "hipe-2020",
        union=options["union-meto-lit"],
    )


def _slices(options: Options) -> list[TokenSlice]:
    """Return all combinations of periods and noise levels, the whole of each included, in the scorer's order."""
    problems = ProblemList()
    levels, periods = (
        [TokenSlice(), *_parsed(options.get(name) or (), parse, f"--{name}", remedy, problems)]
        for name, parse, remedy in (
            ("noise-level", _level, "write two numbers as 0.0-0.1, the lower first"),
            (
                "time-period",
                _period,
                "write two years as 1900-1950 or two days as 1900/01/01-1900/12/31, in order",
            ),
        )
    )
    if problems:
        raise FormatError(problems)
    return [
        TokenSlice(period.period, level.level, period.days, level.noise) for level, period in product(levels, periods)
    ]


def _parsed(
    items: Sequence[str], parse: Callable[..., TokenSlice], option: str, remedy: str, problems: list[Problem]
) -> list[TokenSlice]:
    slices = []
    for item in items:
        try:
            slices.append(parse(*str(item).split("-")))
        except (TypeError, ValueError):
            problems.append(Problem(option, None, f"{quoted(str(item))} is not a range", remedy))
    return slices


def _level(low: str, high: str) -> TokenSlice:
    if float(low) > float(high):
        raise ValueError
    return TokenSlice(level=f"LED-{float(low)}-{float(high)}", noise=(float(low), float(high)))


def _period(low: str, high: str) -> TokenSlice:
    form = "%Y/%m/%d" if "/" in low else "%Y"
    start, end = datetime.strptime(low, form).date(), datetime.strptime(high, form).date()
    if start > end:
        raise ValueError
    return TokenSlice(f"TIME-{start:%Y}-{end:%Y}", days=(start.toordinal(), end.toordinal()))


def _tokens(pair: ColumnPair, part: TokenSlice) -> Int64 | None:
    """Return the tokens that a slice keeps, None for all.

    Raises:
        FormatError: a token without date where dates are asked for, or noise where none is known.
    """
    if part.days is None and part.noise is None:
        return None
    is_inside = np.ones(len(pair.doc), bool)
    if part.noise is not None:
        if not pair.noisy:
            remedy = "score the files, whose column MISC has the noise"
            raise FormatError.single("--noise-level", None, f"{pair.source} does not say how noisy a token is", remedy)
        low, high = part.noise
        is_inside &= np.isnan(pair.noise) | ((low <= pair.noise) & (pair.noise < high))
        is_inside |= (low == pair.noise) & (pair.noise == high)
    if part.days is not None:
        undated = np.flatnonzero(is_inside & (pair.day == 0))
        if len(undated):
            finding = f"token {undated[0] + 1} stands under no date, and the scorer stops on it"
            raise FormatError.single(
                pair.source, None, finding, "give each document its date, or leave out --time-period"
            )
        is_inside &= (part.days[0] <= pair.day) & (pair.day < part.days[1])
    return np.flatnonzero(is_inside)


SHARED_OPTIONS = (
    ScorerOption("task", "what is scored", choices=tuple(LAYER_COLUMNS), default="nerc_coarse"),
    ScorerOption("tagset", "file with one label a line: these count though gold has none of them", "file"),
    ScorerOption(
        "glue", "two columns joined by +, whose labels are glued together: A+B; several parted by commas", "list"
    ),
    ScorerOption("n_best", "how many links of a ranked list count, as 1,3,5", "numbers", (1,), least=1),
    ScorerOption("suffix", "what is added to the names of evaluations", default=""),
    ScorerOption(
        "norm-time", "link predicted mentions of time to NIL before scoring (normalize_linking)", "flag", False
    ),
    ScorerOption("norm-histo", "map links before scoring, as --map alone does too (normalize_linking)", "flag", False),
    ScorerOption(
        "map", "table of main items and their alternatives (Q…) by which links are mapped, on both sides", "file"
    ),
    ScorerOption("map-ref", "table for gold, where it is another than --map", "file"),
    ScorerOption("union-meto-lit", "join literal and metonymic predicted links (normalize_linking)", "flag", False),
)
SLICES = (
    ScorerOption(
        "noise-level", "distances of OCR from the transcript, the upper not in it, as 0.0-0.1,0.1-1.0", "list"
    ),
    ScorerOption("time-period", "years or days (1900/01/01), the second not in it, as 1900-1950,1950-2000", "list"),
)
CHECK = "call the system by the path as given, not by its file name"
OPTIONS = {
    JUNE.name: (
        *SHARED_OPTIONS,
        ScorerOption("glueing_cols", "as --glue, under the name of this version", "list"),
        ScorerOption("union", "take literal and metonymic links together, and no ranked lists", "flag", False),
        ScorerOption("skip_check", CHECK, "flag", False),
    ),
    JULY.name: (*SHARED_OPTIONS, *SLICES, ScorerOption("skip-check", CHECK, "flag", False)),
    HIPE_2022.name: (
        *SHARED_OPTIONS,
        *SLICES,
        ScorerOption("hipe_edition", "which columns a task has", choices=tuple(COLUMNS), default="hipe-2022"),
        ScorerOption(
            "original_nel", "take runs of equal links, not the mentions, as the bounds of links", "flag", False
        ),
        ScorerOption("skip-check", CHECK, "flag", False),
    ),
}
SENTENCES = {
    JUNE.name: "The official CLEF-HIPE-2020 results: entities and links; the text of tokens is not compared.",
    JULY.name: "CLEF-HIPE-2020 after the campaign: compares the text of tokens, and scores periods and noise levels.",
    HIPE_2022.name: "The official HIPE-2022 results: entities and links, also by document, period and noise.",
}
SOURCES = {
    JUNE.name: "impresso/CLEF-HIPE-2020-scorer 08d31e6 (June 2020); Ehrmann et al. 2020",
    JULY.name: "impresso/CLEF-HIPE-2020-scorer ac5c876 (July 2020); Ehrmann et al. 2020",
    HIPE_2022.name: "hipe-eval/HIPE-scorer 6605770; Ehrmann et al. 2022",
}
FORMULAS = {
    "partial/P_micro": "(correct + 0.5 × partial) / actual",
    "partial/R_micro": "(correct + 0.5 × partial) / possible",
}
CONVENTIONS = tuple(
    Convention(
        name=version.name,
        family=FAMILY,
        sentence=SENTENCES[version.name],
        needs="the tab-separated files of CLEF-HIPE, or tokens and spans that tags can say",
        source=SOURCES[version.name],
        steps=ScorerSteps(
            partial(read, version=version), partial(from_layers, version=version), partial(match, version=version)
        ),
        not_by_shards="it averages figures over documents, which are not kept by shard",
        options=OPTIONS[version.name],
        twins={"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"},
        beside_layer=frozenset({"NE-COARSE-METO", "NE-FINE-METO", "NEL-METO"}),
        names_elsewhere={"ent_type": "fuzzy"},
        ratios=RatioNames(
            precision="P_micro", recall="R_micro", f1="F1_micro", correct="correct", gold="possible", pred="actual"
        ),
        other_formulas=FORMULAS,
        formats=("hipe",),
        forms={"tsv": partial(to_tsv, version), "json": partial(to_json, version)},
    )
    for version in (JUNE, JULY, HIPE_2022)
)
