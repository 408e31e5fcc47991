"""Runs the migrations on the connection that `verax.studies.store.database.migrate` hands over."""

from alembic import context

from verax.studies.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
