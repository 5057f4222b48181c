"""Loading of a corpus for the pages: reading, pairing, and an account of each layer. No Streamlit in here."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import Corpus, Layer
from nereval_core.problems import FormatError, Problem, Remedy
from nereval_core.readers import Reading, Source, read
from nereval_core.readers.input.confinement import folder_entries, is_inside
from nereval_core.readers.input.paths import LAYER_MARK, label_of
from nereval_core.readers.recognition import likely_format
from nereval_core.scoring import Settings
from pages.shared.data.jobs import BYTES, UNITS, Watch

if TYPE_CHECKING:
    # It takes long to import, and a process that reads opens none.
    from nereval_core.engine.scored_folder import ScoredFolder

DEMOS = Path(__file__).parents[3] / "demo_data"
GOLD = "gold"
"""Name of the layer in gold's place among formats and sources."""
FOLDER_PAGES = ("Start", "Overview", "Confusion", "Inspect", "Guide", "Present")
"""The titles of the pages that a scored folder is shown on."""
_NUMBERS = count()


@dataclass(frozen=True)
class LayerRead:
    """Account of the reading of one layer: source, format and scheme, numbers, and notes for the reader."""

    name: str
    source: str
    format: str
    scheme: str
    documents: int
    spans: int
    types: tuple[str, ...]
    notes: tuple[str, ...]
    kind: str = ""
    """Maker of the layer as a corpus of ours states it: an annotator or a system."""
    lost: tuple[Problem, ...] = ()
    """Spans that have no place in gold's text and were left out in aligning."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A corpus with an account of its reading; `marks` must stand in the signature of a system's scores.

    `start` is the system shown first. `problems` are those of systems that could not be read, `remedies` what
    would read them. `sources` (gold and the
    systems by name) and `options` are what it was read from and how: published scorers read files their own way. `key`
    is that of the input, empty for demos, and `owner` is who had it read. The corpus of a scored `folder` is not in
    memory: it stands for what was scored, and its texts are read as they are shown. `reading` tells readings apart
    whose content is the same but not, perhaps, their files.

    What is made of a corpus to be shown in its stead says so in `reading` too, and has the `address` of what was read.
    One with another layer in gold's place says which (`reference`) and of what it was made (`origin`). One with masked
    texts has the `original`, which is to count by and never to be shown.

    Where all layers are annotators', `first_annotator` is the name of the one in gold's place; else it is empty.
    """

    corpus: Corpus
    layers: tuple[LayerRead, ...]
    marks: Mapping[str, tuple[str, ...]]
    start: str
    description: str = ""
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    options: LoadOptions = field(default_factory=LoadOptions)
    key: str = ""
    folder: ScoredFolder | None = None
    reading: str = field(default_factory=lambda: f"reading {next(_NUMBERS)}")
    address: str = ""
    reference: str = ""
    origin: Loaded | None = None
    original: Loaded | None = None
    first_annotator: str = ""
    owner: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def id(self) -> str:
        """The string under which results are kept: by the content and by the reading.

        Marks, metadata and files are no part of the digest of the content, yet they stand in results.
        """
        return f"{self.corpus.digest} {self.reading}"

    @property
    def digest(self) -> str:
        """Digest of the content that was read, by which a link names the corpus."""
        return self.address or self.corpus.digest

    @property
    def has_layers(self) -> bool:
        """Whether all spans are in memory; of a scored folder there are counts, and records as they are shown."""
        return self.folder is None

    @property
    def types_can_be_mapped(self) -> bool:
        """Whether Start can read the corpus again under a mapping of types: from its files, with gold as read."""
        return self.has_layers and self.origin is None and bool(self.sources)

    @property
    def fixed_settings(self) -> Settings | None:
        """The settings of a folder as it was scored; None where the view says what is scored."""
        return None if self.folder is None else self.folder.settings

    def shows(self, page: str) -> bool:
        """Return whether a page, by its title, can be shown: some look at whole layers, which a scored folder lacks."""
        return self.has_layers or page in FOLDER_PAGES

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the whole corpus as annotated, sorted."""
        return tuple(sorted({kind for layer in (self.corpus.gold, *self.corpus.systems) for kind in layer.types}))


def load(
    name: str | None,
    gold: Source | FormatError,
    systems: Mapping[str, Source | FormatError],
    options: LoadOptions | None = None,
    *,
    watch: Watch | None = None,
) -> Loaded:
    """Read gold and systems and pair them; systems that cannot be read are left out, with their problems told.

    A source that could not even be opened is given as its error. `watch` is told how far it is, and may end it.

    Raises:
        FormatError: gold cannot be read, or no system can; with the problems of all files.
    """
    problems = [problem for source in (gold, *systems.values()) for problem in _unopened(source)]
    opened = {system: source for system, source in systems.items() if isinstance(source, Source)}
    if isinstance(gold, FormatError):
        raise FormatError([*problems, *_unreadable(opened.values())])
    try:
        options = options or LoadOptions()
        progress = _told(watch, {"gold": gold, **opened}, options) if watch is not None else lambda name: None
        reading = load_corpus(gold, opened, name=name, options=options, partial=True, progress=progress)
    except FormatError as error:
        raise FormatError([*problems, *error.problems]) from None
    problems += [problem for rows in reading.problems.values() for problem in rows]
    if not systems:
        problems.append(Problem(gold.name, None, "no system beside it", "give the predictions of at least one system"))
    remedies = tuple(remedy for ways in reading.remedies.values() for remedy in ways)
    if not reading.corpus.systems:
        raise FormatError(problems, remedies)
    layers = [_account(GOLD, reading.gold, reading.corpus.gold, gold.layer)]
    layers += [
        replace(
            _account(layer.name, reading.systems[layer.name], layer, opened[layer.name].layer),
            lost=reading.lost.get(layer.name, ()),
        )
        for layer in reading.corpus.systems
    ]
    return Loaded(
        reading.corpus,
        tuple(layers),
        reading.marks,
        min(reading.marks),
        "",
        tuple(problems),
        {"gold": gold, **{layer.name: opened[layer.name] for layer in reading.corpus.systems}},
        reading.options,
        remedies=remedies,
    )


def _told(
    watch: Watch, sources: Mapping[str, Source], options: LoadOptions
) -> Callable[[str], Callable[[int, int], None]]:
    """Return a function that gives the progress callback for the source of a name."""
    by_name = {source.name: (layer, source) for layer, source in sources.items()}

    def progress_of(name: str) -> Callable[[int, int], None]:
        layer, source = by_name[name]
        format = options.gold_format if layer == "gold" else options.pred_format
        unit = UNITS.get((likely_format(source) if format == "auto" else format) or "", "lines")
        sizes = {file.origin.size() for file in source.files} if unit == "lines" else ()
        watch.begin(f"Reading {name}", unit)

        def step(done: int, total: int) -> None:
            if unit == "lines":
                watch.unit = BYTES if total in sizes else unit
            watch.step(done, total)

        return step

    return progress_of


def _unopened(source: Source | FormatError) -> tuple[Problem, ...]:
    return source.problems if isinstance(source, FormatError) else ()


def _unreadable(sources: Iterable[Source]) -> Iterator[Problem]:
    """Yield the problems of files read alone, where there is no gold to pair them with."""
    for source in sources:
        try:
            read(source)
        except FormatError as error:
            yield from error.problems


def _account(name: str, reading: Reading, layer: Layer, selected: str) -> LayerRead:
    plainly = not selected or reading.source.endswith(LAYER_MARK + selected)
    return LayerRead(
        name,
        reading.source if plainly else f"{reading.source}{LAYER_MARK}{selected}",
        reading.format,
        reading.scheme or "",
        len(reading.documents),
        len(layer),
        layer.types,
        reading.notes,
    )


def demo_names() -> tuple[str, ...]:
    """Return the folders of demo_data that hold a corpus, pharmacology first."""
    folders = (path.parent.name for path in DEMOS.glob("*/corpus.toml"))
    return tuple(sorted(folders, key=lambda name: (name != "pharmacology", name)))


def load_demo(folder: str) -> Loaded:
    """Read a demo corpus; its first layer is the one shown first."""
    about = tomllib.loads((DEMOS / folder / "corpus.toml").read_text(encoding="utf-8"))
    sources: dict[str, Source | FormatError] = {
        layer["name"]: Source.of_path(DEMOS / folder / layer["file"]) for layer in about["layers"]
    }
    loaded = load(about["title"], Source.of_path(DEMOS / folder / about["gold"]), sources)
    layer_rows = {layer["name"]: layer for layer in about["layers"]}
    layers = tuple(
        replace(
            row,
            source=Path(row.source).name,
            notes=row.notes + ((layer_rows[row.name]["description"],) if row.name in layer_rows else ()),
            kind=layer_rows[row.name]["kind"] if row.name in layer_rows else "",
        )
        for row in loaded.layers
    )
    return replace(loaded, layers=layers, start=about["layers"][0]["name"], description=about["description"])


FOLDERS = 500
"""Folders below the served one that are offered."""
ENTRIES = 1_000
"""Entries of a folder that are offered; one with more files is a corpus of files itself, to be chosen whole."""


def served_folders(root: Path) -> tuple[str, ...]:
    """Return the folder itself (".") and those below it; hidden ones and links are left out."""
    folders: list[str] = []
    waiting = ["."]
    while waiting and len(folders) < FOLDERS:
        folder = waiting.pop()
        with suppress(OSError, FormatError):
            names = (name for name, kind in folder_entries(root / folder, root) if kind == "folder" and name[0] != ".")
            waiting += [Path(folder, name).as_posix() for name in sorted(names, reverse=True)]
        folders.append(folder)
    return tuple(folders)


def served_entries(root: Path, folder: str) -> tuple[str, ...]:
    """Return names of files and folders in a folder of the served one, nothing that leads outside; ENTRIES at most."""
    place = root / folder
    try:
        entries = sorted(folder_entries(place, root))
    except (OSError, FormatError):
        return ()
    inside = (name for name, kind in entries if name[0] != "." and (kind or is_inside(place / name, root)))
    return tuple(islice(inside, ENTRIES))


def likely_gold(entries: Sequence[str]) -> str | None:
    return next((name for name in entries if name.split(".")[0].lower() == "gold"), None)


def likely_systems(entries: Sequence[str], gold: str | None) -> list[str]:
    """Return the entries of the same kind as gold: files with its suffix, one of each pair of files, or folders."""
    entry_of_label: dict[str, str] = {}
    for name in entries:
        if gold and Path(name).suffix == Path(gold).suffix and label_of(name) != label_of(gold):
            entry_of_label.setdefault(label_of(name), name)
    return list(entry_of_label.values())


def served_sources(
    root: Path,
    folder: str,
    gold: str,
    systems: Sequence[str],
    *,
    columns: Mapping[str, Mapping[str, int | str]] | None = None,
    apart: Collection[str] = (),
) -> tuple[str, Source | FormatError, dict[str, Source | FormatError]]:
    """Return title, gold and systems of a corpus in the served folder, as `load` takes them.

    Names are paths from `folder`, perhaps with `#` and a layer; for a path outside the served folder there is the
    error. `columns` says, by name, what the columns of a table hold, `apart` whose files are each read by themselves.
    """

    def source(name: str) -> Source | FormatError:
        try:
            whole = Source.of_path(root / folder / name, within=root)
            part = whole.in_folder(whole.layer) if whole.layer in whole.folders() else whole
            part = replace(part, columns=(columns or {}).get(name))
            return part.apart() if name in apart else part
        except FormatError as error:
            return error

    opened = {entry: source(entry) for entry in systems}
    names = {entry: getattr(system, "layer", "") or label_of(entry) for entry, system in opened.items()}
    repeated = [stem for stem in names.values() if list(names.values()).count(stem) > 1]
    labels = {entry: entry if stem in repeated else stem for entry, stem in names.items()}
    title = (root.resolve() / folder).resolve().name
    return title, source(gold), {labels[entry]: system for entry, system in opened.items()}
