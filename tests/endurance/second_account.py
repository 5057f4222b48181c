"""A second account lays files where nereval keeps its own, in folders to which all may add; only root may be both.

Nothing of the other account's is read, written to, removed or waited for: what stands there is refused or passed over,
and what this account has kept is whole.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import MappingProxyType

from nereval_core.cli import main
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.input.temporaries import TemporaryFolder, is_temporary, replaced_file
from nereval_core.review.store import ReviewStore
from nereval_core.store import Store
from pages.shared.data.kept_corpora import Keeper
from tests.endurance.tries import FailedTryError, Try, make_tries
from tests.review.test_store import draft

ANOTHER = 4242
"""The number of the other account."""
WORD = "planted"
"""A word of all that the other account lays there."""
NOT_ROOT = "not root"
SECTOR, PAGE = 512, 4096
OPEN_FOLDER = 0o1777
"""The mode of a folder like that of temporaries: all may add to it, and remove what is theirs."""


def run(folder: Path, wanted: Callable[[int], bool], *, processes: int = 1, first: int = 0) -> Counter[str]:
    """Lay files as long as `wanted` says so of the number of tries; count what became of them, and failures."""
    return make_tries(prepare, folder, wanted, processes=processes, first=first)


def prepare(folder: Path) -> Try:
    if os.geteuid() != 0:
        return lambda number: [NOT_ROOT]
    examples = {word: _example(folder / f"examples-{word}", word) for word in ("own", WORD)}

    def make(number: int) -> Iterator[str]:
        drawn = random.Random(number)
        attack = tuple(ATTACKS)[number % len(ATTACKS)]
        place = folder / f"try-{number}"
        try:
            yield f"{attack}: {Scene(place, examples, drawn).play(ATTACKS[attack])}"
        finally:
            shutil.rmtree(place)

    return make


def _source(word: str) -> Source:
    line = b'{"id": "d", "text": "%s text", "spans": [{"start": 0, "end": 3, "label": "P"}]}\n' % word.encode()
    return Source.of_uploads([(f"{word}.jsonl", line)])


def _example(folder: Path, word: str) -> Mapping[str, bytes]:
    """Return the files of a store with one corpus and of verdicts, by their names."""
    folder.mkdir()
    keeper = Keeper(Store(folder))
    loaded = keeper.read(word, _source(word), {"system": _source(word)})
    keeper.rename(loaded.key, f"{word} corpus")
    with closing(ReviewStore(folder / "review.sqlite")) as store:
        store.give([draft(note=f"{word} note")], "Ann")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _journal(pages: bytes) -> bytes:
    """Return a journal from which SQLite would bring these pages back in place of those of the database beside it."""
    parts = [bytes.fromhex("d9d505f920a163d7"), struct.pack(">5I", 0xFFFFFFFF, 7, len(pages) // PAGE, SECTOR, PAGE)]
    parts[1:] = [parts[1].ljust(SECTOR - 8, b"\0")]
    for start in range(0, len(pages), PAGE):
        page = pages[start : start + PAGE]
        checksum = (7 + sum(page[at] for at in range(PAGE - 200, 0, -200))) & 0xFFFFFFFF
        parts += [struct.pack(">I", start // PAGE + 1), page, struct.pack(">I", checksum)]
    return b"".join(parts)


class Scene:
    """Folders to which all may add: `shared`, with the file of verdicts and temporaries, and `shared/store`.

    `private` is this account's alone. The other account acts in `shared`, as which it is called with relative paths.
    """

    def __init__(self, folder: Path, examples: Mapping[str, Mapping[str, bytes]], drawn: random.Random) -> None:
        self.shared, self.private = folder / "shared", folder / "private"
        self.own, self.planted = examples["own"], examples[WORD]
        self.drawn = drawn
        for place, mode in ((folder, 0o755), (self.private, 0o700), (self.shared, OPEN_FOLDER)):
            place.mkdir()
            place.chmod(mode)
        self.secret = self.private / "secret"
        self.secret.write_text("nobody else's")
        self.has_own = drawn.random() < 0.5

    def play(self, attack: Callable[[Scene], None]) -> str:
        """Let the other account act, then use all as this one; return whether all was used, or some was refused."""
        if attack in FOLDERS:
            self.has_own = False
        else:
            self._keep_own()
        self._as_another(lambda: attack(self))
        before = self._of_another()
        environment = {
            "NEREVAL_CACHE": str(self.shared / "store"),
            "NEREVAL_REVIEW_URL": f"sqlite:///{self.shared}/review.sqlite",
            "XDG_CACHE_HOME": str(self.shared),
            "TMPDIR": str(self.shared),
        }
        os.environ |= environment
        answers, refused = self._use()
        if WORD in answers:
            raise FailedTryError("something of another account was used", answers)
        now = self._of_another()
        # What is written by renaming takes the place of another file, which root may.
        if (self.private / "new").exists():
            raise FailedTryError("a file was made where a link of another account leads", answers)
        changed = [
            path for path, row in before.items() if now.get(path, () if self._is_own(path) else None) not in (row, ())
        ]
        if changed or self.secret.read_text() != "nobody else's":
            raise FailedTryError("something of another account, or a file that it led to, was changed", repr(changed))
        return "refused" if refused else "used"

    def _keep_own(self) -> None:
        (self.shared / "store").mkdir()
        (self.shared / "store").chmod(OPEN_FOLDER)
        for name, content in self.own.items() if self.has_own else ():
            place = self.shared / ("" if name.startswith("review") else "store") / name
            place.write_bytes(content)
            place.chmod(0o600)

    def _as_another(self, act: Callable[[], None]) -> None:
        process = os.fork()
        if not process:
            try:
                os.chdir(self.shared)
                tempfile.tempdir = "."
                os.setgroups([])
                os.setgid(ANOTHER)
                os.setuid(ANOTHER)
                act()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(process, 0)[1] == 0

    def _of_another(self) -> dict[str, tuple[object, ...]]:
        """Return what the other account has laid down, with its content."""
        rows = {}
        for path in sorted(self.shared.rglob("*")):
            status = path.lstat()
            if status.st_uid == ANOTHER:
                content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                rows[str(path)] = (status.st_ino, status.st_mode, status.st_uid, content)
        return rows

    def _is_own(self, path: str) -> bool:
        return os.path.lexists(path) and os.lstat(path).st_uid == os.geteuid()

    def _use(self) -> tuple[str, bool]:
        """Return all that this account came to see, and whether any of it was refused."""
        said, refused = [], False
        for use in (self._use_store, self._use_verdicts, self._use_temporaries):
            try:
                said.append(use())
            except FormatError as error:
                refused = True
                said.append("" if use is self._use_temporaries else str(error).replace(WORD, ""))
        for options in ([], ["--mend"]):
            with redirect_stdout(StringIO()) as out, redirect_stderr(out):
                status = main(["doctor", *options])
            # It names the places, and never what stands in them.
            said.append(out.getvalue())
            if status not in (0, 1) or "Traceback" in out.getvalue():
                raise FailedTryError("doctor failed", out.getvalue())
        return "\n".join(said), refused

    def _use_store(self) -> str:
        store = Store.of_environment()
        assert store is not None
        listed = [repr(store.account(entry)) for entry in store.entries()]
        # Its content is that of the other account's entry: what is read must be what is in the file all the same.
        loaded = Keeper(store).read("own", _source("own"), {"system": _source("own")})
        listed += [repr((store.remarks(entry.key), store.of_digest(entry.digest[:16]))) for entry in store.entries()]
        return "\n".join([*listed, loaded.corpus.name, *loaded.corpus.documents.texts])

    def _use_verdicts(self) -> str:
        with closing(ReviewStore.of_environment()) as store:
            notes = [stored.verdict.note for stored in store.every()]
            store.give([draft(31, note="another")], "Ann")
            notes += [stored.verdict.note for stored in store.every()]
        if self.has_own and notes.count("own note") != 2:
            raise FailedTryError("a verdict is gone", repr(notes))
        return repr(notes)

    def _use_temporaries(self) -> str:
        with TemporaryFolder() as folder, replaced_file(self.shared / "output.json") as output:
            output.write_text("{}")
            if Path(folder).stat().st_uid != os.geteuid():
                raise FailedTryError("a temporary is another account's", folder)
        return (self.shared / "output.json").read_text()


def _write(place: str | Path, content: bytes, mode: int = 0o644) -> None:
    path = Path(place)
    path.write_bytes(content)
    path.chmod(mode)


def store_folder(scene: Scene) -> None:
    Path("store").mkdir(mode=0o777)
    for name, content in scene.planted.items():
        _write(f"store/{name}", content)


def linked_store(scene: Scene) -> None:
    Path("elsewhere").mkdir()
    Path("store").symlink_to(scene.drawn.choice(("elsewhere", scene.private)))


def entries(scene: Scene) -> None:
    for name, content in scene.planted.items():
        _write(f"store/{name}", content)


def entries_of_ours(scene: Scene) -> None:
    """Lay down what this account will look for, by the key of its input, with a name and a link of theirs."""
    entry = next(name for name in scene.own if name.endswith(".columns"))
    if not scene.has_own:
        content = next(raw for name, raw in scene.planted.items() if name.endswith(".columns"))
        _write(f"store/{entry}", content)
    key = entry.removesuffix(".columns").partition("-")[2]
    if not scene.has_own:
        Store(Path("store")).remark(key, name=f"{WORD} corpus", key=f"s-{WORD}")
        Path(f"store/{key}.remarks").chmod(0o644)


def links(scene: Scene) -> None:
    _write("theirs", b"planted")
    for name in {*scene.planted, *scene.own}:
        if not os.path.lexists(f"store/{name}"):
            Path(f"store/{name}").symlink_to(scene.drawn.choice((scene.secret, scene.shared / "theirs")))


def pipes(scene: Scene) -> None:
    for name in {*scene.planted, *scene.own}:
        if not os.path.lexists(f"store/{name}"):
            os.mkfifo(f"store/{name}")


def verdicts(scene: Scene) -> None:
    if not Path("review.sqlite").exists():
        _write("review.sqlite", scene.planted["review.sqlite"], 0o666)


def linked_verdicts(scene: Scene) -> None:
    if not Path("review.sqlite").exists():
        Path("review.sqlite").symlink_to(scene.secret)


def journal(scene: Scene) -> None:
    _write("review.sqlite-journal", _journal(scene.planted["review.sqlite"]), 0o666)


def linked_logs(scene: Scene) -> None:
    for ending in ("-journal", "-wal", "-shm"):
        Path(f"review.sqlite{ending}").symlink_to(scene.drawn.choice((scene.secret, scene.private / "new")))


def temporaries(scene: Scene) -> None:
    with TemporaryFolder(sweep=False) as folder:
        name = Path(folder).name
    assert is_temporary(name)
    for number, lay in enumerate((Path.mkdir, Path.touch, lambda place: place.symlink_to(scene.private))):
        for place in (Path(), Path("store")):
            lay(place / f"{name[:-1]}{number}")


def work_folder(scene: Scene) -> None:
    Path("nereval-shards").mkdir(mode=0o777)
    _write("nereval-shards/counts", b"planted")


FOLDERS = (store_folder, linked_store)
"""Attacks that take the place of a folder."""
ATTACKS: Mapping[str, Callable[[Scene], None]] = MappingProxyType(
    {
        attack.__name__.replace("_", " "): attack
        for attack in (
            *(store_folder, linked_store, entries, entries_of_ours, links, pipes, verdicts, linked_verdicts),
            *(journal, linked_logs, temporaries, work_folder),
        )
    }
)
