"""The address of the page, and which requests to it are accepted."""

import socket
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from mujoco_ros.viewer.page.access import AccessTokens
from mujoco_ros.viewer.page.listening import address_of, listen, obstacle, own_name


class PageAddress:
    """A listening socket, its names, and the tokens of a server that other machines can reach.

    Any page in a browser may send requests to this machine. So the Host header must be a name of
    this server, which DNS rebinding cannot fake, and the Origin header must be this server.
    """

    def __init__(self, host: str, port: int, token_folder: Path | None = None) -> None:
        """Bind to the first free port from `port` on, 0 is any; keep tokens in a folder, if any."""
        self.socket = listen(host, port)  # the listening socket
        self._name, self._requested_port = own_name(self.socket), port
        # The tokens that clients need; None if only this machine can reach the server
        self.tokens: AccessTokens | None = None
        self._names = {"localhost", host.lower()}
        # Another machine may claim the other names in the network and map them to loopback.
        if not address_of(self.socket).is_loopback:
            name = socket.gethostname().lower()
            short = name.partition(".")[0]
            self._names |= {name, short, f"{short}.local"}
            self.tokens = AccessTokens.kept(token_folder) if token_folder else AccessTokens()

    @property
    def port(self) -> int:
        """The bound port."""
        return int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """URL of the page for a browser on this machine."""
        return f"http://{self._name}:{self.port}/"

    @property
    def obstacle(self) -> str:
        """Why no browser on this machine can reach the page; empty if one can."""
        return obstacle(self.socket)

    @property
    def text(self) -> str:
        """The address of the page, and what to know about its port and its tokens."""
        text = self.url
        if self._requested_port not in (0, self.port):
            text += f" (port {self._requested_port} is taken)"
        if self.tokens is not None:
            text += "; the terminal has links with tokens"
            text += f", which are kept in {self.tokens.file}" if self.tokens.file else ""
        return text

    @property
    def cookie(self) -> str:
        """Name of the cookie with the token; browsers share cookies between ports."""
        return f"mujoco_ros_{self.port}"

    def refusal(self, headers: Headers) -> str:
        """Return the reason to reject a request; empty to accept it."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return f"{', '.join(hosts) or 'an empty name'} is not a name of this server"
        if any(origin.partition("://")[2] != hosts[0] for origin in origins):
            return f"pages of {', '.join(origins)} have no access to this server"
        return ""

    def _is_own(self, host: str) -> bool:
        """Return whether a Host header names this server; any IP address does."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self._names or bool(ip_address(name))
        except ValueError:
            return False
