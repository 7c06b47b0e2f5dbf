"""A simulator to play, pause, step and reset, which tests share."""

from collections.abc import Iterator

import pytest
from remote import PAUSED, PLAYING, Remote
from simulators import Starter


@pytest.fixture(scope="module")
def shared_remote(start_shared: Starter) -> Iterator[Remote]:
    """The shipped arm in a process of its own; use `remote`."""
    remote = Remote(start_shared)
    yield remote
    remote.close()


@pytest.fixture
def remote(shared_remote: Remote) -> Iterator[Remote]:
    """The shipped arm, playing."""
    shared_remote.put(PAUSED)
    shared_remote.quiet()
    shared_remote.put(PLAYING)
    yield shared_remote
    shared_remote.put(PAUSED)  # other tests of the file have simulators of their own
