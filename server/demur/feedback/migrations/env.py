"""Called by Alembic: runs the versions over the connection that `demur.feedback.database` opened."""

from alembic import context

from demur.feedback.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
