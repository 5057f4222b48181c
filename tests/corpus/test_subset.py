"""Layers split into shards of whole documents, and folders of the files that hold them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.cli import main
from nereval_core.corpus import Layer
from nereval_core.corpus.subset import shard_edges, split_layer
from nereval_core.problems import FormatError
from nereval_core.readers import read
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers


@pytest.mark.parametrize(
    ("documents", "shards", "edges"),
    [(10, 1, [0, 10]), (10, 4, [0, 2, 5, 7, 10]), (3, 3, [0, 1, 2, 3]), (2, 5, [0, 1, 2]), (0, 3, [0, 0])],
)
def test_shards_are_even_and_none_is_empty(documents: int, shards: int, edges: list[int]) -> None:
    assert shard_edges(documents, shards) == edges


@draws(13)
@given(layer=layers(), shards=st.integers(1, 4), format=st.sampled_from(["jsonl", "parquet"]))
def test_a_folder_of_shards_is_the_layer(layer: Layer, shards: int, format: str) -> None:
    parts = list(split_layer(layer, shards))
    assert [name for part in parts for name in part.documents.ids] == list(layer.documents.ids)
    with TemporaryDirectory() as folder:
        path = Path(folder, "out")
        write(layer, path, format=format, shards=shards)
        files = sorted(file.name for file in path.iterdir())
        endings = {"jsonl": (".jsonl",), "parquet": (".spans.parquet", ".texts.parquet")}[format]
        assert files == [f"part-{number:05d}{ending}" for number in range(len(parts)) for ending in endings]
        if not len(layer.documents):
            return
        whole = read(path, format=format)
        assert content(whole.layer) == content(layer)
        # One of the parts alone is a corpus, with the spans of its documents.
        one = read(path / f"part-00000{endings[0]}").layer
        assert content(one) == content(parts[0]) | {"order": content(one)["order"]}


UNSHARDED = (
    "no shards in the format 'brat'; write one or more shards as one of "
    "bioc, csv, datasets, docbin, doccano, jsonl, labelstudio, parquet, prodigy, pubtator$"
)


def test_what_cannot_be_sharded_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "g.jsonl"
    source.write_text('{"id": "d", "text": "abc", "spans": []}\n')
    out = tmp_path / "out"
    with pytest.raises(FormatError, match=UNSHARDED):
        write(read(source).layer, out, format="brat", shards=2)
    assert main(["convert", str(source), str(out), "--to", "jsonl", "--shards", "0"]) == 2
    assert "--shards 0, write one or more" in capsys.readouterr().err
    other = tmp_path / "other"
    other.write_text("x")
    assert main(["convert", str(source), str(other), "--to", "parquet", "--shards", "2"]) == 2
    assert "a file stands there" in capsys.readouterr().err
    assert not out.exists()
    assert main(["convert", str(source), str(out), "--to", "parquet", "--shards", "2", "--quiet"]) == 0
    assert main(["score", str(source), str(out), "--quiet"]) == 0
