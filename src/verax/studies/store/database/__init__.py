"""The database under the store: engine, migrations, backups, and moves to another one."""
