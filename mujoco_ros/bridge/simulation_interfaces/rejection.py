"""Why a request is not granted, in the standard's terms."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from simulation_interfaces.msg import Result

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.model.errors import unknown

T = TypeVar("T")


class RequestRejectedError(Exception):
    """A request is not granted; `code` is one of the results of its type."""

    def __init__(self, code: int, message: str) -> None:
        """Refuse with a code and a sentence that names the culprit."""
        super().__init__(message)
        self.code = int(code)


def not_found(kind: str, name: str, known: Iterable[str]) -> RequestRejectedError:
    """Return the refusal of a name that is not among `known`."""
    return RequestRejectedError(Result.RESULT_NOT_FOUND, str(unknown(kind, name, known)))


def failed(message: str) -> RequestRejectedError:
    """Return the refusal of what cannot be done for a reason of its own."""
    return RequestRejectedError(Result.RESULT_OPERATION_FAILED, message)


def grant(answer: Responder) -> None:
    """Answer that all went well."""
    answer.response.result.result = Result.RESULT_OK
    answer()


def refuse(answer: Responder, refused: RequestRejectedError) -> None:
    """Answer that a request is not granted."""
    result = answer.response.result
    result.result, result.error_message = refused.code, str(refused)
    answer()


def granting(handler: Callable[[T, Any, Responder], None]) -> Callable[[T, Any, Responder], None]:
    """Have a method that handles requests answered with what it refuses."""

    @wraps(handler)
    def handle(self: T, request: Any, answer: Responder) -> None:
        try:
            handler(self, request, answer)
        except RequestRejectedError as refused:
            refuse(answer, refused)

    return handle
