"""`demur ask`: one question in the terminal, or a file of them, over HTTP.

`command` holds the options, `one` and `many` the two ways of asking, `screen` what a person sees, `rows` the files.
"""

from demur.asking.command import ask

__all__ = ["ask"]
