"""Match records as rows and tables, queries over them, and attributes of them."""
