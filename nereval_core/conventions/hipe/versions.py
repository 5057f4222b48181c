"""The three versions of the CLEF-HIPE scorer as a table of their differences, and the columns of its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FAMILY = "CLEF-HIPE"
NEL = "nel"
"""The task of links; the others are of entities."""
LITERAL_LINKS, METONYMIC_LINKS = "NEL-LIT", "NEL-METO"
LAYER_COLUMNS = {"nerc_coarse": "NE-COARSE-LIT", "nerc_fine": "NE-FINE-LIT", NEL: LITERAL_LINKS}
"""The column that a layer stands for, by task."""


@dataclass(frozen=True, kw_only=True)
class HipeVersion:
    """One commit of the scorer.

    `text`: equal spans need equal token text too. `whole`: an entity over a whole document counts. `slices`: knows
    periods and noise. `rows`: "fill" takes the cells a row lacks as `_`, "misc" does if MISC is there, "full" stops
    on them. `iobes`: S- and E- are read as B- and I-.
    `mentions`: links take their bounds from the mentions. `patches`: a prediction without comments may have up to 20
    kinds of differing tokens, else none. `regimes` are those of linking in the table.
    """

    name: str
    commit: str
    text: bool
    whole: bool
    slices: bool
    rows: Literal["fill", "misc", "full"]
    iobes: bool
    mentions: bool
    patches: bool
    regimes: tuple[str, ...]


JUNE = HipeVersion(
    name="hipe-2020",
    commit="08d31e6",
    text=False,
    whole=False,
    slices=False,
    rows="fill",
    iobes=False,
    mentions=False,
    patches=False,
    regimes=("fuzzy",),
)
JULY = HipeVersion(
    name="hipe-2020-july",
    commit="ac5c876",
    text=True,
    whole=True,
    slices=True,
    rows="misc",
    iobes=False,
    mentions=False,
    patches=False,
    regimes=("fuzzy",),
)
HIPE_2022 = HipeVersion(
    name="hipe-2022",
    commit="6605770",
    text=True,
    whole=True,
    slices=True,
    rows="full",
    iobes=True,
    mentions=True,
    patches=True,
    regimes=("fuzzy", "strict"),
)

COLUMNS = {
    "hipe-2020": {
        "nerc_coarse": ("NE-COARSE-LIT", "NE-COARSE-METO"),
        "nerc_fine": ("NE-FINE-LIT", "NE-FINE-METO", "NE-FINE-COMP", "NE-NESTED"),
        NEL: (LITERAL_LINKS, METONYMIC_LINKS),
    },
    "hipe-2022": {
        "nerc_coarse": ("NE-COARSE-LIT",),
        "nerc_fine": ("NE-FINE-LIT", "NE-NESTED"),
        NEL: (LITERAL_LINKS,),
    },
}
"""The columns of a task, by edition."""
MENTIONS = {LITERAL_LINKS: "NE-COARSE-LIT", METONYMIC_LINKS: "NE-COARSE-METO"}
"""The column whose mentions bound the links of a column."""
