"""Parts of the Guide: its sections, and the examples in them."""
