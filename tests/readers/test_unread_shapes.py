"""Files that are known and not read are called by their name, and the same written as the message says is read."""

from __future__ import annotations

import json

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, formats, read
from nereval_core.readers.recognition.preview import preview
from nereval_core.readers.recognition.unread_shapes import UNREAD_SHAPES, unread_shape
from tests.support.samples import SAMPLES, raw
from tests.support.unread_files import UNREAD, Files


def source(files: Files) -> Source:
    return Source.of_uploads([(name, text.encode()) for name, text in files.items()])


@pytest.mark.parametrize("name", UNREAD)
def test_a_file_that_is_not_read_is_called_by_its_name(name: str) -> None:
    files, written = UNREAD[name]
    with pytest.raises(FormatError) as caught:
        read(source(files))
    [problem] = caught.value.problems
    assert problem.found.startswith("it looks like ") and problem.found.endswith(", which is not read")
    assert "unknown key" not in str(problem) and "--format" not in problem.remedy
    # The app says the same beside the file.
    assert preview(source(files)).problems == (problem,)
    if written is not None:
        reading = read(source(written), options=ReadOptions())
        assert len(reading.layer) and reading.documents.texts[0].startswith("Ann left")
        assert all(reading.documents.texts[0][start:end] in ("Ann", "Rome") for start, end in spans_of(reading))


def test_a_file_beside_its_text_is_called_by_its_name() -> None:
    files = {"1.txt": "Ann left Rome\n", "1.txt.knowtator.xml": UNREAD["Knowtator"][0]["x.xml"]}
    with pytest.raises(FormatError, match="it looks like Knowtator's or eHOST's XML, which is not read"):
        read(source(files))


def spans_of(reading: object) -> list[tuple[int, int]]:
    layer = reading.layer  # type: ignore[attr-defined]
    return list(zip(layer.start.tolist(), layer.end.tolist(), strict=True))


def test_every_shape_has_a_file_and_no_other_fits_it_first() -> None:
    first = {name: unread_shape(source(files).head()) for name, (files, _) in UNREAD.items()}
    assert {remedy for _, remedy in filter(None, first.values())} == {shape.remedy for shape in UNREAD_SHAPES}
    assert len({shape.name for shape in UNREAD_SHAPES}) == len(UNREAD_SHAPES)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_file_that_is_read_fits_a_shape(name: str) -> None:
    for path, content in SAMPLES[name][1].items():
        assert unread_shape(Source.of_uploads([(path, raw(content))]).head()) is None


def test_a_list_and_lines_and_pretty_objects_are_called_alike() -> None:
    for name, (files, _) in UNREAD.items():
        [(path, text)] = files.items()
        if text[:1] not in "[{":
            continue
        content = json.loads(text)
        variants = [json.dumps(content, indent=2)]
        if isinstance(content, dict):
            variants += [json.dumps([content, content]), text * 2]
        for variant in variants:
            assert unread_shape(source({path: variant}).head()), (name, variant[:40])


def test_messages_are_short_sentences() -> None:
    for shape in UNREAD_SHAPES:
        assert len(shape.remedy.split()) <= 28, shape
        assert not any(f"--format {format}" in shape.remedy for format in formats())
