"""Parts of readers that several formats share: tag schemes, offset units, tables of cells, strict JSON and XML."""
