"""The verb `report_of` of the library (`report` on the command line): scored systems as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Unpack

from nereval_core.alignment.outcome import Progress
from nereval_core.api.load import Given, Texts, check_criteria, choose_criteria, gold_side, pred_side, warn_unlike
from nereval_core.corpus import Corpus
from nereval_core.corpus.masking import masked, said
from nereval_core.html_report.page import rendered
from nereval_core.html_report.records import EACH, Chosen, Scored, Told
from nereval_core.html_report.sections import report
from nereval_core.pairing import Pairing, pair
from nereval_core.problems import FormatError
from nereval_core.readers.objects import levelled
from nereval_core.records.queries import Query
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Criterion, parse_merge

STRICT = "strict"
NO_PLOTLY = "Plotly is not installed"


def report_of(
    gold: Given,
    systems: Mapping[str, Given],
    *,
    title: str = "",
    records: int | Query = EACH,
    mask: bool = False,
    reviewed: Reviewed | None = None,
    criteria: str | Iterable[str | Criterion] = SCHEMAS,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> str:
    """Return a report on systems by name as HTML that stands alone, the same on every run.

    The first criterion is the main one. `records` is how many of each error class are shown in their text, or a query
    of `nereval_core.records.queries` for those that are. With `mask` the texts are masked. The verdicts of `reviewed`,
    as `ReviewStore.reviewed` returns them, stand with their records. The other options are those of `score`, one to
    one.

    Raises:
        FormatError: as `score`; no system, no texts, or Plotly is not installed.
    """
    if not systems:
        raise FormatError.single("report", None, "no system to report on", "give systems by name")
    chosen = choose_criteria([criteria] if isinstance(criteria, str) else criteria)
    merged = merge if isinstance(merge, Mapping) else parse_merge([merge] if isinstance(merge, str) else merge)
    left = [leave_out] if isinstance(leave_out, str) else leave_out
    settings = Settings(chosen, tuple(sorted(merged.items())), tuple(sorted(set(left))))
    ours = gold_side(gold, format=format, core_type=core_type, texts=texts)
    check_criteria(chosen, ours.layer)
    marks = {}
    layers = []
    for name, given in systems.items():
        both = levelled(ours, pred_side(given, ours, format=format, core_type=core_type))
        paired = pair(*both, **pairing)
        layers.append(paired.layer.renamed(name))
        marks[name] = paired.marks
    corpus = Corpus(ours.source or "gold", ours.documents, ours.layer.renamed("gold"), tuple(layers))
    asked = Chosen(query=records) if isinstance(records, Query) else Chosen(each=records)
    found = scored(corpus, marks, settings, mask=mask, reviewed=reviewed)
    for name, one in found.scores.items():
        warn_unlike(one.gold, one.pred, name)
    return page(found, title=title, chosen=asked)


def scored(
    corpus: Corpus,
    marks: Mapping[str, Sequence[str]],
    settings: Settings,
    *,
    mask: bool = False,
    reviewed: Reviewed | None = None,
    progress: Callable[[str], Progress | None] = lambda name: None,
) -> Scored:
    """Score the systems of a corpus for a report, under `strict` too; `marks` by system go into signatures.

    Raises:
        FormatError: there are no texts.
    """
    if corpus.documents.sizes is not None:
        raise FormatError.single(corpus.name, None, "no texts", "give the texts: a report shows records in them")
    names = tuple(criterion.name for criterion in settings.criteria)
    if STRICT not in names:
        # Errors are classed by the strict records, whatever is shown.
        settings = replace(settings, criteria=(*settings.criteria, CRITERIA[STRICT]))
    own = {layer.name: tuple(marks.get(layer.name, ())) for layer in corpus.systems}
    if mask:
        own = {layer.name: (*own[layer.name], said(corpus.gold, layer)) for layer in corpus.systems}
        corpus = masked(corpus)
    scores = {
        layer.name: score_layers(corpus.gold, layer, settings, marks=own[layer.name], progress=progress(layer.name))
        for layer in corpus.systems
    }
    return Scored(corpus, scores, names, reviewed or Reviewed())


def page(
    found: Scored,
    *,
    title: str = "",
    command: str = "nereval_core.report_of(…)",
    chosen: Chosen | None = None,
    told: Told = lambda ledger, position: (),
) -> str:
    """Return a report as HTML; `told` says what else is known of a record.

    Raises:
        FormatError: Plotly is not installed.
    """
    if not find_spec("plotly"):
        raise FormatError.single("report", None, NO_PLOTLY, "pip install plotly")
    # Plotly takes longer to import than most reports to write.
    from nereval_core.html_report.figures import script

    title = title or f"{', '.join(found.systems)} against {found.corpus.name}"
    return rendered(report(found, title=title, command=command, chosen=chosen, told=told), script())


__all__: Sequence[str] = ("page", "report_of", "scored")
