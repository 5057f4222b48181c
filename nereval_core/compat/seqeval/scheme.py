"""The tag schemes that seqeval's strict mode takes, as classes; seqeval's own classes are taken as well."""

from __future__ import annotations

from nereval_core.conventions.seqeval.entities import SCHEMES

PREFIXES = "IOBESUL"
"""All letters, in the order in which seqeval lists them."""


class Token:
    """The base of all schemes."""


class IOB1(Token):
    """I begins and goes on; B begins where an entity of the same type ends."""


class IOE1(Token):
    """I begins and goes on; E ends where an entity of the same type begins."""


class IOB2(Token):
    """B begins, I goes on."""


class IOE2(Token):
    """I begins and goes on, E ends."""


class IOBES(Token):
    """B begins, I goes on, E ends, S is an entity of one token."""


class BILOU(Token):
    """B begins, I goes on, L ends, U is an entity of one token."""


def scheme_name(scheme: object) -> str | None:
    """Return the name of a scheme that is given as a class of this module or of seqeval, None for anything else."""
    name = scheme.__name__ if isinstance(scheme, type) else ""
    return name if name in SCHEMES else None


def allowed_prefixes(name: str) -> str:
    """Return the letters that a scheme allows, as seqeval writes them: `I|O|B`."""
    return "|".join(letter for letter in PREFIXES if letter in SCHEMES[name].letters)
