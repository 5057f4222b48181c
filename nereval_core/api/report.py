"""The verb `report_of` of the library (`report` on the command line): scored systems as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Unpack

from nereval_core.alignment.codes import Progress
from nereval_core.api.inputs import AnyAnnotations, Texts, load_inputs, scoring_options
from nereval_core.api.load import Loaded
from nereval_core.api.scoring import Listener, PythonWarnings, settings_for, tell_greedy
from nereval_core.api.verb_options import ReportOptions
from nereval_core.corpus import Corpus
from nereval_core.corpus.masking import masked, masking_mark
from nereval_core.html_report.page import rendered
from nereval_core.html_report.records import EACH, RecordNotes, RecordSelection, ScoredSystems
from nereval_core.html_report.sections import report
from nereval_core.pairing import Pairing
from nereval_core.problems import FormatError
from nereval_core.records.queries import Query
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Criterion

COMMAND = "nereval_core.report_of(…)"
STRICT = "strict"
NO_PLOTLY = "Plotly is not installed"


class HtmlReport(str):
    """A report as HTML that stands alone: a string to write to a file, which says its size where it is shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<HTML report of {len(self) / 1e6:.1f} MB>"


def report_of(
    gold: AnyAnnotations,
    systems: Mapping[str, AnyAnnotations],
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
) -> HtmlReport:
    """Return a report on systems by name as HTML that stands alone, the same on every run.

    The first criterion is the main one. `records` is the number of records shown of each class of errors, or a `Query`
    that chooses them. With `mask` the letters and digits of texts are replaced. The verdicts of `reviewed`, as
    `ReviewStore.reviewed` returns them, stand with their records. The other options are those of `score`, one to one.

    Raises:
        FormatError: as `score`; no system, no texts, or Plotly is not installed.
    """
    if not systems:
        raise FormatError.single("report", None, "no system to report on", "give systems by name")
    options = ReportOptions(title=title, mask=mask, scoring=scoring_options(criteria, merge, leave_out))
    selection = RecordSelection(query=records) if isinstance(records, Query) else RecordSelection(each=records)
    loaded = load_inputs(gold, systems, format=format, core_type=core_type, texts=texts, pairing=pairing)
    return HtmlReport(run(options, loaded, PythonWarnings(), reviewed=reviewed, selection=selection))


def run(
    options: ReportOptions,
    loaded: Loaded,
    listener: Listener,
    *,
    selection: RecordSelection,
    reviewed: Reviewed | None = None,
    command: str = COMMAND,
) -> str:
    """Score the systems of a corpus and return a report on them as HTML; `command` is what makes it again.

    Raises:
        FormatError: as `report_of`.
    """
    settings = settings_for(loaded, options.scoring, listener)
    layers = tuple(layer.renamed(name) for name, layer in loaded.named_layers().items())
    corpus = replace(loaded.corpus, gold=loaded.corpus.gold.renamed("gold"), systems=layers)
    systems = scored(
        corpus,
        loaded.marks,
        settings,
        mask=options.mask,
        reviewed=reviewed,
        progress=lambda name: listener.progress(name, "scored"),
    )
    for name, scores in systems.scores.items():
        tell_greedy(name, scores.greedy, listener)
    return page(systems, title=options.title, command=command, selection=selection)


def scored(
    corpus: Corpus,
    marks: Mapping[str, Sequence[str]],
    settings: Settings,
    *,
    mask: bool = False,
    reviewed: Reviewed | None = None,
    progress: Callable[[str], Progress | None] = lambda name: None,
) -> ScoredSystems:
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
        own = {layer.name: (*own[layer.name], masking_mark(corpus.gold, layer)) for layer in corpus.systems}
        corpus = masked(corpus)
    scores = {
        layer.name: score_layers(corpus.gold, layer, settings, marks=own[layer.name], progress=progress(layer.name))
        for layer in corpus.systems
    }
    return ScoredSystems(corpus, scores, names, reviewed or Reviewed())


def page(
    systems: ScoredSystems,
    *,
    title: str = "",
    command: str = COMMAND,
    selection: RecordSelection | None = None,
    notes_on: RecordNotes = lambda ledger, position: (),
) -> str:
    """Return a report as HTML; `notes_on` gives further lines on a record.

    Raises:
        FormatError: Plotly is not installed.
    """
    if not find_spec("plotly"):
        raise FormatError.single("report", None, NO_PLOTLY, "pip install plotly")
    # Plotly takes longer to import than most reports to write.
    from nereval_core.html_report.figures import script

    title = title or f"{', '.join(systems.systems)} against {systems.corpus.name}"
    return rendered(report(systems, title=title, command=command, selection=selection, notes_on=notes_on), script())
