"""Topics and services of an extension, declared by decorators of its methods."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "extension_endpoint"
_DEFAULT_RATE_HZ = 50.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionEndpoint:
    """A topic or service of an extension, in the namespace of its robot."""

    role: Literal["publisher", "subscription", "service"]  # what the extension does with it
    kind: Any  # the type of the message or service
    name: str  # the name, below the name of the extension
    of_robot: bool = False  # whether the name is directly in the namespace of the robot
    rate_hz: float = 0.0  # rate of publishing [Hz of simulated time]
    method: str = ""  # name of the method


def publisher(
    kind: Any, name: str, rate_hz: float = _DEFAULT_RATE_HZ, *, of_robot: bool = False
) -> Callable[[F], F]:
    """Publish what a method ``(self) -> kind | None`` returns, while there are subscriptions.

    The topic `name` is below the name of the extension, or with `of_robot` directly in the
    namespace of the robot. The rate is in Hz of simulated time.
    """
    if not rate_hz > 0.0:
        raise ValueError(f"the rate of '{name}' must be positive, got {rate_hz}")
    return _marker("publisher", kind, name, of_robot=of_robot, rate_hz=rate_hz)


def subscription(kind: Any, name: str, *, of_robot: bool = False) -> Callable[[F], F]:
    """Call a method ``(self, message)`` with each message of a topic; see `publisher`."""
    return _marker("subscription", kind, name, of_robot=of_robot)


def service(kind: Any, name: str, *, of_robot: bool = False) -> Callable[[F], F]:
    """Call a method ``(self, request, response)``, which fills in the response, for a service.

    A `UserInputError` is the failure that the client receives.
    """
    return _marker("service", kind, name, of_robot=of_robot)


def endpoints_of(extension: type) -> list[ExtensionEndpoint]:
    """Return the endpoints that the methods of a class declare."""
    return [
        getattr(method, _MARK)
        for _, method in inspect.getmembers(extension, inspect.isfunction)
        if hasattr(method, _MARK)
    ]


def _marker(role: Any, kind: Any, name: str, **options: Any) -> Callable[[F], F]:
    def mark(method: F) -> F:
        endpoint = ExtensionEndpoint(
            role=role, kind=kind, name=name, method=method.__name__, **options
        )
        setattr(method, _MARK, endpoint)
        return method

    return mark
