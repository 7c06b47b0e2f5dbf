"""The listening socket of the page, and whether browsers can reach it."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from mujoco_ros.model.errors import UserInputError

_PORTS_TRIED = 20
_BACKLOG = 128
_LOOPBACK, _LOOPBACK_6, _LOCALHOST = "127.0.0.1", "::1", "localhost"
_CONNECT_S = 1.0


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the first free port from `port` on; 0 is any."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UserInputError(f"the viewer's host {host!r} is unknown: {error}") from error
    family, _, _, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
    failure: OSError | None = None
    for candidate in range(port, min(port + _PORTS_TRIED, 2**16)) if port else [0]:
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], candidate))
            bound.listen(_BACKLOG)  # fails for a taken port; SO_REUSEADDR lets two bind
            return bound
        except OSError as error:
            failure = error
            bound.close()
    raise UserInputError(f"the viewer cannot listen at {host} from port {port} on: {failure}")


def own_name(listening: socket.socket) -> str:
    """Return the host in a URL for a browser of this machine: ``localhost`` if it leads there."""
    *others, address = _names(listening)
    name = next((other for other in others if _reaches(other, listening)), address)
    return f"[{name}]" if ":" in name else name


def obstacle(listening: socket.socket) -> str:
    """Return why no browser of this machine reaches the socket of a page; empty if one does."""
    names = _names(listening)
    if any(_reaches(name, listening) for name in names):
        return ""
    with socket.socket() as private:
        private.bind((_LOOPBACK, 0))
        private.listen()
        if not _reaches(_LOOPBACK, private):
            return "the loopback interface is down ('ip link set lo up' starts it)"
    return f"nothing at {names[-1]} port {listening.getsockname()[1]} answers"


def _names(listening: socket.socket) -> list[str]:
    """Return the names by which this machine may reach a listening socket, its address last."""
    own = address_of(listening)
    if own.is_unspecified:
        return [_LOCALHOST, _LOOPBACK if own.version == 4 else _LOOPBACK_6]
    return [_LOCALHOST, str(own)] if own.is_loopback else [str(own)]


def address_of(listening: socket.socket) -> IPv4Address | IPv6Address:
    """Return the address of a listening socket."""
    return ip_address(listening.getsockname()[0])


def _reaches(name: str, listening: socket.socket) -> bool:
    """Return whether a name leads to a listening socket, at the first address that answers."""
    own, port = address_of(listening), int(listening.getsockname()[1])
    try:
        with socket.create_connection((name, port), timeout=_CONNECT_S) as connection:
            peer = ip_address(connection.getpeername()[0])
    except OSError:
        return False
    # No other socket of a family listens at the port of one without an address; IPv6 has both.
    return peer == own or (own.is_unspecified and own.version >= peer.version)
