"""The store of verdicts in a database: SQLite by default, PostgreSQL for a team."""

from nereval_core.review.store.review_store import MissingVerdictsError, ReviewStore, moment

__all__ = ["MissingVerdictsError", "ReviewStore", "moment"]
