"""Corpora kept on disk: each reading is stored, and not repeated as long as it is. No Streamlit in here.

A store that fails (a full disk, a folder that cannot be written to) never stops a reading: what it said is kept in
`Keeper.trouble`. The files named when the server was started are read before it serves, and shown where an address
names no corpus.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from nereval_core import __version__
from nereval_core.api.load import source_of
from nereval_core.api.load_options import LoadOptions
from nereval_core.cli.files import gold_path, system_paths
from nereval_core.cli.options import BAD, Parser, UsageError, add_reading, load_options
from nereval_core.cli.output import progress_bar
from nereval_core.corpus import Corpus
from nereval_core.pairing.selection import DocumentIds
from nereval_core.pairing.type_names import TypeNames
from nereval_core.problems import FormatError, Problem, Remedy
from nereval_core.readers import Source
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.store import FORMAT, ChangedError, Entry, Store, StoredCorpus, TooLargeError, fingerprints, input_key
from pages.shared.data.jobs import Watch
from pages.shared.data.loading import LayerRead, Loaded, load
from pages.shared.server import server_options

_LOG = logging.getLogger("nereval")


class Keeper:
    """Reads corpora through the store, where there is one; one input is one `Loaded` for as long as it is in use."""

    def __init__(self, store: Store | None, *, spare: Store | None = None) -> None:
        """Take a store, and one for what it does not take: there is none, it fails, or a file could not be opened."""
        self.store = store
        self.trouble = ""
        self._spare = spare
        self._lock = Lock()
        self._in_use: WeakValueDictionary[str, Loaded] = WeakValueDictionary()
        self._stored: WeakValueDictionary[str, Loaded] = WeakValueDictionary()
        self._progress: dict[str, Mapping[str, str | int]] = {}

    def read(
        self,
        name: str | None,
        gold: Source | FormatError,
        systems: Mapping[str, Source | FormatError],
        options: LoadOptions | None = None,
        *,
        first_annotator: str = "",
        owner: str = "",
        watch: Watch | None = None,
    ) -> Loaded:
        """Return the corpus that is in use or in the store, or read it with `load` and store it.

        Where all layers are annotators', `first_annotator` is the name of the one in gold's place. What two owners read
        is two corpora, also where the files are the same.

        Raises:
            FormatError: as `load`.
        """
        watch = watch or Watch()
        if isinstance(gold, FormatError):
            return load(name, gold, systems, options, watch=watch)
        opened = {layer: source for layer, source in {"gold": gold, **systems}.items() if isinstance(source, Source)}
        watch.begin("Looking whether they were read before", "files")
        prints = fingerprints(opened, watch.step)
        refused = [str(source) for source in systems.values() if isinstance(source, FormatError)]
        reading = (FORMAT, __version__, name, options or LoadOptions(), refused, first_annotator)
        key = input_key(opened, prints, repr((*reading, owner) if owner else reading))
        # A source that could not even be opened may be there the next time.
        store = None if refused else self.store
        if not refused and (in_use := self._in_use.get(key)) is not None:
            return in_use
        if store is not None and (stored := self.take(store, key)) is not None:
            return stored
        loaded = load(name, gold, systems, options, watch=watch)
        loaded = replace(loaded, key=key, first_annotator=first_annotator, owner=owner)
        watch.begin("Keeping a copy")
        for place in (store, self._spare):
            if place is not None and self._keep(place, loaded, opened, prints, watch):
                return self.take(place, key) or self._used(loaded)
        return self._used(loaded)

    def take(self, store: Store, key: str) -> Loaded | None:
        """Return the corpus of an input, if it is in use or in the store."""
        in_use = self._in_use.get(key)
        stored = store.of_input(key) if in_use is None else None
        return in_use if stored is None else self._opened(store, stored)

    def _opened(self, store: Store | None, stored: StoredCorpus) -> Loaded:
        loaded = self._used(loaded_of(stored))
        if store is self.store:
            self._stored[loaded.key] = loaded
        return loaded

    def opened(self) -> list[str]:
        """Return the keys of the corpora in use that were opened from the store: each holds its file on the disk."""
        return list(self._stored)

    def _used(self, loaded: Loaded) -> Loaded:
        with self._lock:
            return self._in_use.setdefault(loaded.key, loaded)

    def _keep(
        self, store: Store, loaded: Loaded, sources: Mapping[str, Source], prints: tuple[bytes, ...], watch: Watch
    ) -> bool:
        """Write a corpus to a store, and return whether that was done."""
        trouble = ""
        try:
            store.put(StoredCorpus(loaded.corpus, _said(loaded), sources, loaded.key), prints, tick=watch.tick)
        except (OSError, TooLargeError, ChangedError, FormatError) as error:
            trouble = "a file changed while it was read" if isinstance(error, ChangedError) else _reason(error)
        if store is self.store:
            self.tell(trouble)
        return not trouble

    def rename(self, key: str, name: str) -> None:
        """Give a stored corpus another name; it has it from the next time on that it is opened.

        Raises:
            OSError: the store cannot be written to.
        """
        if self.store is not None:
            self.store.remark(key, name=name)
            self.forget(key)

    def forget(self, key: str) -> None:
        """Take the corpus of an input from the store, or read it, when it is asked for next, also if it is in use."""
        with self._lock:
            self._in_use.pop(key, None)

    def note_progress(self, loaded: Loaded, decided: int, records: int, link: str, verdicts: str) -> None:
        """Keep how many records of a list are decided in a store of verdicts, for a corpus that is stored.

        `link` leads to the list, `verdicts` is the name of the store of verdicts.
        """
        progress: dict[str, str | int] = {"decided": decided, "records": records, "link": link, "verdicts": verdicts}
        if self.store is not None and loaded.key and self._progress.get(loaded.key) != progress:
            self._progress[loaded.key] = progress
            with suppress(OSError):
                self.store.remark(loaded.key, **progress)

    def tell(self, trouble: str) -> None:
        """Log a problem of the store, once until there is another one."""
        if trouble and trouble != self.trouble:
            _LOG.warning("a corpus could not be stored: %s", trouble)
        self.trouble = trouble

    def find(self, prefix: str, is_wanted: Callable[[Entry], bool] = lambda entry: True) -> Loaded | None:
        """Return the kept corpus whose digest begins so, of the `wanted` ones; None where there is none, or several."""
        stored = self.store.of_digest(prefix, is_wanted) if self.store is not None else None
        return None if stored is None else self._opened(self.store, stored)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _said(loaded: Loaded) -> dict[str, Any]:
    return {
        "layers": [asdict(row) for row in loaded.layers],
        "marks": {name: list(marks) for name, marks in loaded.marks.items()},
        "start": loaded.start,
        "description": loaded.description,
        "problems": [asdict(problem) for problem in loaded.problems],
        "remedies": [asdict(remedy) for remedy in loaded.remedies],
        "options": asdict(loaded.options),
        "first_annotator": loaded.first_annotator,
        "owner": loaded.owner,
        "f1": _strict_f1(loaded.corpus),
    }


SCORED_SPANS = 1_000_000
"""The most spans of all layers of a corpus whose systems are scored when it is stored."""


def _strict_f1(corpus: Corpus) -> dict[str, float | None]:
    """Return F1 under strict by system, of corpora that are scored in no time; the list of recent corpora shows it."""
    if sum(len(layer) for layer in (corpus.gold, *corpus.systems)) > SCORED_SPANS:
        return {}
    strict = Settings((CRITERIA["strict"],))
    return {layer.name: score_layers(corpus.gold, layer, strict).counts("strict").f1 for layer in corpus.systems}


def loaded_of(stored: StoredCorpus) -> Loaded:
    """Return an entry of the store as pages use it."""
    account = stored.account
    return Loaded(
        stored.corpus,
        tuple(map(_layer, account["layers"])),
        {name: tuple(marks) for name, marks in account["marks"].items()},
        account["start"],
        account["description"],
        tuple(Problem(**problem) for problem in account["problems"]),
        stored.sources,
        _options(account["options"]),
        stored.key,
        first_annotator=account.get("first_annotator", ""),
        owner=account.get("owner", ""),
        remedies=tuple(map(remedy_of, account.get("remedies", ()))),
    )


def remedy_of(values: Mapping[str, Any]) -> Remedy:
    """Return a remedy from its JSON."""
    options = tuple((name, value) for name, value in values["options"])
    return Remedy(values["source"], options, values["spans"], tuple(values["mended"]))


def _layer(row: Mapping[str, Any]) -> LayerRead:
    lost = tuple(Problem(**problem) for problem in row.get("lost", ()))
    return LayerRead(**{**row, "types": tuple(row["types"]), "notes": tuple(row["notes"]), "lost": lost})


def _options(values: Mapping[str, Any]) -> LoadOptions:
    """Return options from their JSON."""
    decoders: dict[str, Callable[[Any], object]] = {
        **{"documents": _documents, "offsets": _offsets, "labels": tuple},
        **dict.fromkeys(("gold_types", "pred_types"), _types),
    }
    decoded = {key: make(value) for key, make in decoders.items() if (value := values.get(key)) is not None}
    return LoadOptions(**{**values, **decoded})


def _documents(values: Mapping[str, Any]) -> DocumentIds:
    return DocumentIds(tuple(values["ids"]), values["source"], tuple(values["lines"]))


def _offsets(values: Sequence[Any]) -> Offsets:
    return Offsets(*values)


def _types(values: Mapping[str, Any]) -> TypeNames:
    return TypeNames(tuple((name, target) for name, target in values["pairs"]), values["source"])


_read: Loaded | None = None


def named_corpus() -> Loaded | None:
    """Return the corpus of the files named, None where there are none."""
    return _read


def read_named_files() -> None:
    """Read the files of `nereval app GOLD SYSTEM ...` where there are some; end the server if one cannot be read."""
    global _read
    arguments = server_options().files
    if not arguments:
        return
    parser = Parser(prog="nereval app", allow_abbrev=False)
    add_reading(parser, least=0)
    options = parser.parse_intermixed_args(arguments)
    try:
        gold = source_of(gold_path(options))
        systems = {name: source_of(path) for name, path in system_paths(options).items()}
        _read = Keeper(Store.of_environment()).read(None, gold, systems, load_options(options), watch=_TerminalWatch())
        if _read.problems:
            raise FormatError(_read.problems)
    except UsageError as error:
        parser.error(str(error))
    except FormatError as error:
        parser.exit(BAD, f"{error}\n")


class _TerminalWatch(Watch):
    """A watch that draws a bar on the terminal of the server."""

    def begin(self, stage: str, unit: str = "") -> None:
        super().begin(stage, unit)
        self._bar = progress_bar(stage, "done")

    def step(self, done: int, total: int) -> None:
        super().step(done, total)
        if self._bar is not None:
            self._bar(done, total)
