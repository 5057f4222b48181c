"""Pictures of every page for the README and docs/pages.md; see __main__.py."""
