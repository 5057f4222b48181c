"""Columns of tokens and tags, one token a line, as in the CoNLL shared tasks.

Columns are split by tabs where most lines have one, else by runs of blanks. The first holds the token, or, where it
counts the tokens of each sentence, the second. A blank line ends a sentence. Documents begin at `-DOCSTART-`,
`###MEDLINE:…`, `# newdoc id = …` or `# id = …`; `# sent_id = …` names sentences. Another line that begins with `#` is a
comment, unless it has as many columns as the others and a tag.
The text is rebuilt: tokens joined by one blank, sentences by a line end.
"""

from __future__ import annotations

from collections.abc import Callable

from nereval_core.corpus import Labels, Place, document_problems, layer
from nereval_core.errors import FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.columns import Unjudged
from nereval_core.readers.conll_blocks import read_packed
from nereval_core.readers.conll_layout import is_tag, sampled
from nereval_core.readers.conll_rows import read_listed
from nereval_core.readers.conll_units import AnyRows, Units, units_of
from nereval_core.readers.schemes import SCHEMES, Scheme, Tags, decode, detect, faults, scheme_named
from nereval_core.readers.source import SourceFile, left_out
from nereval_core.tagged import Tagged

NAME = "conll"
COLUMNS = True
TABLES = True
DESCRIPTION = "one token a line with its tag in a column: IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMES, IO"

SUFFIXES = (".conll", ".iob", ".iob1", ".iob2", ".bio", ".bioes", ".bilou")
OTHER_SUFFIXES = (".tsv", ".txt", ".dat")
"""Of a folder's files these are read where none has a suffix of the format's own."""
TAG = "write O, or a letter, '-' and a type; or choose another column"
REPAIR = "mend it, or read it with --repair conlleval (cut as that program does) or --repair discard (chunk dropped)"


def recognise(source: Source) -> float:
    """Claim rows of equal length that have a tag in one column, the last one most surely."""
    lines = _files(source)[0].head()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith(("TOKEN\t", "{")):
        return 0.0
    rows, columns, _ = sampled(lines)
    full = [row for row in rows if len(row) == columns]
    if columns < 2 or len(full) < 0.8 * len(rows):
        return 0.0
    tagged = [sum(is_tag(row[column]) for row in full) >= 0.8 * len(full) for column in range(1, columns)]
    return 0.9 if tagged[-1] else 0.8 if any(tagged) else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read the tokens and the tags of one column; of several files, one without marks is one document.

    Raises:
        FormatError: with every problem found: columns, tags, sequences that break the scheme, ids.
    """
    files = _files(source)
    try:
        return reading(source, options, read_packed(files, options))
    except Unjudged:
        return reading(source, options, read_listed(files, options))


def reading(source: Source, options: ReadOptions, rows: AnyRows) -> Reading:
    """Return what the rows of all files say.

    Raises:
        FormatError: as `read`.
    """
    units = _checked(source, rows)
    files, found = rows.found.sources, rows.found
    tags = rows.tags()
    scheme, notes = settled(tags, rows.place, options)
    problems = [Problem(*rows.place(token), f"{quoted(rows.written(token))} is no tag", TAG) for token in tags.odd]
    broken = faults(tags, scheme) if scheme and not options.repair else []
    # What stands beside no tag at all is not to blame.
    beside = {token + step for token in tags.odd for step in (-1, 1)}
    problems += [Problem(*rows.place(token), said, REPAIR) for token, said in broken if token not in beside]
    problems += units.problems
    if problems:
        raise FormatError(sorted(problems, key=lambda problem: problem.line or 0) if len(files) == 1 else problems)

    documents = rows.documents(units.first, units.ids, units.named)
    chunks = decode(tags, scheme or SCHEMES["IOB2"], options.repair)
    spans = layer(
        options.name or source.label,
        documents,
        *rows.edges(chunks, documents),
        Labels(chunks.type, tags.names),
        where=lambda span: rows.place(int(chunks.start[span])),
        problems=document_problems(documents, units.places.__getitem__),
    )
    notes = [*_column_notes(rows, options), *notes]
    mended = ""
    if chunks.mended:
        done = "cut as conlleval does" if options.repair == "conlleval" else "discarded"
        mended = f"{counted(chunks.mended, 'malformed chunk')} {done}"
        notes.append(mended)
    notes += units.notes
    if found.comments:
        notes.append(f"{counted(found.comments, 'comment line')} not kept")
    notes += left_out(source, files)
    name = scheme.name if scheme else None
    return Reading(documents, spans, NAME, tuple(notes), scheme=name, places=units.places, mended=mended)


def tagged(source: Source, *, column: int | str | None = None) -> Tagged:
    """Read the tokens and the tags of one column as they stand, whether or not they make sense.

    Raises:
        FormatError: with every problem found in columns, tokens and ids; none for a tag.
    """
    rows = read_listed(_files(source), ReadOptions(column=column))
    units = _checked(source, rows)
    documents = rows.documents(units.first, units.ids, units.named)
    problems = [*units.problems, *document_problems(documents, units.places.__getitem__)]
    if problems:
        raise FormatError(problems)
    marks = tuple(rows.found.marked)
    return Tagged(
        documents, rows.words, rows.tokens, rows.sentences, source.name, rows.place, marks=marks, ended=rows.ended
    )


def _checked(source: Source, rows: AnyRows) -> Units:
    """Return the documents that rows make.

    Raises:
        FormatError: with what is wrong with lines and columns.
    """
    problems = rows.found.problems
    if not rows.count and not problems:
        problems.append(Problem(source.name, None, "no tokens in it", "give one token and its tag a line"))
    if problems:
        raise FormatError(problems)
    return units_of(rows, rows.sentences, len(rows.found.sources))


def _files(source: Source) -> tuple[SourceFile, ...]:
    own = not source.by_suffix.keys().isdisjoint(SUFFIXES)
    return source.pick(*(SUFFIXES if own else OTHER_SUFFIXES))


def _column_notes(rows: AnyRows, options: ReadOptions) -> list[str]:
    notes = []
    if any(word for _, word in rows.found.columns):
        notes.append("tokens taken from column 2, as column 1 numbers them")
    most = max(columns for columns, _ in rows.found.columns)
    if most > 2:
        number = most if options.column is None else int(options.column)
        notes.append(f"tags taken from column {number if number > 0 else most + 1 + number} of {most}")
    return notes


def settled(tags: Tags, place: Callable[[int], Place], options: ReadOptions) -> tuple[Scheme | None, list[str]]:
    """Return the scheme given or detected, and what is to be said of it.

    Raises:
        FormatError: several schemes fit and do not decode alike.
    """
    if options.scheme:
        scheme = scheme_named(options.scheme)
        return scheme, [f"tag scheme {scheme.name} (given)"]
    detected = detect(tags)
    if detected.rivals:
        names = ", ".join(detected.rivals)
        raise FormatError.single(
            *place(detected.parting),
            f"the tags fit {names}, which part here",
            f"name the scheme: --scheme {'|'.join(detected.rivals)}",
        )
    if detected.scheme is None:
        return None, ["no tag but O: the scheme cannot be told"]
    if not detected.broken:
        return detected.scheme, [f"tag scheme {detected.scheme.name} (detected)"]
    least = counted(detected.broken, "time")
    return detected.scheme, [f"tag scheme {detected.scheme.name} (no scheme fits; this one is broken least, {least})"]
