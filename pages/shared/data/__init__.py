"""Reading, caches and stores behind the pages."""
