"""Comparing formulas by value, safely: math-verify and sympy in a process of their own, behind a hard time limit. So
are pint, which converts units, and Babel, which knows the months in other languages.

math-verify guards itself with SIGALRM, which works in a main thread only; here it runs with its limits off, in a child
that the kernel kills. Nothing in this package but the worker itself imports any of them.
"""

from demur.grading.grader import Grader, Session, TookTooLong
from demur.grading.process import GraderError

__all__ = ["Grader", "GraderError", "Session", "TookTooLong"]
