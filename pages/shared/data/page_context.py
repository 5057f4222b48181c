"""The context of a page: the corpus, the view checked against it, and the settings and scores that follow from both."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from nereval_core.conventions import Convention, conventions
from nereval_core.ledger import Ledger
from nereval_core.records.queries import Query
from nereval_core.report.signature import signature
from nereval_core.review.layer_words import LayerWords
from nereval_core.scoring import Scores, Settings
from nereval_core.scoring.criteria import Criterion
from pages.shared.data import caches, masks, own_criteria, reference_layer, scored_folders
from pages.shared.data.kept_corpora import named_corpus
from pages.shared.data.loading import Loaded, demo_names
from pages.shared.data.memo import key_of, memoized
from pages.shared.view import View, is_key, state
from pages.shared.view.link import check_view
from pages.shared.view.queries import query_of


@dataclass(frozen=True, eq=False)
class PageContext:
    """The subject of a page: the corpus, the view (checked against it), and the scores under its settings."""

    loaded: Loaded
    view: View
    settings: Settings

    @property
    def system(self) -> str:
        return self.view.system or self.loaded.start

    @property
    def words(self) -> LayerWords:
        """The words for the two sides: gold and prediction, or the names of two annotators."""
        return reference_layer.words_of(self.loaded, self.system)

    @property
    def beside(self) -> str:
        """The system that the chosen one is compared with, "" where there is none."""
        return self.view.beside if self.view.beside in self.systems and self.view.beside != self.system else ""

    @property
    def compared(self) -> tuple[str, ...]:
        """The systems that stand beside the chosen one on Inspect, in their order in the link."""
        names = dict.fromkeys((self.beside, *self.view.tracks))
        return tuple(name for name in names if name in self.systems and name != self.system)

    def of(self, system: str) -> PageContext:
        """The same page about another system, compared with this one."""
        return replace(self, view=replace(self.view, system=system, beside=self.system))

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(layer.name for layer in self.loaded.corpus.systems))

    @property
    def annotated_types(self) -> tuple[str, ...]:
        """The types of the whole corpus as annotated, before merging."""
        return self.loaded.types

    @property
    def has_links(self) -> bool:
        """Whether some gold span is linked to a concept."""
        return self.loaded.has_layers and bool(self.loaded.corpus.gold.links)

    @property
    def is_demo(self) -> bool:
        # Only demos come with a description.
        return bool(self.loaded.description)

    @property
    def convention(self) -> Convention | None:
        """The published scorer that is chosen in place of a criterion, None where there is none."""
        return None if self.view.criterion in self.criteria else conventions().get(self.view.criterion)

    @property
    def by(self) -> str:
        """The criterion of our own numbers: the one chosen, or the first twin of the convention that is chosen."""
        return own_criterion(self.settings, self.view.criterion)

    @property
    def criterion(self) -> Criterion:
        return next(criterion for criterion in self.settings.criteria if criterion.name == self.by)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of all criteria that are scored, one's own last."""
        return tuple(criterion.name for criterion in self.settings.criteria)

    @property
    def types(self) -> tuple[str, ...]:
        """The types as scored under the chosen criterion, which may merge some and leave some out itself."""
        return tuple(sorted(self.scores().by_type(self.by)))

    def scores(self, system: str | None = None, names: Sequence[str] | None = None) -> Scores:
        """Return scores under some criteria at least, by default the chosen one."""
        settings = caches.spans_only(self.settings, names or [self.by])
        return caches.scores(self.loaded, system or self.system, settings)

    def signature(self, criterion: str | None = None) -> str:
        return _signature(self, criterion or self.by)

    def ledger(self, criterion: str | None = None) -> Ledger:
        """All match records of the system under a criterion, by default the chosen one."""
        return caches.ledger(self.loaded, self.system, self.settings, criterion or self.by)

    def reading(self, doc: str, criterion: str | None = None) -> Scores:
        """The scores of one document alone."""
        return caches.reading(self.loaded, self.system, self.settings, criterion or self.by, doc)

    def query(self) -> Query:
        """The query of the records that lists show."""
        return query_of(self.view)


@key_of.register
def _(page: PageContext) -> Hashable:
    return page.loaded.id, page.system, page.by, key_of(page.settings), page.view.resample


@memoized()
def _signature(page: PageContext, criterion: str) -> str:
    return signature(page.scores(names=[criterion]), criterion)


def page_context(*, demo: bool, example: str = "") -> tuple[PageContext | None, tuple[str, ...]]:
    """Return the context of the view, and in words the parts of the view that do not fit its corpus.

    With `demo`, a view without a corpus shows the demo `example`, else the first one. The
    context is None where the server lacks the corpus.
    """
    view, rule_notices = own_criteria.receive_rule(state.view())
    view = _with_corpus(view, demo=demo, example=example)
    loaded = caches.find(view.corpus)
    if loaded is None:
        state.put(view)
        return None, rule_notices
    view, folder_notices = scored_folders.following(loaded, view)
    loaded, view, layer_notices = reference_layer.follow_view(loaded, view)
    loaded, view = masks.follow_view(loaded, view)
    view, notices = _checked(loaded, view)
    # From here on in full, so that a link's short digest and an opened corpus are the same view.
    corpus = view.corpus if is_key(view.corpus) else loaded.digest
    view = replace(view, corpus=corpus, system=view.system or loaded.start)
    if view != state.view():
        state.put(view)
    settings = caches.settings_in(loaded, view, own_criteria.criteria())
    return PageContext(loaded, view, settings), (*rule_notices, *folder_notices, *layer_notices, *notices)


def _with_corpus(view: View, *, demo: bool, example: str) -> View:
    """Return the view with a corpus where it names none: the one that the server was started with, or the demo."""
    named = named_corpus()
    if view.corpus or (named is None and not (demo and demo_names())):
        return view
    default = named or caches.demo(example if example in demo_names() else demo_names()[0])
    # A system that the link names and the corpus lacks is said to be missing, like any other.
    return replace(view, corpus=default.corpus.digest, system=view.system or default.start)


def _checked(loaded: Loaded, view: View) -> tuple[View, tuple[str, ...]]:
    """Return the view without what its corpus lacks, and these parts in words."""
    settings = caches.settings_in(loaded, view, own_criteria.criteria())
    criteria = {criterion.name: criterion for criterion in settings.criteria}
    rules = settings.rules_for(criteria[own_criterion(settings, view.criterion)])
    return check_view(
        view,
        systems={layer.name for layer in loaded.corpus.systems},
        criteria=[*criteria, *(() if loaded.fixed_settings or view.criterion in criteria else conventions())],
        known_types=loaded.types,
        scored_types={name for kind in loaded.types if (name := rules.name(kind)) is not None},
        # Made of all ids, which may be very many.
        documents=loaded.corpus.documents.index if view.doc else (),
    )


def own_criterion(settings: Settings, name: str) -> str:
    """Return a criterion that is scored: the one named, for a convention its twin, else the default."""
    scored = [criterion.name for criterion in settings.criteria]
    twins = conventions()[name].twins.values() if name in conventions() else ()
    preferred: tuple[str, ...] = (name, *twins, View().criterion, *scored)
    return next(criterion for criterion in preferred if criterion in scored)
