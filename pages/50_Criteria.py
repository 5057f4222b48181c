"""Criteria: the scores of one prediction under every matching criterion, and the spans that make the difference."""

from pages.shared import criteria
from pages.shared.components import notices
from pages.shared.criteria import views as criteria_views
from pages.shared.frame import Here, page
from pages.shared.view import CRITERIA_VIEWS


@page("Criteria", filters=lambda view: view.choice(CRITERIA_VIEWS) == "ladder")
def draw(here: Here) -> None:
    view = criteria_views.choose_view(here)
    if view is not None:
        view(here)
        return
    here = criteria.as_read(here)
    notices.draw_notices(here, [here.system])
    rows = criteria.choose_rows(here)
    criteria.score_figure(here, rows)
    cell = criteria.all_criteria_table(here, rows)
    if cell is not None:
        criteria.open_cell(here, rows, *cell)
    criteria.list_unfit(here)
