"""A TCP proxy that counts what a server sends."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

_CHUNK = 1 << 16


class CountingProxy:
    """Forwards connections to a port of this machine, and counts the bytes of the responses.

    Attributes:
        port: The port to connect to.
        received: Bytes that the server has sent.
    """

    def __init__(self, target: int) -> None:
        self.received = 0
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for source, sink, counts in ((client, server, False), (server, client, True)):
                    Thread(target=self._forward, args=(source, sink, counts), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if counts:
                    self.received += len(data)
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
