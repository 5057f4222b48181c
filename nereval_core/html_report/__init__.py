"""Everything about some systems in one HTML file, which needs no server and no network."""
