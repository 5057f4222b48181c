"""The verb `types`: a mapping of the types that gold and predictions call by different names, to be checked by hand."""

from __future__ import annotations

import argparse

from nereval_core.api.load import load_corpus
from nereval_core.cli.files import gold_of, named_systems
from nereval_core.cli.options import load_options, misplaced
from nereval_core.cli.output import progress_bar, say_read
from nereval_core.pairing.type_suggestions import suggest_types, suggested_lines


def types(options: argparse.Namespace) -> str | None:
    """Read, count what overlaps, and print the suggestion as a file for `--pred-types`."""
    wrong = misplaced(options, {})
    if wrong:
        return wrong
    loaded = load_corpus(
        gold_of(options),
        named_systems(options),
        options=load_options(options),
        progress=lambda name: progress_bar(name, "read"),
    )
    if not options.quiet:
        for reading in (loaded.gold, *loaded.systems.values()):
            say_read(reading)
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    print(suggested_lines(suggest_types(gold, systems), gold, systems), end="")
    return None
