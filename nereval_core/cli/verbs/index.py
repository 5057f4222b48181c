"""The verb `index`: the concept ids of documents compared with gold's."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nereval_core.api.verb_options import IndexOptions
from nereval_core.cli.options import Parser, UsageError, add_options, add_output, check_by, parsed
from nereval_core.problems import quoted

if TYPE_CHECKING:
    from nereval_core.cli.results.indexing import IndexedSystem
    from nereval_core.readers.shared.concepts import Index

HELP = "score the concept ids of documents"
USAGE = "GOLD PRED [PRED ...] [options]"
EXAMPLE = "gold.tsv system.tsv --by id --json scores.json"
NOTES = """\
Each document has a set of ids. GOLD and PRED are TSV files (document<tab>code, or document<tab>type<tab>code), folders
of them, or annotations, whose links are the ids of their document; NIL is none. P, R and F1 are micro, macro over
documents, and by id. Documents and ids on one side only are counted and reported.
"""
BY = ("document", "id")


def add_arguments(parser: Parser) -> None:
    parser.add_argument("--relaxed", metavar="FILE", help="lines id<tab>id: the first id counts as the second")
    records = "a record per document and id, as .parquet, .jsonl or .csv"
    add_output(parser, "scores", by=("document,id", "break the numbers down"), records=records)
    parser.set_defaults(criteria=None)
    parser.add_argument("files", nargs="+", metavar="FILE", help="GOLD first, then PRED or NAME=PRED")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not list the files read on standard error")
    add = parser.add_argument_group("reading").add_argument
    add("--format", default="auto", help="tsv, or a format with links: see `nereval formats` (default: by content)")
    add("--gold-format", metavar="FORMAT", help="of gold only")
    add("--pred-format", metavar="FORMAT", help="of predictions only")
    add_options(parser, IndexOptions, within=("reading", add))


def run(options: argparse.Namespace) -> None:
    from nereval_core.api.linking import TSV
    from nereval_core.cli.files import prediction_files
    from nereval_core.cli.output import output_places, write_result
    from nereval_core.cli.results.indexing import index_result
    from nereval_core.readers import formats

    if not prediction_files(options.files):
        raise UsageError("name a prediction after gold")
    by = check_by(options, BY, f"choose among {', '.join(BY)}")
    places = output_places(options, "records")
    for option, value in (("--gold-format", options.gold_format), ("--pred-format", options.pred_format)):
        if value not in (None, "auto", TSV, *formats()):
            raise UsageError(f"{option} {quoted(value)}, choose among {', '.join(('auto', TSV, *formats()))}")
    gold, systems = _load_and_score(options)
    write_result(index_result(gold, systems, by), places)


def _load_and_score(options: argparse.Namespace) -> tuple[Index, list[IndexedSystem]]:
    """Return gold and the scores of all systems.

    Raises:
        FormatError: with the problems of all files.
    """
    from nereval_core.analysis.linking.indexing import index_signature, score_index
    from nereval_core.api.linking import TSV, check_index, load_index
    from nereval_core.api.load import source_of
    from nereval_core.cli.files import gold_path, system_paths
    from nereval_core.cli.output import Console
    from nereval_core.cli.results.indexing import IndexedSystem
    from nereval_core.problems import Steps, counted
    from nereval_core.readers.shared.concepts import read_mapping

    links = parsed(IndexOptions, options).links
    steps = Steps()
    relaxed: dict[str, str] = {}
    codes_by_name: dict[str, Index] = {}
    paths = system_paths(options)
    texts, console = None, Console(options.quiet)
    with steps.collected():
        relaxed = {} if options.relaxed is None else read_mapping(options.relaxed)
    places = [("", gold_path(options), options.gold_format)]
    places += [(name, path, options.pred_format) for name, path in paths.items()]
    for name, place, form in places:
        with steps.collected():
            source = source_of(place)
            codes, reading = load_index(source, format=form or options.format, links=links, texts=texts)
            codes_by_name[name] = codes
            texts = reading.documents if not name and reading is not None else texts
            ids = sum(map(len, codes.documents.values()))
            counts = f"{counted(len(codes.documents), 'document')}, {counted(ids, 'id')}"
            console.read(f"{source.name}: {'; '.join((reading.format if reading else TSV, counts, *codes.notes))}")
    steps.refuse()
    gold = codes_by_name.pop("")
    check_index(gold)
    return gold, [
        IndexedSystem(name, codes, score_index(gold, codes, relaxed=relaxed), index_signature(gold, codes, relaxed))
        for name, codes in codes_by_name.items()
    ]
