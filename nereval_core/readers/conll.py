"""Columns of tokens and tags, one token a line, as in the CoNLL shared tasks.

Columns are split by tabs where most lines have one, else by runs of blanks. The first holds the token, or, where it
counts the tokens of each sentence, the second. A blank line ends a sentence. Documents begin at `-DOCSTART-`,
`###MEDLINE:…`, `# newdoc id = …` or `# id = …`; `# sent_id = …` names sentences. Another line that begins with `#` is a
comment, unless it has as many columns as the others and a tag.
The text is rebuilt: tokens joined by one blank, sentences by a line end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np

from nereval_core.corpus import Documents, Int64, Intervals, Place, document_problems, layer
from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.schemes import LETTERS, SCHEMES, Scheme, Tags, decode, detect, faults, scheme_named
from nereval_core.readers.source import SourceFile, left_out, watched
from nereval_core.tagged import Tagged

NAME = "conll"
COLUMNS = True
DESCRIPTION = "one token a line with its tag in a column: IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMES, IO"

SUFFIXES = (".conll", ".iob", ".iob1", ".iob2", ".bio", ".bioes", ".bilou")
OTHER_SUFFIXES = (".tsv", ".txt", ".dat")
"""Of a folder's files these are read where none has a suffix of the format's own."""
DOCSTART = "-DOCSTART-"
MEDLINE = "###MEDLINE"
ID_KEYS = ("id", "document_id", "document id", "doc_id", "doc id")
SAMPLE = 1000
"""How many lines decide on separator and number of columns."""
TAG = "write O, or a letter, '-' and a type; or choose another column"
REPAIR = "mend it, or read it with --repair conlleval (cut as that program does) or --repair discard (chunk dropped)"


def is_mark(token: str) -> bool:
    """Say whether a line that begins with this token is taken for the beginning of a document."""
    return token == DOCSTART or token.startswith(MEDLINE)


def recognise(source: Source) -> float:
    """Claim rows of equal length that have a tag in one column, the last one most surely."""
    lines = _files(source)[0].head()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith(("TOKEN\t", "{")):
        return 0.0
    rows, columns, _ = _sampled(lines)
    full = [row for row in rows if len(row) == columns]
    if columns < 2 or len(full) < 0.8 * len(rows):
        return 0.0
    tagged = [sum(_is_tag(row[column]) for row in full) >= 0.8 * len(full) for column in range(1, columns)]
    return 0.9 if tagged[-1] else 0.8 if any(tagged) else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read the tokens and the tags of one column; of several files, one without marks is one document.

    Raises:
        FormatError: with every problem found: columns, tags, sequences that break the scheme, ids.
    """
    rows, sentences, units = _gathered(source, options)
    files = rows.sources
    tags = Tags.of(rows.tags, sentences)
    scheme, notes = _settled(tags, rows, options, source.name)
    problems = [Problem(*rows.place(token), f"{quoted(rows.tags[token])} is no tag", TAG) for token in tags.odd]
    broken = faults(tags, scheme) if scheme and not options.repair else []
    # What stands beside no tag at all is not to blame.
    beside = {token + step for token in tags.odd for step in (-1, 1)}
    problems += [Problem(*rows.place(token), found, REPAIR) for token, found in broken if token not in beside]
    problems += units.problems
    if problems:
        raise FormatError(sorted(problems, key=lambda problem: problem.line or 0) if len(files) == 1 else problems)

    documents, doc = _documents(rows, sentences, units)
    chunks = decode(tags, scheme or SCHEMES["IOB2"], options.repair)
    assert documents.tokens is not None
    found = layer(
        options.name or source.label,
        documents,
        doc[chunks.start],
        documents.tokens.starts[chunks.start],
        documents.tokens.ends[chunks.end - 1],
        [tags.names[code] for code in chunks.type.tolist()],
        where=lambda span: rows.place(int(chunks.start[span])),
        problems=document_problems(documents, units.places.__getitem__),
    )
    notes = [*_column_notes(rows, options), *notes]
    mended = ""
    if chunks.mended:
        done = "cut as conlleval does" if options.repair == "conlleval" else "discarded"
        mended = f"{_count(chunks.mended, 'malformed chunk')} {done}"
        notes.append(mended)
    notes += units.notes
    if rows.comments:
        notes.append(f"{_count(rows.comments, 'comment line')} not kept")
    notes += left_out(source, files)
    name = scheme.name if scheme else None
    return Reading(documents, found, NAME, tuple(notes), scheme=name, places=units.places, mended=mended)


def tagged(source: Source, *, column: int | str | None = None) -> Tagged:
    """Read the tokens and the tags of one column as they stand, whether or not they make sense.

    Raises:
        FormatError: with every problem found in columns, tokens and ids; none for a tag.
    """
    rows, sentences, units = _gathered(source, ReadOptions(column=column))
    documents, _ = _documents(rows, sentences, units)
    problems = [*units.problems, *document_problems(documents, units.places.__getitem__)]
    if problems:
        raise FormatError(problems)
    return Tagged(documents, rows.tags, rows.tokens, sentences, source.name, rows.place, marks=tuple(rows.marked))


def _gathered(source: Source, options: ReadOptions) -> tuple[_Rows, Int64, _Units]:
    """Return the rows of all files, the first token of each sentence with the number of tokens, and the documents.

    Raises:
        FormatError: with what is wrong with lines and columns.
    """
    files = _files(source)
    rows = _Rows()
    for file in files:
        _read_file(file, options, rows)
    if not rows.tokens and not rows.problems:
        rows.problems.append(Problem(source.name, None, "no tokens in it", "give one token and its tag a line"))
    if rows.problems:
        raise FormatError(rows.problems)
    sentences = np.array([*rows.sentences, len(rows.tokens)], np.int64)
    return rows, sentences, _units(rows, sentences, len(files))


def _files(source: Source) -> tuple[SourceFile, ...]:
    own = tuple(file for file in source.files if file.suffix in SUFFIXES)
    return own or source.pick(*OTHER_SUFFIXES)


@dataclass(slots=True)
class _Mark:
    """Where a document begins: `kind` is newdoc, docstart or id; `name` is None where the mark gives none."""

    kind: str
    name: str | None
    token: int
    place: Place


@dataclass(slots=True)
class _Rows:
    """What stands in the files, in order; `sentences` and `files` are the numbers of their first tokens."""

    tokens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    sentence_ids: dict[int, str] = field(default_factory=dict)
    marks: list[_Mark] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    """The tags beside -DOCSTART-, where it stands in a row of the table."""
    files: list[int] = field(default_factory=list)
    sources: list[SourceFile] = field(default_factory=list)
    columns: set[tuple[int, int]] = field(default_factory=set)
    """How many columns the files have, and the index of that of the tokens."""
    comments: int = 0
    problems: list[Problem] = field(default_factory=list)

    def place(self, token: int) -> Place:
        return self.sources[bisect_right(self.files, token) - 1].shown, self.lines[token]


def _read_file(file: SourceFile, options: ReadOptions, rows: _Rows) -> None:
    try:
        lines = file.lines()
    except FormatError as error:
        rows.problems.extend(error.problems)
        return
    rows.files.append(len(rows.tokens))
    rows.sources.append(file)
    sample, columns, split = _sampled(lines)
    if not sample:
        return
    if len(lines) == 1 and "\r" in lines[0]:
        found = "lines end in a carriage return alone"
        rows.problems.append(Problem(file.shown, None, found, "save the file with line feeds"))
        return
    word = 1 if columns > 2 and _numbered(sample) else 0
    column, complaint = _column(options.column, columns, word)
    if complaint:
        rows.problems.append(Problem(file.shown, None, *complaint))
        return
    rows.columns.add((columns, word))
    tokens, tags, numbers, sentences = rows.tokens, rows.tags, rows.lines, rows.sentences
    ended = True
    for number, line in enumerate(watched(lines, options.progress), start=1):
        if not line or line.isspace():
            ended = True
            continue
        row = split(line)
        if len(row) != columns:
            row = split(line.rstrip(" \t"))
        token = row[0]
        if len(row) == columns and (token[:1] not in ("#", "-") or _is_row(row, column, split is _tabs)):
            if ended:
                sentences.append(len(tokens))
                ended = False
            if not row[word]:
                found = "a line without a token"
                rows.problems.append(Problem(file.shown, number, found, f"write the token in column {word + 1}"))
            tokens.append(row[word])
            tags.append(row[column])
            numbers.append(number)
        elif token == DOCSTART or line.startswith("#"):
            before = len(rows.marks)
            if token == DOCSTART and len(row) == columns:
                rows.marked.append(row[column])
            _comment(line, rows, (file.shown, number))
            # A mark ends the sentence too where no blank line does.
            ended = ended or len(rows.marks) > before
        else:
            found = f"{_count(len(row), 'column')} where the file has {columns}"
            by = "tabs" if split is _tabs else "blanks"
            rows.problems.append(Problem(file.shown, number, found, f"give each token {columns} columns split by {by}"))


def _comment(line: str, rows: _Rows, place: Place) -> None:
    """Take a line that is no row of the table: the mark of a document, the id of a sentence, or a comment."""
    here = len(rows.tokens)
    if line.startswith(DOCSTART):
        rows.marks.append(_Mark("docstart", None, here, place))
        return
    if line.startswith(MEDLINE):
        rows.marks.append(_Mark("newdoc", line[len(MEDLINE) :].split("\t")[0].strip(" :") or None, here, place))
        return
    key, equals, value = (part.strip() for part in line.lstrip("#").partition("="))
    if key == "newdoc" or (key == "newdoc id" and equals):
        rows.marks.append(_Mark("newdoc", value or None, here, place))
    elif key in ID_KEYS and equals:
        rows.marks.append(_Mark("id", value or None, here, place))
    elif key.startswith("id ") and not line.startswith("##"):
        # MultiCoNER: "# id 1f2e domain=en".
        rows.marks.append(_Mark("id", key.split()[1], here, place))
    elif key == "sent_id" and equals:
        rows.sentence_ids[here] = value
    else:
        rows.comments += 1


def _is_row(row: Sequence[str], column: int, tabs: bool) -> bool:
    """Say whether a line that begins with '#' or '-', and is as long as the others, holds a token.

    Between tabs a word of its own is a token even where its tag is none, so that the tag is complained of.
    """
    return not is_mark(row[0]) and (row[0][0] == "-" or _is_tag(row[column]) or (tabs and " " not in row[0]))


def _is_tag(text: str) -> bool:
    return text == "O" or (text[1:2] == "-" and len(text) > 2 and text[0] in LETTERS[1:])


def _tabs(line: str) -> list[str]:
    return line.split("\t")


def _blanks(line: str) -> list[str]:
    # Not str.split(): a no-break space belongs to its token.
    return [part for part in line.replace("\t", " ").split(" ") if part]


def _sampled(lines: Sequence[str]) -> tuple[list[list[str]], int, Callable[[str], list[str]]]:
    """Return the first rows, how many columns most of them have, and how lines are split."""
    filled = (line for line in lines if line and not line.isspace())
    some = list(islice((line.rstrip(" \t") for line in filled if not line.startswith(("#", DOCSTART))), SAMPLE))
    if not some:
        # Tokens may begin with '#': where nothing else is there, a tag tells them from comments.
        tagged = (line for line in lines if line[:1] == "#" and any(map(_is_tag, _blanks(line)[1:])))
        some = list(islice((line.rstrip(" \t") for line in tagged), SAMPLE))
    split = _tabs if 2 * sum("\t" in line for line in some) >= max(1, len(some)) else _blanks
    rows = [split(line) for line in some]
    return rows, max(Counter(map(len, rows)).most_common(1), default=(0, 0))[0], split


def _numbered(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first column counts the tokens of each sentence from 1, as in GermEval 2014."""
    numbers = [row[0] for row in rows]
    follows = all(two in ("1", str(int(one) + 1)) for one, two in pairwise(numbers) if one.isdecimal())
    return numbers[0] == "1" and "2" in numbers and follows and all(map(str.isdecimal, numbers))


def _column(wanted: int | str | None, columns: int, word: int) -> tuple[int, tuple[str, str] | None]:
    """Return the index of the column with the tags, or what is wrong with the one wanted and the remedy."""
    if columns < 2:
        return 0, ("only one column", "give each token and its tag, split by a tab or blanks")
    if wanted is None:
        return columns - 1, None
    remedy = f"give the number of the column with the tags, {word + 2} to {columns}"
    try:
        number = int(wanted)
    except ValueError:
        return 0, (f"no column is called {quoted(str(wanted))}", remedy)
    index = number - 1 if number > 0 else columns + number
    if number == 0 or not 0 <= index < columns:
        return 0, (f"there is no column {number}", remedy)
    if index <= word:
        return 0, (f"column {index + 1} holds {'the tokens' if index == word else 'their numbers'}", remedy)
    return index, None


def _column_notes(rows: _Rows, options: ReadOptions) -> list[str]:
    notes = []
    if any(word for _, word in rows.columns):
        notes.append("tokens taken from column 2, as column 1 numbers them")
    most = max(columns for columns, _ in rows.columns)
    if most > 2:
        number = most if options.column is None else int(options.column)
        notes.append(f"tags taken from column {number if number > 0 else most + 1 + number} of {most}")
    return notes


def _settled(tags: Tags, rows: _Rows, options: ReadOptions, source: str) -> tuple[Scheme | None, list[str]]:
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
            *rows.place(detected.parting),
            f"the tags fit {names}, which part here",
            f"name the scheme: --scheme {'|'.join(detected.rivals)}",
        )
    if detected.scheme is None:
        return None, ["no tag but O: the scheme cannot be told"]
    if not detected.broken:
        return detected.scheme, [f"tag scheme {detected.scheme.name} (detected)"]
    least = _count(detected.broken, "time")
    return detected.scheme, [f"tag scheme {detected.scheme.name} (no scheme fits; this one is broken least, {least})"]


@dataclass(slots=True)
class _Units:
    """The documents: number of each one's first sentence, and what they are called."""

    first: list[int]
    ids: tuple[str, ...]
    named: bool
    places: tuple[Place, ...]
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _units(rows: _Rows, sentences: Int64, files: int) -> _Units:
    """Return the documents as marked, else the files, else the sentences."""
    marks = rows.marks
    if any(mark.kind == "newdoc" for mark in marks):
        # Where new documents are marked, `# id` names sentences.
        marks = [mark for mark in marks if mark.kind != "id"]
    if files > 1:
        marks = _with_files(marks, rows)
    if not marks:
        return _sentence_units(rows, sentences)
    kept: list[_Mark] = []
    for mark in marks:
        # -DOCSTART- and an id line right after it mark one document.
        if kept and (kept[-1].kind, kept[-1].token) == ("docstart", mark.token) and mark.kind != "docstart":
            kept.pop()
        kept.append(mark)
    if kept[0].token > 0:
        kept.insert(0, _Mark("docstart", None, 0, rows.place(0)))
    unnamed = [mark for mark in kept if mark.name is None]
    units = _Units(
        np.searchsorted(sentences[:-1], [mark.token for mark in kept]).tolist(),
        tuple(str(number) if unnamed else mark.name or "" for number, mark in enumerate(kept, start=1)),
        not unnamed,
        tuple(mark.place for mark in kept),
    )
    if unnamed and len(unnamed) < len(kept):
        units.problems += [
            Problem(*mark.place, "a document without an id where others have one", "give each document an id, or none")
            for mark in unnamed
        ]
    elif unnamed:
        units.notes.append(f"documents have no ids: numbered 1 to {len(kept)}")
    return units


def _with_files(marks: Sequence[_Mark], rows: _Rows) -> list[_Mark]:
    """Return the marks with one more for each file that has none."""
    found = list(marks)
    for number, (low, file) in enumerate(zip(rows.files, rows.sources, strict=True)):
        high = rows.files[number + 1] if number + 1 < len(rows.files) else len(rows.tokens)
        if not any(mark.place[0] == file.shown for mark in marks):
            found.append(_Mark("newdoc", file.stem, low, (file.shown, rows.lines[low] if low < high else None)))
    return sorted(found, key=lambda mark: mark.token)


def _sentence_units(rows: _Rows, sentences: Int64) -> _Units:
    starts = sentences[:-1].tolist()
    places = tuple(map(rows.place, starts))
    names = [rows.sentence_ids.get(token, "") for token in starts]
    count = len(starts)
    if all(names) and len(set(names)) == count:
        note = f"no documents marked: each sentence is a unit ({count}, named by sent_id)"
        return _Units(list(range(count)), tuple(names), True, places, [note])
    note = f"no documents marked: each sentence is a unit ({count}, numbered)"
    return _Units(list(range(count)), tuple(map(str, range(1, count + 1))), False, places, [note])


def _documents(rows: _Rows, sentences: Int64, units: _Units) -> tuple[Documents, Int64]:
    """Return the documents with text, tokens and sentences, and the document of each token."""
    edges = [*units.first, len(sentences) - 1]
    cuts = sentences.tolist()
    lines = [" ".join(rows.tokens[low:high]) for low, high in pairwise(cuts)]
    texts = tuple("\n".join(lines[low:high]) for low, high in pairwise(edges))
    first_token = sentences[edges]
    doc = np.repeat(np.arange(len(texts)), np.diff(first_token))
    sizes = np.fromiter(map(len, rows.tokens), np.int64, len(rows.tokens))
    # One character stands between two tokens of a document, whether blank or line end.
    after = np.cumsum(sizes + 1)
    starts = after - sizes - 1
    starts -= starts[first_token[:-1].clip(max=len(starts) - 1)][doc]
    ends = starts + sizes
    tokens = Intervals(first_token, starts.astype(np.int32), ends.astype(np.int32))
    # A sentence holds at least one token.
    reach = Intervals(
        np.array(edges, np.int64),
        starts[sentences[:-1]].astype(np.int32),
        ends[sentences[1:] - 1].astype(np.int32),
    )
    for array in (tokens.first, tokens.starts, tokens.ends, reach.first, reach.starts, reach.ends):
        array.setflags(write=False)
    return Documents(units.ids, texts, tokens, reach, named=units.named), doc


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
