"""Options that verbs share, for the library, the command line and the app alike: of reading and pairing, of scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from nereval_core.options import RESAMPLES, SEED, FormField, Offer, check_offers, comma_separated, offers
from nereval_core.problems import FormatError, Steps, quoted
from nereval_core.readers.read_settings import ReadOptions, ReadSettings, column_of, scheme_names, stripped

if TYPE_CHECKING:
    from collections.abc import Callable

    from nereval_core.analysis.resampling_units import ResamplingPlan
    from nereval_core.conventions import ScorerInput
    from nereval_core.pairing import Missing, PairBy, Pairing, TokenText, Truncated
    from nereval_core.pairing.selection import DocumentIds, Selection
    from nereval_core.pairing.type_names import TypeNames
    from nereval_core.readers import Reading, Source
    from nereval_core.scoring import Counting, Settings
    from nereval_core.scoring.criteria import Criterion

ALL = "all"
"""The criterion that stands for every criterion that gold allows."""
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
    "--format",
    "of {first} and {others}; see `nereval formats` (default: auto, by content)",
    form=FormField("Format", "auto recognises it by content and says which.", values=_formats),
)
COLUMN = Offer(
    "--column",
    "the column with the tags, by number (from 1) or name; the feature of WebAnno, the infon of BioC, the key of "
    "MISC in CoNLL-U",
    "N",
    parse=column_of,
)
TYPES = Offer(
    "--types",
    "call types by other names on both sides; FILE has lines PER = person",
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

    gold_format: str = Offer("--gold-format", GOLD_ONLY, "FORMAT", both=FORMAT, form=FORMAT.form).field("auto")
    pred_format: str = Offer("--pred-format", OTHERS_ONLY, "FORMAT", both=FORMAT, form=FORMAT.form).field("auto")
    gold_column: int | str | None = Offer(
        "--gold-column",
        GOLD_ONLY,
        metavar="N",
        parse=column_of,
        both=COLUMN,
        form=FormField(
            "Column of gold", "Number from 1, or name in a header.", empty="the one with tags", parse=_column
        ),
    ).field(None)
    pred_column: int | str | None = Offer(
        "--pred-column",
        OTHERS_ONLY,
        metavar="M",
        parse=column_of,
        both=COLUMN,
        form=FormField(
            "Column of the prediction",
            "With gold and prediction in one file, give this column and upload the file as gold only.",
            empty="the one with tags",
            parse=_column,
        ),
    ).field(None)
    gold_scheme: str | None = Offer(
        "--gold-scheme",
        "tag scheme of {first} only",
        form=FormField("Tag scheme of gold", empty="as for both", values=scheme_names),
    ).field(None)
    pred_scheme: str | None = Offer(
        "--pred-scheme",
        "tag scheme of {others} only",
        form=FormField("Tag scheme of predictions", empty="as for both", values=scheme_names),
    ).field(None)
    missing: Missing = Offer(
        "--missing",
        "empty: count missing documents as empty",
        choices=("error", "empty"),
        form=FormField(
            "A document missing from a prediction",
            values=lambda: {"error": "refuse", "empty": "count as predicted empty"},
        ),
    ).field("error")
    token_text: TokenText = Offer(
        "--token-text",
        "gold: take {first}'s text where as many tokens are spelt differently",
        choices=("own", "gold"),
        form=FormField(
            "Take gold's text where tokens are spelt differently",
            "Only where the token counts are equal; counted, and told in the signature.",
            checkbox=True,
            parse=lambda ticked: "gold" if ticked else "own",
        ),
    ).field("own")
    pair_by: PairBy = Offer(
        "--pair-by",
        "pair documents by identical text or by order, whatever their ids (default: by id, else by text)",
        choices=("auto", "text", "order"),
        form=FormField(
            "Documents are paired",
            "Texts tell documents apart where ids do not meet; without ids there is their order.",
            values=lambda: {
                "auto": "by id, else by text",
                "text": "by text, whatever the ids",
                "order": "by order, whatever the ids",
            },
        ),
    ).field("auto")
    align_text: bool = Offer(
        "--align-text",
        "carry spans over to {first}'s text where white space or quotes differ",
        form=FormField(
            "Align texts that differ in white space, quotes or normal forms alone",
            "Spans are carried over to gold's text. Those without a place in it are left out, listed and "
            "counted in the signature.",
            checkbox=True,
            parse=bool,
        ),
    ).field(False)
    truncated: Truncated = Offer(
        "--truncated",
        "outside: tokens that {others} lack at the end of sentences, as models with a maximal length do, are "
        "outside of spans",
        choices=("error", "outside"),
        form=FormField(
            "Sentences that a prediction cuts off",
            "As models with a maximal length do; counted, and told in the signature.",
            values=lambda: {"error": "refuse", "outside": "take the missing tokens as outside"},
        ),
    ).field("error")
    documents: DocumentIds | None = Offer(
        "--documents",
        f"{THESE_DOCUMENTS}, or shared: those that all have",
        help_of_one=THESE_DOCUMENTS,
        metavar="FILE|IDS",
        parse=_documents,
        selects=True,
        elsewhere="a field of lines below the others",
    ).field(None)
    common: bool = Offer(
        form=FormField(
            "Score only the documents that all of them have",
            "Where annotators have not seen the same documents. Told by their ids; the signature says how many.",
            checkbox=True,
            parse=bool,
        )
    ).field(False)
    gold_types: TypeNames | None = Offer(
        "--gold-types", GOLD_ONLY, "FILE", parse=_types, both=TYPES, selects=True, elsewhere=TYPES_FORM
    ).field(None)
    pred_types: TypeNames | None = Offer(
        "--pred-types", OTHERS_ONLY, "FILE", parse=_types, both=TYPES, selects=True, elsewhere=TYPES_FORM
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

    def command_words(self) -> list[str]:
        """Return the options that differ from their defaults as the command line takes them.

        Names of types, and ids with a comma, are `written_files`.
        """
        words: list[str] = []
        for name, offer in offers(LoadOptions).items():
            value = getattr(self, name)
            if offer.flag is None or value == getattr(_USUAL, name):
                continue
            if value is True:
                words.append(offer.flag)
                continue
            if name == "documents" and self.common:
                value = "shared"
            elif name in FILES_OF_OPTIONS:
                file = FILES_OF_OPTIONS[name]
                value = file if file in self.written_files() else ",".join(self.documents.ids if self.documents else ())
            words += [offer.flag, value.option if name == "offsets" else offer.in_words(value)]
        return words

    def written_files(self) -> dict[str, list[str]]:
        """Return the lines of the files that `command_words` names, by their names."""
        lines = {
            FILES_OF_OPTIONS[name]: [f"{old} = {new}" for old, new in types.pairs]
            for name in ("gold_types", "pred_types")
            if (types := getattr(self, name)) is not None
        }
        ids = () if self.documents is None or self.common else self.documents.ids
        if any("," in name or name != name.strip() for name in ids):
            lines[FILES_OF_OPTIONS["documents"]] = list(ids)
        return lines

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
        shared = {setting.name: getattr(self, setting.name) for setting in fields(ReadSettings)}
        shared["scheme"] = own_scheme or self.scheme
        if self.labels is not None:
            from nereval_core.readers.shared.label_list import label_list

            shared["labels"] = label_list(self.labels)
        return shared


_USUAL = LoadOptions()
FILES_OF_OPTIONS = {"documents": "documents.txt", "gold_types": "gold-types.txt", "pred_types": "pred-types.txt"}
"""The files that hold what an option cannot say in words."""


@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """What predictions are scored under.

    `criteria` are names, files of criteria of one's own (.toml), or criteria: None for the schemas, "all" for every
    criterion that gold allows. `rules` are criteria of one's own, "NAME: key=value, key=value". `merge` maps a type to
    the name that it is scored under, or lists merges as `A,B=NAME`.

    Raises:
        FormatError: with all that is wrong with them at once.
    """

    TITLE: ClassVar[str] = "scoring"

    criteria: tuple[str | Criterion, ...] | None = Offer(
        "--criteria",
        "names and .toml files with commas between, or all (default: {default})",
        "LIST",
        none="the schemas",
        parse=comma_separated,
    ).field(None)
    rules: tuple[str, ...] = Offer(
        "--criterion", "a criterion of your own: `nereval score --help`", "RULE", repeatable=True
    ).field(())
    merge: Mapping[str, str] | tuple[str, ...] = Offer(
        "--merge",
        "score types A and B as NAME, which is not merged further; repeatable",
        "A,B=NAME",
        repeatable=True,
    ).field(())
    leave_out: tuple[str, ...] = Offer(
        "--leave-out", "leave types out, with commas; repeatable", "TYPE", listed=True
    ).field(())
    counting: Counting = Offer("--counting", "each-side: no alignment", choices=("one-to-one", "each-side")).field(
        "one-to-one"
    )

    def __post_init__(self) -> None:
        check_offers(self)
        assert self.settings, "they are made once, here"

    @cached_property
    def settings(self) -> Settings:
        """The settings of scoring, with all criteria that were named; which of them apply is known with gold."""
        from nereval_core.scoring import Settings

        steps = Steps()
        merge: Mapping[str, str] = {}
        criteria: tuple[Criterion, ...] = ()
        with steps.collected():
            criteria = self._chosen_criteria()
        with steps.collected():
            merge = _merged_names(self.merge)
        steps.refuse()
        return Settings(criteria, tuple(sorted(merge.items())), tuple(sorted({*self.leave_out})), self.counting)

    def _chosen_criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria in the order in which they are named.

        Raises:
            FormatError: with all that is wrong with them.
        """
        from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, choose_criteria

        steps = Steps()
        criteria_or_names: list[str | Criterion] = []
        composed: list[Criterion] = []
        for item in SCHEMAS if self.criteria is None else self.criteria:
            if item == ALL:
                criteria_or_names += CRITERIA
            elif isinstance(item, str) and item.endswith(".toml"):
                with steps.collected():
                    own = _criteria_of_file(item)
                    composed += own
                    criteria_or_names += own
            else:
                criteria_or_names.append(item)
        for rule in self.rules:
            from nereval_core.scoring.criterion_syntax import criterion_from_rule

            with steps.collected():
                composed.append(criterion_from_rule(rule))
        criteria: tuple[Criterion, ...] = ()
        if criteria_or_names or composed or not steps.problems:
            with steps.collected():
                criteria = choose_criteria([*criteria_or_names, *composed], composed=composed, source="--criteria")
        steps.refuse()
        return criteria


def _merged_names(merge: Mapping[str, str] | tuple[str, ...]) -> Mapping[str, str]:
    """Return the name that each type is merged into.

    Raises:
        FormatError: a merge that cannot be read.
    """
    if isinstance(merge, Mapping):
        if lists := [quoted(str(kind)) for kind, name in merge.items() if not isinstance(name, str)]:
            remedy = 'map each type to its name: {"DNA": "nucleic", "RNA": "nucleic"}'
            raise FormatError.single("--merge", None, f"{', '.join(lists)}: the name is not a string", remedy)
        return merge
    if not merge:
        return {}
    from nereval_core.scoring.type_merging import parse_merge

    return parse_merge(merge)


def _criteria_of_file(path: str) -> tuple[Criterion, ...]:
    from nereval_core.readers import Source
    from nereval_core.scoring.criterion_syntax import criteria_from_toml

    return criteria_from_toml(Source.of_path(path).files[0].text(), path)


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions:
    """How intervals are drawn: `by` is the unit, as `resampling_units` takes it, by default each document as read."""

    resamples: int = Offer("--resamples", "how often units are resampled ({default})", "N", number=RESAMPLES).field(
        10_000
    )
    by: str = Offer(
        "--resample-by",
        "what is resampled: document, sentence, a metadata key, or runs of N as they stand (default: as read); "
        "with ' within KEY' after it, units are drawn within each value of KEY",
        "document|sentence|KEY|runs:N",
    ).field("")
    seed: int = Offer("--seed", "what is drawn depends on it alone ({default})", "N", number=SEED).field(0)

    def __post_init__(self) -> None:
        check_offers(self)

    @property
    def plan(self) -> ResamplingPlan:
        """The plan of a resampling."""
        from nereval_core.analysis.resampling_units import ResamplingPlan

        return ResamplingPlan(resamples=self.resamples, seed=self.seed)
