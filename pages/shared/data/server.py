"""What the server was started with: `streamlit run app.py -- [--data DIR] [--review FILE] [--mask]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def started_with() -> argparse.Namespace:
    """Return the options: `data` and `review` (None where not given), and `mask`; others are Streamlit's own."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--review", type=Path)
    parser.add_argument("--mask", action="store_true")
    return parser.parse_known_args(sys.argv[1:])[0]
