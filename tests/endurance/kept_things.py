"""Small examples of all that nereval keeps, and their use as the app uses them: what each question is answered with."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nereval_core.engine import scored_folder
from nereval_core.engine.folder_records import FolderDocuments
from nereval_core.engine.merged_scores import ScoredShards, merge_scores
from nereval_core.engine.run import run_locally
from nereval_core.engine.shards import list_shards
from nereval_core.engine.work import Job
from nereval_core.ledger import Ledger
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.records.queries import FACETS, ORDERS, Query
from nereval_core.report.json_results import results
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.store import Store
from pages.shared.data.kept_corpora import Keeper, loaded_of
from tests.fuzzing.inputs import check_problems
from tests.review.test_playlists import star
from tests.review.test_store import draft
from tests.support.layer_strategies import content

REFUSED, DROPPED = "refused", "dropped"
"""In place of an answer: a documented problem, and nothing, as if it had never been kept."""
SETTINGS = Settings((CRITERIA["strict"], CRITERIA["fragment"]))
WORDS = ("aspirin", "Ann", "Rome", "heparin", "Bob Lee", "é😀")
VERDICTS = 40

Answers = dict[str, Any]
"""What was asked, and what was answered."""


@dataclass(frozen=True)
class Kind:
    """Something that is kept: `make` makes an example in a folder, in `place`; `use` asks it.

    What `use` asks is drawn, so that each try asks some of all there is. `share` is the share of tries, in percent.
    """

    name: str
    place: str
    make: Callable[[Path], None]
    use: Callable[[Path, random.Random | None], Answers]
    share: int


def ask(answers: Answers, question: str, answer: Callable[..., Any], *given: Any) -> Any:
    """Note the answer to a question, and return it; None where it is refused."""
    assert question not in answers
    try:
        found = answer(*given)
    except FormatError as error:
        check_problems(error)
        answers[question] = REFUSED
        return None
    answers[question] = DROPPED if found is None else found
    return found


def _chosen(drawn: random.Random | None, given: Any, number: int = 1) -> list[Any]:
    """Return some of the given, all where nothing is drawn."""
    return list(given) if drawn is None else drawn.sample(list(given), min(number, len(given)))


def _document(number: int, word: str) -> dict[str, Any]:
    text = f"{word} and {WORDS[(number + 1) % len(WORDS)]} met aspirin in document {number}."
    start = text.index("aspirin", len(word))
    spans = [
        {"start": 0, "end": len(word), "label": "PER", "links": ["Q1", "Q2"], "score": 0.5},
        {"start": start, "end": start + 7, "label": "Drug", "id": "T2", "meta": {"by": "A"}},
    ]
    return {"id": f"d{number}", "text": text, "spans": spans, "meta": {"date": str(1790 + 7 * number)}}


def _rows(low: int, high: int, *, predicted: bool = False) -> bytes:
    rows = [_document(number, WORDS[number % len(WORDS)]) for number in range(low, high)]
    for number, row in enumerate(rows if predicted else ()):
        row["spans"][number % 2]["label"] = "LOC"
        row["spans"][0]["end"] -= number % 3 == 0
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def make_corpora(folder: Path) -> None:
    """Keep two corpora, and leave their digests and keys beside them."""
    store = Store(folder / "corpora")
    keeper = Keeper(store)
    for number in (0, 4):
        gold, system = (
            Source.of_uploads([(f"{name}-{number}.jsonl", _rows(number, number + 4, predicted=name != "gold"))])
            for name in ("gold", "system")
        )
        loaded = keeper.read(f"corpus {number}", gold, {"system": system})
        keeper.rename(loaded.key, f"renamed {number}")
    (folder / "keys.json").write_text(json.dumps([(entry.digest, entry.key) for entry in store.entries()]))


def use_corpora(folder: Path, drawn: random.Random | None) -> Answers:
    """Ask for each corpus as Start lists it, for all that it holds, and for its files."""
    store, answers = Store(folder / "corpora"), Answers()
    for digest, key in _chosen(drawn, json.loads((folder / "keys.json").read_text())):
        for entry in store.entries():
            if entry.digest == digest:
                account = store.account(entry)
                answers[f"{digest} account"] = DROPPED if account is None else (account.layers, account.decided)
                name = DROPPED if account is None else account.name
                # The name that users gave may be lost, and that of the corpus is shown then.
                answers[f"{digest} name"] = DROPPED if name.startswith("corpus ") else name
        by_key = drawn is None or drawn.random() < 0.5
        kept = store.of_input(key) if by_key else store.of_digest(digest[:12])
        if kept is None:
            answers[f"{digest} corpus"] = DROPPED
            continue
        loaded = loaded_of(kept)
        corpus = loaded.corpus
        layers = (corpus.gold, *corpus.systems)
        answers[f"{digest} corpus"] = repr(
            [
                *(corpus.digest, corpus.notes, loaded.layers, loaded.marks, loaded.problems, loaded.key),
                *((layer.name, layer.types, layer.digest, _plain(content(layer))) for layer in layers),
            ]
        )
        for name, source in loaded.sources.items():
            ask(answers, f"{digest} {name}", _contents, source)
    return answers


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    return {
        key: list(map(dict, value)) if key == "meta of documents" and value else value for key, value in found.items()
    } | {"texts": list(found["texts"])}


def _shards(folder: Path) -> Path:
    shards = folder / "shards"
    if not shards.exists():
        for side in ("gold", "system"):
            (shards / side).mkdir(parents=True)
            for number, low in enumerate((0, 3)):
                raw = _rows(low, low + 3, predicted=side != "gold")
                (shards / side / f"part-{number}.jsonl").write_bytes(raw)
    return shards


def _score(folder: Path, work: str, out: str | None) -> ScoredShards:
    """Score the shards as `nereval score` does, into a scored folder where one is named."""
    shards = _shards(folder)
    found = list_shards(str(shards / "gold"), {"system": str(shards / "system")}).shards
    target = None if out is None else str(folder / out)
    (folder / work).mkdir(parents=True, exist_ok=True)
    records = None if target is None else str(Path(target, scored_folder.RECORDS))
    job = Job(settings=SETTINGS, work=str(folder / work), records=records, columns=target)
    done = list(run_locally(found, job))
    result = merge_scores(found, done, job)
    if target is not None:
        scored_folder.write(target, result, found, done, job)
    return result


def _all_results(result: ScoredShards) -> str:
    return repr(results(result.gold, result.systems, documents=True))


def make_scored(folder: Path) -> None:
    _score(folder, "scored/counts", "scored")


def use_scored(folder: Path, drawn: random.Random | None) -> Answers:
    """Open a scored folder as pages do, and ask for scores, documents and records."""
    answers = Answers()
    try:
        opened = scored_folder.read(folder / "scored", within=folder)
    except FormatError as error:
        check_problems(error)
        return {"open": REFUSED}
    answers["open"] = opened.digest
    documents = FolderDocuments(opened.records_of_pages)
    size = ask(answers, "size", lambda: len(documents))
    answers["names"] = repr([(side.name, side.digest, len(side), scores.marks) for side, scores in opened.whole])
    ask(answers, "results", lambda: repr(results(opened.whole.gold, opened.whole.systems)))
    for number in _chosen(drawn, range(6), 2) if size == 6 else ():
        ask(answers, f"text {number}", _text, documents, number)
        ask(answers, f"place {number}", documents.index.get, f"d{number}", -1)
    for criterion in _chosen(drawn, [one.name for one in SETTINGS.criteria]):
        ask(answers, f"{criterion} counts", _by_document, opened, criterion)
        try:
            found = opened.ledger("system", criterion)
        except FormatError as error:
            check_problems(error)
            answers[f"{criterion} ledger"] = REFUSED
        else:
            _ask_ledger(answers, criterion, found, drawn)
    return answers


def _ask_ledger(answers: Answers, criterion: str, ledger: Ledger, drawn: random.Random | None) -> None:
    ask(answers, f"{criterion} total", ledger.total, Query())
    ask(answers, f"{criterion} confusion", ledger.confusion)
    for facet in _chosen(drawn, FACETS, 2):
        ask(answers, f"{criterion} {facet}", ledger.facet_counts, Query(), facet)
    for order in _chosen(drawn, ORDERS):
        ask(answers, f"{criterion} by {order}", _listed, ledger, Query(), order)
    for word in _chosen(drawn, WORDS):
        ask(answers, f"{criterion} with {word}", _listed, ledger, Query(text=word))
    for number in _chosen(drawn, range(6)):
        ask(answers, f"{criterion} in {number}", _listed, ledger, Query(doc=f"d{number}"))
        ask(answers, f"{criterion} near {number}", partial(ledger.near, Query(), f"d{number}", start=3))
        ask(answers, f"{criterion} document {number}", _counted, ledger, f"d{number}", criterion)
    ask(answers, f"{criterion} documents", ledger.documents)
    ask(answers, f"{criterion} LOC", ledger.total, Query(pred=("LOC",)))
    ask(answers, f"{criterion} first LOC", ledger.first, Query(pred=("LOC",)))


def _contents(source: Source) -> list[bytes]:
    return [file.read() for file in source.files]


def _text(documents: FolderDocuments, number: int) -> tuple[str, str]:
    return documents.ids[number], documents.texts[number]


def _by_document(folder: scored_folder.ScoredFolder, criterion: str) -> str:
    return repr([*folder.scores("system").by_document(criterion).items()])


def _listed(ledger: Ledger, query: Query, order: str = ORDERS[0]) -> str:
    return str(ledger.page(query, order).to_csv())


def _counted(ledger: Ledger, document: str, criterion: str) -> Any:
    return ledger.document(document, SETTINGS).by_type(criterion)


def use_rescored(folder: Path, drawn: random.Random | None) -> Answers:
    """Score again into a scored folder, which makes anew what is not whole: all of it is as it was, then."""
    answers = Answers()
    if ask(answers, "score", lambda: _all_results(_score(folder, "scored/counts", "scored"))) is not None:
        answers |= {f"again {name}": value for name, value in use_scored(folder, drawn).items()}
    return answers


def make_counts(folder: Path) -> None:
    _score(folder, "counts", None)


def use_counts(folder: Path, drawn: random.Random | None) -> Answers:
    """Go on with a job whose counts are kept: what is damaged is counted again."""
    answers = Answers()
    ask(answers, "score", lambda: _all_results(_score(folder, "counts", None)))
    return answers


def make_verdicts(folder: Path) -> None:
    """Give verdicts and star records, as they stand on the disk while the store is open."""
    place = folder / "verdicts" / "review.sqlite"
    store = ReviewStore(place)
    for low in range(0, VERDICTS // 2, 4):
        store.give([draft(at, note=f"note {at} {'é' * 40}") for at in range(low, low + 4)], "Ann")
    for at in range(0, VERDICTS // 2, 2):
        store.give([draft(at, "both" if at % 3 else "pred", seen=1)], "Bob")
    store.undo("Bob")
    playlists = PlaylistStore(store)
    uid = playlists.make("Meeting", "Ann")
    playlists.star(uid, [star(9), star(31), star(0)], "Ann")
    store.give([draft(25 + number, note="last") for number in range(3)], "Cy")
    for path in list(place.parent.iterdir()):
        shutil.copyfile(path, path.with_name(f"copy-{path.name}"))
    store.close()
    for path in list(place.parent.glob("review.sqlite*")):
        path.unlink()
    for path in list(place.parent.glob("copy-*")):
        path.rename(path.with_name(path.name.removeprefix("copy-")))


def _playlist_items(store: ReviewStore) -> Any:
    """Return the items of each playlist; the rows of its names have no checksum, and are not compared."""
    return [(one.uid, one.items) for one in PlaylistStore(store).playlists().standing]


def use_verdicts(folder: Path, drawn: random.Random | None) -> Answers:
    """Ask for all verdicts and playlists as pages do, give one more, and ask again."""
    place, answers = folder / "verdicts" / "review.sqlite", Answers()
    with closing(ReviewStore(place)) as store:
        ask(answers, "every", store.every)
        ask(answers, "standing", lambda: store.reviewed().last)
        for at in _chosen(drawn, range(28), 3):
            ask(answers, f"history {at}", store.history, draft(at).verdict.key)
        ask(answers, "playlists", _playlist_items, store)
        try:
            given = store.give([draft(90)], "Dee")
            answers["given"] = [(one.who, one.verdict, one.version) for one in given]
        except FormatError as error:
            check_problems(error)
            given, answers["given"] = (), REFUSED
    if given:
        with closing(ReviewStore(place)) as store:
            ask(answers, "every then", lambda: [one.uid for one in store.every() if one.who != "Dee"])
            ask(answers, "Dee's", lambda: [one == given[0] for one in store.every() if one.who == "Dee"])
    return answers


KINDS = (
    Kind("corpora", "corpora", make_corpora, use_corpora, 25),
    Kind("scored folders", "scored", make_scored, use_scored, 30),
    Kind("folders scored again", "scored", make_scored, use_rescored, 5),
    Kind("kept counts", "counts", make_counts, use_counts, 15),
    Kind("verdicts", "verdicts", make_verdicts, use_verdicts, 25),
)
