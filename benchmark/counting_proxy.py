"""A TCP proxy that counts what a server sends."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread

_CHUNK = 1 << 16


class CountingProxy:
    """Forwards connections to a port of this machine, and counts the bytes of the responses.

    Attributes:
        port: The port to connect to.
        received: Bytes that the server has sent.
    """

    def __init__(self, target: int) -> None:
        self.received = 0
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
        address = ("127.0.0.1", self._target)
        with client, suppress(OSError), socket.create_connection(address) as server:
            requests = Thread(target=_forward, args=(client, server), daemon=True)
            requests.start()
            _forward(server, client, self._note)
            requests.join()

    def _note(self, count: int) -> None:
        with self._lock:
            self.received += count


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
