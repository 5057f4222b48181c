"""Groups of dropped files that belong together, and the role proposed for each layer. No Streamlit in here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from nereval_core.readers.cas.content import INITIAL, SEPARATOR
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.paths import companion_key

GOLD, SYSTEM, ANNOTATOR, TEXTS, IGNORED = ROLES = ("Gold", "System", "Annotator", "Texts", "Ignore")
"""The roles of layers: Texts are files that all layers share, texts of documents or a list of labels."""
WORDS = {
    GOLD: r"gold(en|standard)?|gs|(ground)?truth|ref(erence)?|keys?|curat(ed|ion|or)|adjudicat(ed|ion)|consensus",
    SYSTEM: r"pred(s|ictions?|icted)?|sys(tems?)?|runs?|models?|outputs?|response|submission|baseline|team",
    ANNOTATOR: r"annotators?|coder|rater",
}
"""The words that tell a role, by role, in names of files and layers."""
LABEL_LISTS = frozenset(("labels.txt", "label_list.txt", "dataset_info.json", "dataset_infos.json"))
"""Names of files that hold the labels of other files."""
TEXT_ENDINGS = (".txt", ".texts.csv", ".texts.tsv", ".texts.parquet")
"""Endings of files that hold texts where nothing else is recognised in them."""
LAYERS = 8
"""Layers of one file that are read at first."""
MANY = 8
"""More files of one ending than these, with no word for a role in any name, are the documents of one layer."""


def grouped_files(names: Sequence[str]) -> list[list[int]]:
    """Return the files that belong together, as numbers of names: each zip alone, files with their companions.

    All pairs of text and annotations of brat are one group, and so are more than MANY files of one ending.
    """
    groups: dict[str, list[int]] = {}
    brat = any(name.endswith(".ann") for name in names)
    endings = [PurePosixPath(name).suffix.lower() for name in names]
    for number, (name, ending) in enumerate(zip(names, endings, strict=True)):
        alike = [other for other, suffix in zip(names, endings, strict=True) if suffix == ending]
        if ending == ZIP:
            key = str(number)
        elif name in LABEL_LISTS:
            key = name
        elif brat and ending in (".ann", ".txt"):
            key = ".ann"
        elif len(alike) > MANY and not any(_role_of_name(other) for other in alike):
            key = ending
        else:
            key = companion_key(name, names)
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def proposed_roles(layers: Sequence[str], files: Sequence[str], formats: Sequence[str]) -> list[str]:
    """Return a role for each layer, by its name ("" where its files hold one), the name of its files and their format.

    Names tell most. Layers of one file or zip whose names tell nothing are annotators; of such files by themselves
    the first is gold, where nothing else is a reference, and the others are systems. A file of no known format whose
    name tells nothing is left out.
    """
    roles = [_role(layer, file, format) for layer, file, format in zip(layers, files, formats, strict=True)]
    if "" in roles and not {GOLD, ANNOTATOR} & set(roles):
        roles[roles.index("")] = GOLD
    return [role or SYSTEM for role in roles]


def may_be_texts(file: str) -> bool:
    """Return whether a file may hold texts or labels of other files, by its name."""
    return file.lower().endswith(TEXT_ENDINGS) or file in LABEL_LISTS


def first_layers(layers: Iterable[str]) -> list[str]:
    """Return the layers of a file that are read at first: INCEpTION's layer of the document as imported is none."""
    return [name for name in layers if name.partition(SEPARATOR)[0] != INITIAL][:LAYERS]


def _role(layer: str, file: str, format: str) -> str:
    if layer:
        return IGNORED if layer.partition(SEPARATOR)[0] == INITIAL else _role_of_name(layer) or ANNOTATOR
    if not format and may_be_texts(file):
        return TEXTS
    return _role_of_name(file) or ("" if format else IGNORED)


def _role_of_name(name: str) -> str:
    """Return the role that the words of a name tell, "" where they tell none."""
    words = re.findall(r"[^\W\d_]+", name)
    roles = (role for role, its in WORDS.items() if any(re.fullmatch(its, word, re.IGNORECASE) for word in words))
    return next(roles, ANNOTATOR if "@" in name else "")
