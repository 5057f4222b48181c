"""Pictures of every page for the README; see __main__.py."""
