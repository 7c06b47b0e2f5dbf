"""A TCP proxy that counts and delays what a server sends."""

import math
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread

_CHUNK, _BUFFER = 1 << 12, 1 << 15
"""Bytes that are read at once, and that a connection may keep: a slow network keeps few."""


class CountingProxy:
    """Forwards connections to a port of this machine, and counts the bytes of the responses.

    Attributes:
        port: The port to connect to.
        received: Bytes that the server has sent.
        rate: Largest number of such bytes in a second, of all connections together.
    """

    def __init__(self, target: int) -> None:
        self.received, self.rate = 0, math.inf
        self._free_at = 0.0
        self._target, self._lock = target, Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        """Forward in both directions until both have ended."""
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        with client, suppress(OSError), socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            server.connect(("127.0.0.1", self._target))
            requests = Thread(target=_forward, args=(client, server), daemon=True)
            requests.start()
            _forward(server, client, self._note)
            requests.join()

    def _note(self, count: int) -> None:
        """Count, and wait as long as the transfer takes."""
        now = time.monotonic()
        with self._lock:
            self.received += count
            self._free_at = max(self._free_at, now) + count / self.rate
            wait = self._free_at - now
        time.sleep(wait)


def _forward(
    source: socket.socket, sink: socket.socket, note: Callable[[int], object] = lambda _: None
) -> None:
    """Send all that a connection receives to another one, and then its end."""
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            note(len(data))
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def counted(target: int) -> Iterator[CountingProxy]:
    """Run a proxy for a port."""
    proxy = CountingProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
