"""Services that answer when a test says so."""

from collections.abc import Callable
from typing import Any

import pytest


class Asked:
    """Has the methods of `Asker`, and keeps what is asked.

    Attributes:
        open: Requests without an answer by the name of the service, oldest first.
    """

    def __init__(self) -> None:
        self.open: list[tuple[str, Any, Callable[[Any], object], Callable[[str], object]]] = []

    def ask(
        self,
        kind: Any,
        name: str,
        request: Any,
        answered: Callable[[Any], object],
        given_up: Callable[[str], object] = lambda _reason: None,
        *,
        twice: bool = False,
    ) -> None:
        self.open.append((name, request, answered, given_up))

    def names(self) -> list[str]:
        return [name for name, *_ in self.open]

    def answer(self, name: str, response: Any) -> None:
        """Answer the oldest request to a service."""
        self._take(name)[2](response)

    def give_up(self, name: str) -> None:
        """Let the oldest request to a service go unanswered."""
        self._take(name)[3]("it does not answer")

    def _take(self, name: str) -> tuple[str, Any, Callable[[Any], object], Callable[[str], object]]:
        return self.open.pop(self.names().index(name))


class NoTopics:
    """Has the methods of `Endpoints`; nothing comes."""

    def subscription(self, *_: Any) -> None:
        pass


@pytest.fixture
def asker() -> Asked:
    return Asked()


@pytest.fixture
def endpoints() -> NoTopics:
    return NoTopics()
