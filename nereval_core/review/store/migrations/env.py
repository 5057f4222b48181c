"""Run the revisions over the connection that the store opened; only `schema.upgrade` calls alembic."""

from alembic import context

from nereval_core.review.store.schema import METADATA, REVISION_TABLE

context.configure(
    connection=context.config.attributes["connection"], target_metadata=METADATA, version_table=REVISION_TABLE
)
# The store's transaction holds all of it.
context.run_migrations()
