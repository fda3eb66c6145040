"""`demur ask`: one question in the terminal, or a file of them, over HTTP.

command.py   the command                          one.py      one question, streamed or whole
options.py   its options                          many.py     a file of questions, resumed where it stopped
screen.py    what a person sees                   rows.py     questions and answers in files
exits.py     exit statuses
"""

from demur.asking.command import ask

__all__ = ["ask"]
