"""Parts of the Inspect page: filters, queue, annotated text, and the classes of errors."""
