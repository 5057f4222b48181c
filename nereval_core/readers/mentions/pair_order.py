"""The order of pairs: mention and type as documented, or type and mention, which are turned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nereval_core.readers.mentions.answers import NamedMention
from nereval_core.readers.mentions.placing import SearchedText

Order = Literal["straight", "turned", "ambiguous"]


@dataclass(frozen=True)
class Pairs:
    """The pairs of one list or object of an answer, in the documented order, and the text of its document.

    `has_lists` says that an object has lists as values, as an object of mentions by type has.
    """

    mentions: Sequence[NamedMention]
    text: SearchedText
    has_lists: bool = False


def pair_orders(lists: Sequence[Pairs], types: Collection[str], other_types: Iterable[str]) -> list[Order]:
    """Return the order of the pairs of each list.

    `types` are those of gold, empty where gold is not known. Where every first element of a list is a type of gold and
    no second one is, it is turned. Where neither element is a type, the text decides, in which mentions stand and types
    do not, and the types of the other lists of the same file and of mentions that keys name (`other_types`).
    """
    gold = _folded(types)
    vocabulary = gold | _folded(other_types)
    by_types = [_by_types(pairs, vocabulary) for pairs in lists]
    orders = [order or _by_text(pairs) for pairs, order in zip(lists, by_types, strict=True)]
    straight = [pairs for pairs, order in zip(lists, orders, strict=True) if order == "straight"]
    learnt = _folded(mention.type for pairs in straight for mention in pairs.mentions)
    if not learnt and not gold:
        turned = [pairs for pairs, order in zip(lists, orders, strict=True) if order == "turned"]
        learnt = _folded(mention.text for pairs in turned for mention in pairs.mentions)
    known_types = vocabulary | learnt
    return [order or _undecided(pairs, known_types, bool(gold)) for pairs, order in zip(lists, by_types, strict=True)]


def _by_types(pairs: Pairs, types: Collection[str]) -> Order | None:
    """Return the order that types show; None where they do not decide."""
    firsts = [mention.text.casefold() in types for mention in pairs.mentions]
    seconds = [mention.type.casefold() in types for mention in pairs.mentions]
    if all(seconds) and not all(firsts):
        return "straight"
    if all(firsts) and not any(seconds):
        # A type may be a word of the text too: the second elements must be mentions then.
        if any(pairs.text.has_words(mention.type) for mention in pairs.mentions):
            return "turned"
        return "ambiguous" if any(pairs.text.has_words(mention.text) for mention in pairs.mentions) else "turned"
    if all(firsts) and all(seconds):
        same = all(mention.text.casefold() == mention.type.casefold() for mention in pairs.mentions)
        return "straight" if same or pairs.has_lists else _by_text(pairs) or "ambiguous"
    if any(firsts) and any(seconds):
        return "ambiguous"
    if any(seconds):
        return "straight"
    return None


def _by_text(pairs: Pairs) -> Order | None:
    """Return the order in which mentions stand in the text and types do not; None where both or neither do."""
    if pairs.has_lists and any(mention.text in pairs.text.text for mention in pairs.mentions):
        return "straight"
    firsts = any(pairs.text.has_words(mention.text) for mention in pairs.mentions)
    seconds = [pairs.text.has_words(mention.type) for mention in pairs.mentions]
    if not any(seconds):
        return "straight"
    return "turned" if all(seconds) and not firsts else None


def _undecided(pairs: Pairs, types: Collection[str], has_gold: bool) -> Order:
    """Return the order by the types of the whole file, else by the text; ambiguous where these do not decide."""
    firsts = [mention.text.casefold() in types for mention in pairs.mentions]
    seconds = [mention.type.casefold() in types for mention in pairs.mentions]
    if all(firsts) != all(seconds):
        return "straight" if all(seconds) else "turned"
    order = _by_text(pairs)
    if pairs.has_lists and order is None:
        return "straight"
    return (
        "ambiguous" if order == "turned" and (has_gold or pairs.has_lists) and not any(firsts) else order or "ambiguous"
    )


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
