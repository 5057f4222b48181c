"""The store: what is kept opens as it was, what is damaged goes, and it never takes more room than it may."""

from __future__ import annotations

import gc
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.cli import main
from nereval_core.corpus import Corpus, Layer
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.subset import single_document
from nereval_core.corpus.texts import Texts
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError
from nereval_core.readers.input.source import Source
from nereval_core.store import (
    ChangedError,
    Entry,
    Store,
    StoredCorpus,
    TooLargeError,
    columns,
    fingerprints,
    input_key,
    sources,
)
from tests.support import ROOT
from tests.support.layer_strategies import content, layers


def corpus_of(gold: Layer) -> Corpus:
    """A corpus of the layer as gold and every other span of it as a system."""
    system = gold.take(np.arange(0, len(gold), 2)).renamed("system")
    return Corpus("drawn", gold.documents, gold.renamed("gold"), (system,), ("a note",))


def example(text: str = "Aspirin helps", *, name: str = "one") -> Corpus:
    builder = Builder("x")
    builder.document("d", text, meta={"date": "1798"}, tokens=[(0, 7), (8, len(text))])
    builder.span(0, 7, "Drug", id="T1", links=("A", "B"), score=0.5)
    gold = builder.finish(name)
    return Corpus(name, gold.documents, gold.renamed("gold"), (gold.renamed("system"),))


def kept(corpus: Corpus, files: Mapping[str, bytes] | None = None) -> tuple[StoredCorpus, tuple[bytes, ...]]:
    found = {
        name: Source.of_uploads([(f"{name}.jsonl", raw), ("note.txt", b"read me")])
        for name, raw in (files or {"gold": b"one\n", "system": b"two\n"}).items()
    }
    prints = fingerprints(found)
    said = {"of": corpus.name, "numbers": [1, 2.5, None]}
    return StoredCorpus(corpus, said, found, input_key(found, prints, corpus.digest)), prints


def stored(folder: Path, corpus: Corpus, *, limit: int = 10**9) -> tuple[Store, StoredCorpus]:
    store = Store(folder, limit)
    made, prints = kept(corpus)
    store.put(made, prints)
    return store, made


def same(one: Corpus, two: Corpus) -> bool:
    """Compare all that a corpus holds; digests are computed anew."""

    def whole(corpus: Corpus) -> list[Any]:
        told = corpus.documents.meta
        meta = None if told is None else tuple(map(dict, told))
        documents = replace(corpus.documents, texts=Texts.of(corpus.documents.texts), meta=meta)
        rows = [corpus.name, corpus.notes, documents.named, documents.lengths.tolist(), documents.digest]
        rows += [documents.hashes.tolist()]
        for layer in (corpus.gold, *corpus.systems):
            fresh = replace(layer, documents=documents)
            rows += [layer.name, layer.types, content(fresh), layer.order is None, fresh.digest, layer.digest]
        return rows

    return whole(one) == whole(two)


@given(layers())
def test_a_corpus_opens_as_it_was(gold: Layer) -> None:
    corpus = corpus_of(gold)
    with tempfile.TemporaryDirectory() as folder:
        store, made = stored(Path(folder), corpus)
        for found in (store.of_digest(corpus.digest), store.of_digest(corpus.digest[:12]), store.of_input(made.key)):
            assert found is not None
            assert same(corpus, found.corpus) and found.corpus.digest == corpus.digest
            assert found.account == made.account and found.key == made.key
            here, there = tokens_of(found.corpus.documents), tokens_of(replace(corpus.documents))
            for part in ("first", "starts", "ends"):
                assert getattr(here, part).tolist() == getattr(there, part).tolist()
            assert found.corpus.gold.documents is found.corpus.systems[0].documents is found.corpus.documents


def test_documents_without_texts_keep_their_sizes(tmp_path: Path) -> None:
    plain = example()
    documents = replace(plain.documents, texts=("",), tokens=None, sizes=np.array([13], np.int64))
    gold = replace(plain.gold, documents=documents)
    corpus = Corpus("bare", documents, gold, (gold.renamed("system"),))
    stored(tmp_path, corpus)
    found = Store(tmp_path).of_digest(corpus.digest)
    assert found is not None and found.corpus.documents.sizes is not None
    assert found.corpus.documents.lengths.tolist() == [13] and list(found.corpus.documents.texts) == [""]
    assert replace(found.corpus, gold=replace(gold)).digest == corpus.digest


@given(st.dictionaries(st.integers(0, 500), st.text("ab", max_size=3), max_size=40), st.integers(0, 3))
def test_sparse_values_are_found_one_by_one_and_all_at_once(values: dict[int, str], lookups: int) -> None:
    spans = np.array(sorted(values), np.int32)
    rows = [values[span] for span in sorted(values)]
    for made in (columns.SparseValues(spans, lambda low, high: rows[low:high]) for _ in range(2)):
        made._lookups = columns.SINGLE_LOOKUPS - lookups
        assert [made.get(span) for span in range(502)] == [values.get(span) for span in range(502)]
        assert list(made) == sorted(values) and len(made) == len(values) and bool(made) == bool(values)
        assert dict(made.items()) == values == dict(made) == made
        assert list(made.values()) == rows


def test_files_come_back_whatever_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1_000)
    raw = {"gold": os.urandom(4_321), "system": b"", "other": b"x" * 2_999}
    store = Store(tmp_path)
    made, prints = kept(example(), raw)
    store.put(made, prints)
    found = store.of_input(made.key)
    assert found is not None and set(found.sources) == set(raw)
    for name, source in found.sources.items():
        assert (source.name, source.label) == (made.sources[name].name, made.sources[name].label)
        files = {file.name: file for file in source.files}
        assert list(files) == sorted((f"{name}.jsonl", "note.txt"))
        assert files[f"{name}.jsonl"].read() == raw[name]
        assert files[f"{name}.jsonl"].load(1_500) == raw[name][:1_500]
        with files[f"{name}.jsonl"].stream() as stream:
            assert stream.read(700) + stream.read() == raw[name]
        assert files["note.txt"].read() == b"read me"


def test_packed_files_stay_packed(tmp_path: Path) -> None:
    raw = gzip.compress(b"one\ntwo\n" * 1_000)
    (tmp_path / "gold.jsonl.gz").write_bytes(raw)
    uploads = {"gold": Source.of_path(tmp_path / "gold.jsonl.gz"), "p": Source.of_uploads([("p.jsonl.gz", raw)])}
    prints = fingerprints(uploads)
    corpus = example()
    Store(tmp_path).put(StoredCorpus(corpus, {}, uploads, input_key(uploads, prints, "")), prints)
    found = Store(tmp_path).of_digest(corpus.digest)
    assert found is not None
    for name, source in found.sources.items():
        [file], [given] = source.files, uploads[name].files
        assert (file.name, file.origin.size(), file.origin.most) == (given.name, len(raw), given.origin.most)
        assert file.read() == b"one\ntwo\n" * 1_000 and file.head().lines == given.head().lines
        with file.stream() as stream:
            assert stream.read() == file.read()


def test_one_file_for_gold_and_prediction_is_kept_once(tmp_path: Path) -> None:
    source = Source.of_uploads([("both.conll", b"a O O\n")])
    both = {"gold": source, "prediction": source}
    prints = fingerprints(both)
    assert len(prints) == 1
    corpus = example()
    Store(tmp_path).put(StoredCorpus(corpus, {}, both, input_key(both, prints, "")), prints)
    found = Store(tmp_path).of_digest(corpus.digest)
    assert found is not None and found.sources["gold"] is found.sources["prediction"]


def test_the_key_is_of_all_that_is_read() -> None:
    def key(name: str = "a", label: str = "a", raw: bytes = b"x", system: str = "s", said: str = "") -> str:
        found = {
            "gold": Source(name, label, Source.of_uploads([("f", raw)]).files),
            system: Source.of_uploads([("g", b"y")]),
        }
        return input_key(found, fingerprints(found), said)

    keys = {key(), key(name="b"), key(label="b"), key(raw=b"z"), key(system="t"), key(said="options")}
    assert len(keys) == 6 and key() == key()


@given(st.data())
def test_what_is_cut_or_changed_goes_or_is_unharmed(data: st.DataObject) -> None:
    corpus = example()
    with tempfile.TemporaryDirectory() as folder:
        store, made = stored(Path(folder), corpus)
        [entry] = store.entries()
        raw = bytearray(entry.path.read_bytes())
        if data.draw(st.booleans()):
            raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
        else:
            raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        entry.path.write_bytes(raw)
        found = store.of_digest(corpus.digest)
        if found is None:
            assert store.entries() == ()
            store.put(made, kept(corpus)[1])
            found = store.of_digest(corpus.digest)
            assert found is not None and found.sources["gold"].files[0].read() == b"one\n"
            return
        # What lies between columns is nothing; the files are looked at when they are read.
        assert len(raw) == entry.bytes and same(found.corpus, corpus)
        try:
            assert found.sources["gold"].files[0].read() == b"one\n"
        except FormatError as error:
            assert "the stored copy of its files is damaged; clear the stored corpora" in str(error)


def test_every_byte_of_a_column_is_looked_at(tmp_path: Path) -> None:
    store, made = stored(tmp_path, example())
    [entry] = store.entries()
    raw = entry.path.read_bytes()
    at = raw.index(b"Aspirin helps")
    entry.path.write_bytes(raw[:at] + b"B" + raw[at + 1 :])
    assert store.of_input(made.key) is None and store.entries() == ()


def test_every_byte_of_a_file_is_looked_at_when_it_is_read(tmp_path: Path) -> None:
    # What cannot be packed stands there as it is: unpacking alone would not see a change.
    raw = np.random.default_rng(0).bytes(3_000)
    made, prints = kept(example(), {"gold": raw})
    store = Store(tmp_path)
    store.put(made, prints)
    [entry] = store.entries()
    stored = entry.path.read_bytes()
    at = stored.index(raw[1_000:1_050])
    entry.path.write_bytes(stored[:at] + bytes([stored[at] ^ 1]) + stored[at + 1 :])
    found = store.of_input(made.key)
    assert found is not None
    [file] = [file for file in found.sources["gold"].files if file.name == "gold.jsonl"]
    with pytest.raises(FormatError, match="the stored copy of its files is damaged"):
        file.read()


@pytest.mark.parametrize("cut", [0, 10, len(columns.MARK), 200])
def test_a_file_without_an_end_is_none(tmp_path: Path, cut: int) -> None:
    stored(tmp_path, example())
    [entry] = Store(tmp_path).entries()
    entry.path.write_bytes(entry.path.read_bytes()[:cut])
    with pytest.raises(columns.DamagedError):
        columns.map_columns(entry.path)


def test_an_entry_under_another_name_goes(tmp_path: Path) -> None:
    store, made = stored(tmp_path, example())
    [entry] = store.entries()
    entry.path.rename(tmp_path / f"{'0' * 64}-{made.key}.columns")
    assert store.of_digest("0" * 64) is None and store.entries() == ()


def test_what_another_version_wrote_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, made = stored(tmp_path, example())
    monkeypatch.setattr("nereval_core.store.__version__", "99")
    assert store.of_input(made.key) is None and len(store.entries()) == 1


def test_short_digests_name_one_corpus_or_none(tmp_path: Path) -> None:
    corpora = [example(f"Aspirin helps {number}") for number in range(6)]
    for corpus in corpora:
        stored(tmp_path, corpus)
    store = Store(tmp_path)
    firsts = [corpus.digest[0] for corpus in corpora]
    assert 1 < len(set(firsts)) < len(firsts)
    for corpus in corpora:
        assert (store.of_digest(corpus.digest[0]) is None) == (firsts.count(corpus.digest[0]) > 1)
    assert store.of_digest("") is None and store.of_digest("../") is None
    one = store.of_digest(firsts[0], lambda entry: entry.digest == corpora[0].digest)
    assert one is not None and one.corpus.digest == corpora[0].digest
    assert store.of_digest(corpora[0].digest, lambda entry: False) is None


def test_an_entry_is_marked_as_used_once_an_hour(tmp_path: Path) -> None:
    store, _ = stored(tmp_path, example())
    (entry,) = store.entries()
    for age, marked in ((600, False), (7_200, True)):
        os.utime(entry.path, (entry.used - age,) * 2)
        store.mark_used(entry.digest, entry.key)
        assert (store.entries()[0].used > entry.used - 60) == marked
    store.mark_used(entry.digest, "0" * 64)


def test_the_corpus_unused_longest_goes_first(tmp_path: Path) -> None:
    corpora = [example(f"Aspirin helps {number}") for number in range(4)]
    keys = []
    for age, corpus in enumerate(corpora[:3]):
        store, made = stored(tmp_path, corpus)
        keys.append(made.key)
        [path] = [entry.path for entry in store.entries() if entry.key == made.key]
        os.utime(path, (age, age))
    assert store.of_input(keys[0]) is not None
    size = max(entry.bytes for entry in store.entries())
    _, last = stored(tmp_path, corpora[3], limit=size * 3 + size // 2)
    assert {entry.key for entry in store.entries()} == {keys[0], keys[2], last.key}
    assert sum(entry.bytes for entry in store.entries()) <= size * 3 + size // 2


def test_what_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    store, _ = stored(tmp_path, example())
    large, prints = kept(example("Aspirin helps " + "very " * 1_000))
    with pytest.raises(TooLargeError, match="more than the 4,000 bytes"):
        Store(tmp_path, 4_000).put(large, prints)
    assert len(store.entries()) == 1 and len(list(tmp_path.iterdir())) == 1


def test_clearing_leaves_open_corpora_as_they_are(tmp_path: Path) -> None:
    corpus = example()
    store, made = stored(tmp_path, corpus)
    (tmp_path / "someone-elses.txt").write_text("stays")
    found = store.of_input(made.key)
    store.clear()
    assert store.entries() == () and [path.name for path in tmp_path.iterdir()] == ["someone-elses.txt"]
    assert found is not None and same(found.corpus, corpus)
    assert found.sources["gold"].files[0].read() == b"one\n"


def test_remarks_stand_beside_a_corpus_and_go_with_it(tmp_path: Path) -> None:
    store, made = stored(tmp_path, example())
    key, digest = made.key, made.corpus.digest
    store.remark(key, name="Notes")
    store.remark(key, decided=2, records=5)
    assert store.remarks(key) == {"name": "Notes", "decided": 2, "records": 5}
    opened = store.of_digest(digest)
    assert opened is not None and opened.corpus.name == "Notes" and opened.corpus.digest == digest
    (tmp_path / f"{key}.remarks").write_text('{"name": 3, "decided": 1}')
    assert store.remarks(key) == {"decided": 1}
    # Those of earlier versions have no checksum; others had one that is damaged.
    (tmp_path / f"{key}.remarks").write_text('{"name": "Notes", "checksun": 1}')
    assert store.remarks(key) == {}
    store.remark(key, name="Notes")
    raw = (tmp_path / f"{key}.remarks").read_text()
    (tmp_path / f"{key}.remarks").write_text(raw.replace("Notes", "Nodes"))
    assert store.remarks(key) == {}
    # Nor are those on another corpus.
    (tmp_path / f"{'0' * 64}.remarks").write_text(raw)
    assert store.remarks("0" * 64) == {}
    (tmp_path / f"{key}.remarks").write_text("[")
    assert store.remarks(key) == {} and store.of_digest(digest) is not None
    store.clear()
    assert list(tmp_path.iterdir()) == []


def test_what_was_begun_and_stopped_leaves_nothing(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    made, prints = kept(example())
    total = []
    Store(tmp_path / "whole").put(made, prints, tick=lambda: total.append(1))
    assert len(total) > 3
    for number in range(len(total)):
        ticks = iter(range(number))

        def tick(ticks: Iterator[int] = ticks) -> None:
            if next(ticks, None) is None:
                raise StoppedError

        with pytest.raises(StoppedError):
            Store(tmp_path / "stopped").put(made, prints, tick=tick)
        assert list((tmp_path / "stopped").iterdir()) == []


def test_files_that_changed_since_they_were_read_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b"one")
    found = {"gold": Source.of_path(path)}
    prints = fingerprints(found)
    path.write_bytes(b"two")
    with pytest.raises(ChangedError):
        Store(tmp_path / "store").put(StoredCorpus(example(), {}, found, input_key(found, prints, "")), prints)
    assert list((tmp_path / "store").iterdir()) == []


def test_nobody_else_may_look(tmp_path: Path) -> None:
    store, _ = stored(tmp_path / "deep" / "store", example())
    [entry] = store.entries()
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert entry.path.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = Store(tmp_path / "file" / "store")
    made, prints = kept(example())
    with pytest.raises(OSError, match="Not a directory"):
        store.put(made, prints)
    assert store.entries() == () and store.of_input(made.key) is None
    store.clear()


@pytest.mark.parametrize(
    ("environment", "folder", "limit"),
    [
        ({"XDG_CACHE_HOME": "/cache"}, "/cache/nereval", 4_000_000_000),
        ({"XDG_CACHE_HOME": ""}, "~/.cache/nereval", 4_000_000_000),
        ({}, "~/.cache/nereval", 4_000_000_000),
        ({"NEREVAL_CACHE": "/a", "XDG_CACHE_HOME": "/b", "NEREVAL_CACHE_BYTES": "1000"}, "/a", 1000),
        ({"NEREVAL_CACHE": "/a", "NEREVAL_CACHE_BYTES": "4 GB"}, "/a", 4_000_000_000),
    ],
)
def test_the_environment_says_where_and_how_much(environment: dict[str, str], folder: str, limit: int) -> None:
    assert Store.of_environment(environment) == Store(Path(folder).expanduser(), limit)


def test_an_empty_name_turns_it_off() -> None:
    assert Store.of_environment({"NEREVAL_CACHE": ""}) is None


WRITER = """
import sys
from pathlib import Path
from tests.store.test_store import example, stored
for number in range(20):
    store, made = stored(Path(sys.argv[1]), example(f"Aspirin helps {number % 3}"), limit=int(sys.argv[2]))
    found = store.of_input(made.key)
    assert found is None or found.corpus.documents.texts[0] == f"Aspirin helps {number % 3}"
"""


def test_several_processes_write_read_and_make_room_at_once(tmp_path: Path) -> None:
    store, _ = stored(tmp_path, example())
    limit = store.entries()[0].bytes * 5 // 2
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(limit)]
    running = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [one.communicate()[1] for one in running] == [""] * 3
    assert all(one.returncode == 0 for one in running)
    assert store.entries() and not list(tmp_path.glob(".*"))
    assert all(store.of_input(entry.key) is not None for entry in store.entries())


def test_the_command_line_says_what_is_stored_and_clears_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path))
    monkeypatch.delenv("NEREVAL_CACHE_BYTES", raising=False)
    place = Store(tmp_path)
    for text in ("Aspirin helps", "Aspirin heals"):
        place.put(*kept(example(text)))
    (tmp_path / "other.txt").write_text("not ours")
    size = sum(path.stat().st_size for path in tmp_path.glob("*.columns"))
    for arguments, said in (
        (["store"], f"{tmp_path}: 2 corpora, {size:,} of 4,000,000,000 bytes\n"),
        (["store", "--clear"], f"{tmp_path}: 0 corpora, 0 of 4,000,000,000 bytes\n"),
        (["store", "--clear"], f"{tmp_path}: 0 corpora, 0 of 4,000,000,000 bytes\n"),
    ):
        assert main(arguments) == 0
        assert capsys.readouterr().out == said
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]
    monkeypatch.setenv("NEREVAL_CACHE", "")
    assert main(["store"]) == 0
    assert capsys.readouterr().out == "nothing is stored: NEREVAL_CACHE is empty\n"


def test_remarks_on_what_is_stored_meanwhile_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, listed, others = Store(tmp_path), Store.entries, iter(range(100))
    digests = []

    def entries_and_meanwhile(store: Store, prefix: str = "") -> tuple[Entry, ...]:
        found = listed(store, prefix)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "entries", listed)
            other, prints = kept(example(f"Aspirin {next(others)}"))
            store.put(replace(other, key=f"{len(digests):064}"), prints)
            store.remark(f"{len(digests):064}", name="me")
        digests.append(other.corpus.digest)
        return found

    monkeypatch.setattr(Store, "entries", entries_and_meanwhile)
    store.put(*kept(example()))
    assert len(digests) > 1 and all(store.remarks(f"{at:064}") == {"name": "me"} for at in range(len(digests)))


def test_remarks_of_two_sessions_at_once_are_both_kept(tmp_path: Path) -> None:
    store, read = Store(tmp_path), "0" * 64
    names = ("key", "link", "name")
    with ThreadPoolExecutor(len(names)) as pool:
        for number in range(50):
            list(pool.map(lambda name: store.remark(read, **{name: str(number)}), names))  # noqa: B023
            assert store.remarks(read) == dict.fromkeys(names, str(number))


@pytest.mark.skipif(sys.platform != "linux", reason="mapped files are listed by Linux alone")
def test_a_document_that_is_kept_keeps_no_stored_corpus_open(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one, prints = kept(example())
    store.put(one, prints)

    def is_mapped() -> bool:
        gc.collect()
        return str(tmp_path) in Path("/proc/self/maps").read_text()

    opened = store.of_digest(one.corpus.digest)
    assert opened is not None and is_mapped()
    document = single_document(opened.corpus.gold, 0)
    del opened
    assert not is_mapped()
    assert document.documents.texts[0] == "Aspirin helps" and document.text(0) == "Aspirin"
