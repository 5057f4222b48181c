"""What pages resample for intervals and tests: the units that the view names, and how often."""

from __future__ import annotations

from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, plan_for, resampling_units
from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext


def plan_of(page: PageContext) -> ResamplingPlan:
    """Return how often is resampled, by the number of documents."""
    return plan_for(len(page.loaded.corpus.documents))


def units_of(page: PageContext, documents: Documents | None = None) -> ResamplingUnits:
    """Return the units of resampling that the view names, or the default where these documents have no such units."""
    documents = page.loaded.corpus.documents if documents is None else documents
    try:
        return _units(page.loaded, page.view.resample, documents)
    except FormatError:
        return resampling_units(documents)


@memoized()
def _units(loaded: Loaded, by: str, _documents: Documents) -> ResamplingUnits:
    return resampling_units(_documents, by)
