"""Criteria: the scores of one prediction under every matching criterion, and the spans that make the difference."""

from pages.shared import criteria, frame
from pages.shared.components import sentence
from pages.shared.criteria import all_criteria
from pages.shared.data.page_context import PageContext


@frame.page("Criteria", filters=lambda view: view.criteria_tab == "ladder")
def draw(page: PageContext) -> None:
    view = criteria.choose_view(page)
    if view is not None:
        view(page)
        return
    page = all_criteria.as_read(page)
    sentence.draw_notices(page, [page.system])
    rows = all_criteria.choose_rows(page)
    all_criteria.score_figure(page, rows)
    all_criteria.show_rows(page, rows)
    all_criteria.list_unfit(page)
