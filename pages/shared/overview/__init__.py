"""Parts of the Overview page: its tables, and published scorers."""
