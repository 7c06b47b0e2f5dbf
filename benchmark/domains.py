"""ROS domains that processes which run at the same time do not share: benchmarks, and tests."""

import fcntl
import os
import socket
import tempfile
from pathlib import Path

_DOMAINS = 101
"""Up to this one no DDS port lies in Linux' ephemeral range."""


class Domain:
    """A ROS domain in which nobody else is on this machine, held until it is closed.

    Attributes:
        id: Its number.
    """

    def __init__(self) -> None:
        """Take one.

        Raises:
            RuntimeError: Every one is in use.
        """
        for offset in range(_DOMAINS):
            # Who begins somewhere else seldom has to try another.
            self.id = 1 + (os.getpid() + offset) % _DOMAINS
            path = Path(tempfile.gettempdir(), f"ros_domain_{self.id}.lock")
            self._lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
            try:
                # Others hold the lock from before their first node is there to be seen.
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not self._is_used():
                    return
            except OSError:
                pass
            os.close(self._lock)
        raise RuntimeError("every ROS domain is in use")

    def close(self) -> None:
        """Let go of it."""
        os.close(self._lock)

    def _is_used(self) -> bool:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                # The port of the first participant's discovery (DDSI-RTPS 2.5, 9.6.2.3).
                probe.bind(("", 7400 + 250 * self.id + 10))
            except OSError:
                return True
        return False
