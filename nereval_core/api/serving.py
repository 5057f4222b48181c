"""The command that serves the pages, of a clone or of an installation; light, as the command line asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

COMMAND = Path("pages", "shared", "server", "command.py")
BACKGROUND = "background"
"""The first argument of COMMAND for a server that ends when its standard input does."""
EXTRA = "install the extra [app], in a clone: pip install '.[app]'"
INSTALLED = "nereval_app"
"""The folder beside `nereval_core` in which an installation has the pages; a clone has them beside it as they are."""


def why_no_pages() -> str | None:
    """Return the reason why the pages cannot be served here, None if they can."""
    if find_spec("streamlit") is None or find_spec("plotly") is None:
        return "the pages need Streamlit and Plotly"
    return None if _app_files() else "the pages are not installed beside nereval_core"


def serving_command(server: Iterable[str], ours: Iterable[str], *, background: bool = False) -> list[str]:
    """Return the command that serves the pages, with arguments of Streamlit's server and ours."""
    app_file = _app_files()[0]
    # -P: no module of the folder of the command, or of the one that the user stands in, takes the place of another.
    command = [sys.executable, "-P", str(app_file.parent / COMMAND), *([BACKGROUND] if background else [])]
    return [*command, "run", str(app_file), *server, "--", *ours]


def _app_files() -> list[Path]:
    """Return the file that Streamlit runs, of an installation or of a clone; none where there are no pages."""
    beside = Path(__file__).parents[2]
    return [place / "app.py" for place in (beside / INSTALLED, beside) if (place / "pages").is_dir()]
