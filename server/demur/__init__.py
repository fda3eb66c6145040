"""demur answers a question, says how sure it is, and declines when that is less than the caller asked for."""

__version__ = "0.1.0"
