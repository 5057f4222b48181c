"""Run revisions over the connection that the store opened: `review.revisions` calls alembic, nobody else."""

from alembic import context

from nereval_core.review.store.schema import METADATA, REVISION

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, version_table=REVISION)
# The store's transaction holds all of it.
context.run_migrations()
