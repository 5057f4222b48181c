"""Code that pages share: view and link, data and caches, components, and a folder for each page."""
