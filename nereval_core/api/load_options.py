"""Settings of reading and pairing gold and predictions, for the library, the command line and the app alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from nereval_core.options import FormField, Offer
from nereval_core.readers.read_settings import ReadOptions, ReadSettings, column_of, scheme_names, stripped

if TYPE_CHECKING:
    from collections.abc import Callable

    from nereval_core.conventions import ScorerInput
    from nereval_core.pairing import Missing, PairBy, Pairing, TokenText, Truncated
    from nereval_core.pairing.selection import DocumentIds, Selection
    from nereval_core.pairing.type_names import TypeNames
    from nereval_core.readers import Reading, Source

THESE_DOCUMENTS = "these documents only: a file with an id a line, or ids with commas"
GOLD_ONLY, OTHERS_ONLY = "of {first} only", "of {others} only"


def _column(words: str | None) -> int | str | None:
    name = stripped(words)
    return None if name is None else column_of(name)


def _formats() -> Mapping[Any, str]:
    from nereval_core import readers

    return {name: name for name in ("auto", *readers.formats())}


def _documents(words: str) -> DocumentIds:
    from nereval_core.pairing.selection import document_ids

    return document_ids(words)


def _types(path: str) -> TypeNames:
    from nereval_core.pairing.type_names import read_types

    return read_types(path)


FORMAT = Offer(
    flag="--format",
    help="of {first} and {others}; see `nereval formats` (default: auto, by content)",
    form=FormField(label="Format", hint="auto recognises it by content and says which.", values=_formats),
)
COLUMN = Offer(
    flag="--column",
    help="the column with the tags, by number (from 1) or name; the feature of WebAnno, the infon of BioC, the key of "
    "MISC in CoNLL-U",
    metavar="N",
    parse=column_of,
)
TYPES = Offer(
    flag="--types",
    help="call types by other names on both sides; FILE has lines PER = person",
    help_of_one="call types by other names; FILE has lines PER = person",
    metavar="FILE",
)
TYPES_FORM = "a field of lines below the others, with a choice of sides"


@dataclass(frozen=True, kw_only=True)
class LoadOptions(ReadSettings):
    """Settings of reading gold and predictions and of pairing them; `pair` explains those of pairing.

    `core_type` must be of use in reading gold; a prediction in another format passes it over. `gold_scheme` and
    `pred_scheme` None mean `scheme`; where that is None too, gold is read by the scheme that fits it, and a prediction
    by gold's where its tags fit that. `documents`, `gold_types` and `pred_types` are as for `Selection`; with `common`
    no more documents are scored than gold and all systems have by their ids.
    """

    gold_format: str = Offer(
        flag="--gold-format", help=GOLD_ONLY, metavar="FORMAT", both=FORMAT, form=FORMAT.form
    ).field("auto")
    pred_format: str = Offer(
        flag="--pred-format", help=OTHERS_ONLY, metavar="FORMAT", both=FORMAT, form=FORMAT.form
    ).field("auto")
    gold_column: int | str | None = Offer(
        flag="--gold-column",
        help=GOLD_ONLY,
        metavar="N",
        parse=column_of,
        both=COLUMN,
        form=FormField(
            label="Column of gold",
            hint="Number from 1, or name in a header.",
            empty="the one with tags",
            parse=_column,
        ),
    ).field(None)
    pred_column: int | str | None = Offer(
        flag="--pred-column",
        help=OTHERS_ONLY,
        metavar="M",
        parse=column_of,
        both=COLUMN,
        form=FormField(
            label="Column of the prediction",
            hint="With gold and prediction in one file, give this column and upload the file as gold only.",
            empty="the one with tags",
            parse=_column,
        ),
    ).field(None)
    gold_scheme: str | None = Offer(
        flag="--gold-scheme",
        help="tag scheme of {first} only",
        form=FormField(label="Tag scheme of gold", empty="as for both", values=scheme_names),
    ).field(None)
    pred_scheme: str | None = Offer(
        flag="--pred-scheme",
        help="tag scheme of {others} only",
        form=FormField(label="Tag scheme of predictions", empty="as for both", values=scheme_names),
    ).field(None)
    missing: Missing = Offer(
        flag="--missing",
        help="empty: count missing documents as empty",
        choices=("error", "empty"),
        form=FormField(
            label="A document missing from a prediction",
            values=lambda: {"error": "refuse", "empty": "count as predicted empty"},
        ),
    ).field("error")
    token_text: TokenText = Offer(
        flag="--token-text",
        help="gold: take {first}'s text where as many tokens are spelt differently",
        choices=("own", "gold"),
        form=FormField(
            label="Take gold's text where tokens are spelt differently",
            hint="Only where the token counts are equal; counted, and told in the signature.",
            checkbox=True,
            parse=lambda ticked: "gold" if ticked else "own",
        ),
    ).field("own")
    pair_by: PairBy = Offer(
        flag="--pair-by",
        help="pair documents by identical text or by order, whatever their ids (default: by id, else by text)",
        choices=("auto", "text", "order"),
        form=FormField(
            label="Documents are paired",
            hint="Texts tell documents apart where ids do not meet; without ids there is their order.",
            values=lambda: {
                "auto": "by id, else by text",
                "text": "by text, whatever the ids",
                "order": "by order, whatever the ids",
            },
        ),
    ).field("auto")
    align_text: bool = Offer(
        flag="--align-text",
        help="carry spans over to {first}'s text where white space or quotes differ",
        form=FormField(
            label="Align texts that differ in white space, quotes or normal forms alone",
            hint="Spans are carried over to gold's text. Those without a place in it are left out, listed and "
            "counted in the signature.",
            checkbox=True,
            parse=bool,
        ),
    ).field(False)
    truncated: Truncated = Offer(
        flag="--truncated",
        help="outside: tokens that {others} lack at the end of sentences, as models with a maximal length do, are "
        "outside of spans",
        choices=("error", "outside"),
        form=FormField(
            label="Sentences that a prediction cuts off",
            hint="As models with a maximal length do; counted, and told in the signature.",
            values=lambda: {"error": "refuse", "outside": "take the missing tokens as outside"},
        ),
    ).field("error")
    documents: DocumentIds | None = Offer(
        flag="--documents",
        help=f"{THESE_DOCUMENTS}, or shared: those that all have",
        help_of_one=THESE_DOCUMENTS,
        metavar="FILE|IDS",
        parse=_documents,
        selects=True,
        elsewhere="a field of lines below the others",
    ).field(None)
    common: bool = Offer(
        form=FormField(
            label="Score only the documents that all of them have",
            hint="Where annotators have not seen the same documents. Told by their ids; the signature says how many.",
            checkbox=True,
            parse=bool,
        ),
    ).field(False)
    gold_types: TypeNames | None = Offer(
        flag="--gold-types",
        help=GOLD_ONLY,
        metavar="FILE",
        parse=_types,
        both=TYPES,
        selects=True,
        elsewhere=TYPES_FORM,
    ).field(None)
    pred_types: TypeNames | None = Offer(
        flag="--pred-types",
        help=OTHERS_ONLY,
        metavar="FILE",
        parse=_types,
        both=TYPES,
        selects=True,
        elsewhere=TYPES_FORM,
    ).field(None)

    def scorer_input(self, gold: Source, pred: Source) -> ScorerInput:
        """Return the input of a published scorer that is read so."""
        from nereval_core.conventions import ScorerInput

        return ScorerInput(
            gold=gold,
            pred=pred,
            gold_format=self.gold_format,
            pred_format=self.pred_format,
            gold_column=self.gold_column,
            pred_column=self.pred_column,
            settings=self,
            pairing=self.pairing,
            selection=self.selection,
        )

    @property
    def selection(self) -> Selection:
        """The documents that are scored, and names of their types."""
        from nereval_core.pairing.selection import Selection

        return Selection(documents=self.documents, gold_types=self.gold_types, pred_types=self.pred_types)

    @property
    def pairing(self) -> Pairing:
        """The options of `pair`."""
        return {
            "missing": self.missing,
            "token_text": self.token_text,
            "pair_by": self.pair_by,
            "align_text": self.align_text,
            "truncated": self.truncated,
        }

    def of_gold(self, progress: Callable[[int, int], None] | None = None) -> ReadOptions:
        """Return the options of reading gold."""
        return ReadOptions(name="gold", column=self.gold_column, progress=progress, **self._shared(self.gold_scheme))

    def of_prediction(
        self, name: str, gold: Reading | None, progress: Callable[[int, int], None] | None = None
    ) -> ReadOptions:
        """Return the options of reading the prediction of a system, by gold's scheme and texts where gold was read."""
        shared = self._shared(self.pred_scheme)
        if gold is not None:
            shared |= {"gold_scheme": gold.scheme, "texts": gold.documents, "gold_types": gold.layer.types}
        return ReadOptions(name=name, column=self.pred_column, progress=progress, **shared)

    def _shared(self, own_scheme: str | None) -> dict[str, Any]:
        """Return the settings that both sides share, by name, with the scheme of one side where it has its own."""
        shared = {one.name: getattr(self, one.name) for one in fields(ReadSettings)}
        shared["scheme"] = own_scheme or self.scheme
        if self.labels is not None:
            from nereval_core.readers.shared.label_list import label_list

            shared["labels"] = label_list(self.labels)
        return shared
