"""Keys of session state: one for each fact that outlives a page switch, and prefixes of widget keys.

Widgets lose their value on a page switch, so no fact lives in a widget: before it is drawn a widget is given its value
from the view, and its callback writes back.
"""

VIEW = "view"
"""The View (pages/shared/url.py): corpus, scoring and what lists show."""
PAGE = "page"
"""The page drawn last, to tell a page switch from a rerun."""
RUNS = "runs"
"""How many times this session has run a page; tests wait for it to grow."""
UPLOAD_PROBLEMS = "upload_problems"
"""Lines of problems of the upload read last."""
READ_LAST = "read_last"
"""Which form of the front page was read last, and what reads it anew (pages/shared/mending.py)."""
OWN = "own"
"""One's own matching criteria (pages/shared/own.py), which no server keeps."""

WIDGET = "widget_"
"""Prefix of widgets that mirror a fact of the view."""
CHIP = "chip_"
LIST = "list_"
TABLE = "table_"
