"""Criteria: the scores of one prediction under every matching criterion, and the spans that make the difference."""

from pages.shared import criteria, frame
from pages.shared.components import sentence
from pages.shared.criteria import views as criteria_views
from pages.shared.data.page_context import PageContext


@frame.page("Criteria", filters=lambda view: view.criteria_tab == "ladder")
def draw(page: PageContext) -> None:
    view = criteria_views.choose_view(page)
    if view is not None:
        view(page)
        return
    page = criteria.as_read(page)
    sentence.draw_notices(page, [page.system])
    rows = criteria.choose_rows(page)
    criteria.score_figure(page, rows)
    cell = criteria.all_criteria_table(page, rows)
    if cell is not None:
        criteria.open_cell(page, rows, *cell)
    criteria.list_unfit(page)
