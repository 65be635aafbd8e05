"""Pages of the folder ``reference``: plugins, Python, commands, hooks and environment variables."""
