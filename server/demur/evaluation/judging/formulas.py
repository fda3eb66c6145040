"""The equivalence of training, voting and serving. Its formula worker starts with the first answer that needs it."""

import asyncio
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from demur import grading
from demur.core import equivalence


class Formulas:
    """Compares answers from asyncio. Most answers are numbers or words and never wake the worker."""

    def __init__(self) -> None:
        self._grader = grading.Grader()
        self._starting = threading.Lock()

    async def correct(self, answer: str, gold: Sequence[str]) -> bool:
        """Whether the answer means the same as any gold one."""
        return await asyncio.to_thread(equivalence.is_correct, answer, list(gold), _Waking(self))

    async def key(self, answer: str) -> str | None:
        """Equal for answers that mean the same."""
        return await asyncio.to_thread(equivalence.answer_key, answer, _Waking(self))

    def session(self) -> grading.Session:
        """A session of the running worker."""
        with self._starting:
            return self._grader.start().session()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._grader.close()


class _Waking:
    """An algebra for one comparison that asks for its session when it is first used."""

    def __init__(self, formulas: Formulas) -> None:
        self._formulas = formulas
        self._session: grading.Session | None = None

    def canonical(self, latex: str) -> str | None:
        """For `demur.core.equivalence.Algebra`."""
        return self._awake().canonical(latex)

    def equal(self, latex: str, other: str) -> bool:
        """For `demur.core.equivalence.Algebra`."""
        return self._awake().equal(latex, other)

    def unit(self, name: str) -> equivalence.Scale | None:
        """For `demur.core.equivalence.Algebra`."""
        return self._awake().unit(name)

    def month(self, name: str) -> int | None:
        """For `demur.core.equivalence.Algebra`."""
        return self._awake().month(name)

    def _awake(self) -> grading.Session:
        if self._session is None:
            self._session = self._formulas.session()
        return self._session
