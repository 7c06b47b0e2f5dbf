"""Services with responses of the test."""

from collections.abc import Callable
from typing import Any

import pytest


class FakeServiceCaller:
    """Has the methods of `ServiceCaller` and records the requests.

    Attributes:
        open: Requests without a response, by the name of the service, oldest first.
    """

    def __init__(self) -> None:
        self.open: list[tuple[str, Any, Callable[[Any], object], Callable[[str], object]]] = []

    def call(
        self,
        kind: Any,
        name: str,
        request: Any,
        on_response: Callable[[Any], object],
        on_failure: Callable[[str], object] = lambda _reason: None,
        *,
        retry: bool = False,
    ) -> None:
        self.open.append((name, request, on_response, on_failure))

    def forget(self, named: str) -> None:
        """Fail the requests to a service; with "/" at the end, to all whose names begin so."""
        for name in self.names():
            if name == named or (named.endswith("/") and name.startswith(named)):
                self._take(name)[3]("it is gone")

    def names(self) -> list[str]:
        return [name for name, *_ in self.open]

    def answer(self, name: str, response: Any) -> None:
        """Respond to the oldest request to a service."""
        self._take(name)[2](response)

    def give_up(self, name: str) -> None:
        """Time the oldest request to a service out."""
        self._take(name)[3]("it does not answer")

    def _take(self, name: str) -> tuple[str, Any, Callable[[Any], object], Callable[[str], object]]:
        return self.open.pop(self.names().index(name))


class NoTopics:
    """Has the methods of `Endpoints` and receives nothing."""

    def subscription(self, *_: Any) -> None:
        pass

    def close(self, _: Any) -> None:
        pass


@pytest.fixture
def caller() -> FakeServiceCaller:
    return FakeServiceCaller()


@pytest.fixture
def endpoints() -> NoTopics:
    return NoTopics()
