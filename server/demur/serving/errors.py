"""What ends `demur serve` before it serves."""


class CannotLoad(Exception):
    """There is no engine; the message says why and what to do."""


class CannotServe(Exception):
    """The server cannot start; the message says what to change."""
