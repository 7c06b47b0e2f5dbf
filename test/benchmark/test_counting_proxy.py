"""The proxy that counts and delays what a server sends."""

import socket
import time
from threading import Thread

from benchmark.counting_proxy import counted


def test_the_bytes_of_responses_are_forwarded_and_counted():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                request = connection.recv(100)
                connection.sendall(request[::-1] * 50_000)

        Thread(target=answer, daemon=True).start()
        with counted(server.getsockname()[1]) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port)) as client:
                client.sendall(b"abc")
                with client.makefile("rb") as stream:
                    assert stream.read(150_000) == b"cba" * 50_000
            assert proxy.received == 150_000


def test_responses_are_as_slow_as_the_rate():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        counted(server.getsockname()[1]) as proxy,
        socket.create_connection(("127.0.0.1", proxy.port)) as client,
    ):
        proxy.rate = 1e5
        connection, _ = server.accept()
        with connection, client.makefile("rb") as stream:
            since = time.monotonic()
            Thread(target=connection.sendall, args=(bytes(40_000),), daemon=True).start()
            assert stream.read(40_000) == bytes(40_000)
            assert time.monotonic() - since >= 0.4
