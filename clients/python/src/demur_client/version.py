"""One place for the version: the package, its metadata and the User-Agent header."""

__version__ = "0.1.0"
