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
READING = "reading"
"""The number of the reading that this session waits for (pages/shared/jobs.py)."""
READ_LAST = "read_last"
"""Which form of the front page was read last, and what reads it anew (pages/shared/mending.py)."""
OWN = "own"
"""One's own matching criteria (pages/shared/own.py), which no server keeps."""
SLICING = "slicing"
"""What Slices slices by where no link says it: metadata, training data, columns of one's own."""
TRAINING, COLUMNS = "slices_training", "slices_columns"
"""Digests of the training layer and of the columns that this session gave beside its corpora."""
BESIDE_LOADS, BESIDE_PROBLEMS = "slices_loads", "slices_problems"
"""How often such files were loaded, and lines of problems of the last one."""

WIDGET = "widget_"
"""Prefix of widgets that mirror a fact of the view."""
CHIP = "chip_"
HELD = "held_"
"""Prefix of what tables held when they were drawn last (pages/shared/lists.py)."""
LIST = "list_"
TABLE = "table_"
