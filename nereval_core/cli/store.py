"""The verb `store`: where corpora that were read are kept, how much of them there is, and away with them."""

from __future__ import annotations

import argparse

from nereval_core.store import FOLDER, Store


def store(options: argparse.Namespace) -> str | None:
    """Print the folder, how many corpora it holds and their bytes, after clearing it where that is asked for."""
    kept = Store.of_environment()
    if kept is None:
        print(f"nothing is stored: {FOLDER} is empty")
        return None
    if options.clear:
        kept.clear()
    left = kept.entries()
    size = sum(entry.bytes for entry in left)
    print(f"{kept.folder}: {len(left):,} {'corpus' if len(left) == 1 else 'corpora'}, {size:,} of {kept.limit:,} bytes")
    return f"{kept.folder} could not be cleared: check who may write there" if options.clear and left else None
