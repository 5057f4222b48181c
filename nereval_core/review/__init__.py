"""Verdicts that people give on match records: their content, their store, and their effect on gold.

`verdicts` defines a verdict, `standing_verdicts` all that stand at one moment, `verdicts_on_records` the records they
are about. `store` keeps them in SQLite or PostgreSQL (SQLAlchemy Core); only `store` and
`playlists.store` import SQLAlchemy. `apply` corrects gold by them, `exchange` imports them from another store.
"""
