"""The command line: one verb per file, a thin layer over the library."""
