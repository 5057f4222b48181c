"""The store of verdicts in a database: SQLite by default, PostgreSQL for a team."""

from nereval_core.review.store.review_store import ReviewStore, moment

__all__ = ["ReviewStore", "moment"]
