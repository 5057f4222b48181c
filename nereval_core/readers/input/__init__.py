"""Opening of sources: files, folders, archives, compressed files and standard input, within bounds."""
