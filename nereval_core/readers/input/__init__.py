"""Opening what is read: files, folders, archives, compressed files and standard input, within bounds."""
