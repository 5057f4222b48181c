"""Groups of dropped files that belong together, and the role proposed for each layer. No Streamlit in here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from nereval_core.readers.biomedical import bc2gm
from nereval_core.readers.cas.content import INITIAL, SEPARATOR
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.paths import COMPANIONS_OF_ALL, companion_key

GOLD, SYSTEM, ANNOTATOR, TEXTS, VARIANTS, IGNORED = ROLES = (
    "Gold",
    "System",
    "Annotator",
    "Texts",
    "Variants",
    "Ignore",
)
"""The roles of layers.

Texts are files that all layers share, texts of documents or a list of labels. Variants are the file of other boundaries
of gold's spans, which one format has.
"""
VARIED = bc2gm.READER.name
"""The format whose gold has a file of variants."""
VARIED_NAMES = {bc2gm.GOLD.lower(): GOLD, bc2gm.VARIANTS.lower(): VARIANTS}
"""The roles that names of this format tell."""
WORDS = {
    GOLD: r"gold(en|standard)?|gs|(ground)?truth|ref(erence)?|keys?|curat(ed|ion|or)|adjudicat(ed|ion)|consensus",
    SYSTEM: r"pred(s|ictions?|icted)?|sys(tems?)?|runs?|models?|outputs?|responses?|answers?|submissions?|baseline|team"
    r"|bundle",
    ANNOTATOR: r"annotators?|coder|rater",
}
"""The words that tell a role, by role, in names of files and layers."""
GOLD_BY_CUSTOM = r"annotated|annotations?"
"""Words in names of gold, where no name has one of WORDS for it."""
LANGUAGES = re.compile(
    "ar|bg|ca|cs|da|de|el|en|es|et|eu|fa|fi|fr|ga|he|hi|hr|hu|it|ja|ko|la|lt|lv|nl|no|pl|pt|ro|ru|sk|sl|sv|tr|uk|vi|zh"
)
"""Codes of languages by which names of files are told apart."""
NOT_DATA = re.compile(r"(licen[cs]e|notice|readme|copying|changelog)\b", re.IGNORECASE)
"""The beginning of names of files that come with data and hold none."""
LABEL_LISTS = frozenset(("labels.txt", "label_list.txt", "dataset_info.json", "dataset_infos.json"))
"""Names of files that hold the labels of other files."""
SHARED = frozenset((*LABEL_LISTS, *COMPANIONS_OF_ALL.values()))
"""Names of files that several layers may share."""
TEXT_ENDINGS = (".txt", bc2gm.SENTENCES, ".texts.csv", ".texts.tsv", ".texts.parquet")
"""Endings of files that hold texts where nothing else is recognised in them."""
_WORDS_OF_NAME = re.compile(r"[^\W\d_]+")
LAYERS = 8
"""Layers of one file that are read at first."""
LAYERS_IN_ZIP = 40
"""The most files, with those that belong to them, of a zip that may be layers."""
MANY = 8
"""More files of one ending than these, with no word for a role in any name, are the documents of one layer."""


def grouped_files(names: Sequence[str]) -> list[list[int]]:
    """Return the files that belong together, as numbers of names: each zip alone, files with their companions.

    All pairs of text and annotations of brat are one group, and so are files of one ending that must be documents: more
    than MANY, or files of several folders, of which several have the same names. One name that comes again and again is
    that of as many files, which stand alone.
    """
    groups: dict[str, list[int]] = {}
    all_names, uses = set(names), Counter(names)
    brat = any(name.endswith(".ann") for name in names)
    endings = [PurePosixPath(name).suffix.lower() for name in names]
    sizes = Counter(endings)
    repeated = Counter(PurePosixPath(name).suffix.lower() for name in all_names if uses[name] > 1)
    named = {ending for name, ending in zip(names, endings, strict=True) if _role_of_name(name)}
    documents = {ending for ending in sizes if sizes[ending] > MANY or repeated[ending] > 1} - named
    companions = Counter(companion_key(name, all_names) for name in all_names)
    for number, (name, ending) in enumerate(zip(names, endings, strict=True)):
        if ending == ZIP:
            key = str(number)
        elif ending in COMPANIONS_OF_ALL and ending in named:
            # Their names tell that they are layers, not documents of one.
            key = name
        elif name in LABEL_LISTS or NOT_DATA.match(name):
            key = name
        elif brat and ending in (".ann", ".txt"):
            key = ".ann"
        elif ending in documents:
            key = ending
        else:
            key = companion_key(name, all_names)
            if key == name and companions[key] == 1 and uses[name] > 1:
                # Runs are often saved under one name, each in a folder of its own, which a browser does not tell.
                key = f"{name}/{number}"
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def are_layers(names: Sequence[str]) -> bool:
    """Return whether files of a zip are layers by their names, gold and something else, not documents of one.

    One whose name tells nothing beside those of systems is gold.
    """
    roles = [_role_of_name(names[numbers[0]]) for numbers in grouped_files(names)]
    has_gold = GOLD in roles or (roles.count("") == 1 and set(roles) == {"", SYSTEM})
    return has_gold and not {SYSTEM, ANNOTATOR}.isdisjoint(roles)


def names_in_folders(names: Sequence[str]) -> list[str]:
    """Return names of files that belong together, with the folder of each where they come from several.

    A browser gives names without folders. Those of two folders are told apart where all annotations of the first came
    before those of the second, and both have the same names. Other names are returned as they are.
    """
    uses: Counter[str] = Counter()
    folders = []
    for name in names:
        uses[name] += 1
        folders.append(uses[name])
    layers = [(name, folder) for name, folder in zip(names, folders, strict=True) if not name.endswith(".txt")]
    numbers = [folder for _, folder in layers]
    counts = Counter(name for name, _ in layers)
    if not layers or max(numbers) == 1 or numbers != sorted(numbers) or len(set(counts.values())) > 1:
        return list(names)
    return [in_folder(name, folder) for name, folder in zip(names, folders, strict=True)]


def in_folder(name: str, number: int) -> str:
    """Return the name of a file in the folder of this number, from 1; 0 stands for no folder."""
    return f"folder {number}/{name}" if number else name


def languages_of_gold(files: Sequence[str]) -> list[str]:
    """Return the languages of gold where names of files that may be gold differ in the code of a language alone.

    The language with the most other files comes first. Empty where gold has one language, or names tell none.
    """
    languages_by_name: dict[str, list[str]] = {}
    for file in files:
        language = _language(file)
        if language and _role_of_name(file) in ("", GOLD):
            languages_by_name.setdefault(_words_but(file, language), []).append(language)
    languages = next((dict.fromkeys(codes) for codes in languages_by_name.values() if len(set(codes)) > 1), {})
    uses = Counter(map(_language, files))
    return sorted(languages, key=lambda language: -uses[language])


def proposed_roles(
    layers: Sequence[str],
    files: Sequence[str],
    formats: Sequence[str],
    language: str = "",
    *,
    choices: Sequence[str] | None = None,
) -> list[str]:
    """Return a role for each layer, by its name ("" where its files hold one), the name of its files and their format.

    Names tell most; some formats have names of their own for gold. Layers of one file or zip whose names tell nothing
    are annotators; a file by itself is gold beside systems alone, else a system. Where no name of several files tells a
    role, nobody knows which is gold: their roles are empty, until the `choices` of the user ("" for none) tell
    it. A file of no known format whose name tells nothing is left out, and so are files of other languages than
    `language` where gold has several.
    """
    others = set(languages_of_gold(files)) - {language} if language else set()
    roles = [
        IGNORED if _language(file) in others else _role(layer, file, format)
        for layer, file, format in zip(layers, files, formats, strict=True)
    ]
    choices = choices or [""] * len(roles)
    unnamed = [number for number, role in enumerate(roles) if not role]
    by_custom = next((at for at in unnamed if _has_word(files[at], GOLD_BY_CUSTOM)), None)
    if len(unnamed) > 1 and by_custom is None and not others and {GOLD, SYSTEM, ANNOTATOR}.isdisjoint(roles):
        return _roles_by_choice(roles, choices)
    if unnamed and not {GOLD, ANNOTATOR} & set(roles):
        roles[unnamed[0] if by_custom is None else by_custom] = GOLD
    return [choice or role or SYSTEM for choice, role in zip(choices, roles, strict=True)]


def _roles_by_choice(roles: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Return roles of which no name tells any as far as the user's choices tell them, "" for those that are open."""
    roles = [choice or role for choice, role in zip(choices, roles, strict=True)]
    if GOLD in roles:
        other_role = SYSTEM
    elif ANNOTATOR in roles:
        other_role = ANNOTATOR
    else:
        # The last one that is left is gold.
        other_role = GOLD if roles.count("") == 1 else ""
    return [role or other_role for role in roles]


def needs_no_format(file: str) -> bool:
    """Return whether a file may hold texts or labels of other files, or no data, by its name."""
    return file.lower().endswith(TEXT_ENDINGS) or file in SHARED or NOT_DATA.match(file) is not None


def roles_of(format: str) -> tuple[str, ...]:
    """Return the roles that files of a format can have."""
    return tuple(role for role in ROLES if role != VARIANTS or format == VARIED)


def first_layers(layers: Iterable[str]) -> list[str]:
    """Return the layers of a file that are read at first: INCEpTION's layer of the document as imported is none."""
    return [name for name in layers if name.partition(SEPARATOR)[0] != INITIAL][:LAYERS]


def _role(layer: str, file: str, format: str) -> str:
    if layer:
        return IGNORED if layer.partition(SEPARATOR)[0] == INITIAL else _role_of_name(layer) or ANNOTATOR
    if not format or file in SHARED:
        return TEXTS if needs_no_format(file) and not NOT_DATA.match(file) else _role_of_name(file) or IGNORED
    if format == VARIED and (role := VARIED_NAMES.get(file.lower())):
        return role
    return _role_of_name(file)


def _role_of_name(name: str) -> str:
    """Return the role that the words of a name tell, "" where they tell none."""
    roles = (role for role, its in WORDS.items() if _has_word(name, its))
    return next(roles, ANNOTATOR if "@" in name else "")


def _language(file: str) -> str:
    """Return the code of the language that the name of a file tells, "" where it tells none or several."""
    codes = {word.lower() for word in _WORDS_OF_NAME.findall(file) if LANGUAGES.fullmatch(word.lower())}
    return codes.pop() if len(codes) == 1 else ""


def _words_but(file: str, language: str) -> str:
    """Return the name of a file without the code of a language."""
    return _WORDS_OF_NAME.sub(lambda match: "" if match[0].lower() == language else match[0], file)


def _has_word(name: str, words: str) -> bool:
    return any(re.fullmatch(words, word, re.IGNORECASE) for word in _WORDS_OF_NAME.findall(name))
