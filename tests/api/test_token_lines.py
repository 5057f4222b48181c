"""Problems about tokens stand at the lines of these, where their file has a token a line."""

from __future__ import annotations

import pytest

from nereval_core.api.token_lines import at_tokens
from nereval_core.problems import Problem
from nereval_core.readers import Source

EMPTY = "\t" * 9


@pytest.mark.parametrize(
    ("lines", "token", "line"),
    [
        (["# document_id = a", "The\tO", "ship\tO"], (2, "ship"), 3),
        ([f"# document_id = a{EMPTY}\r", "The\tO", f"# segment_iiif_link = x{EMPTY}\r", '""""\tO'], (2, '""""'), 4),
        (["-DOCSTART- O", "", "The O", "", "ship O"], (2, "ship"), 5),
        # A comment by the rules of one format, and a token by those of another: the line of the document stays.
        (["# document_id = a", "#\tO", "ship\tO"], (2, "ship"), 1),
        (["# document_id = a", "The\tO"], (2, "ship"), 1),
    ],
    ids=["plain", "comments with empty cells", "sentences", "a token like a comment", "no such token"],
)
def test_a_problem_of_a_token_stands_at_its_line(lines: list[str], token: tuple[int, str], line: int) -> None:
    source = Source.of_uploads([("x.tsv", "\n".join(lines).encode())])
    (problem,) = at_tokens([Problem("x.tsv", 1, "spells it differently", "mend it", token)], [source])
    assert (problem.line, problem.token) == (line, None)
