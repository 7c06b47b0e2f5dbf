"""Waiting for what a page causes."""

import time
from collections.abc import Callable

_LIMIT_S = 60.0


def eventually(condition: Callable[[], object], text: Callable[[], object] = lambda: "") -> None:
    """Wait until the condition holds; fail with a text otherwise."""
    end = time.monotonic() + _LIMIT_S
    while not condition():
        assert time.monotonic() < end, text()
        time.sleep(0.01)
