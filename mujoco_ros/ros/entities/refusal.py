"""Why a request is not granted, in the standard's terms."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from simulation_interfaces.msg import Result

from mujoco_ros.model.errors import unknown
from mujoco_ros.ros.service import Answer

T = TypeVar("T")


class RefusedError(Exception):
    """A request is not granted; `code` is one of the results of its type."""

    def __init__(self, code: int, message: str) -> None:
        """Refuse with a code and a sentence that names the culprit."""
        super().__init__(message)
        self.code = int(code)


def not_found(kind: str, name: str, known: Iterable[str]) -> RefusedError:
    """Return the refusal of a name that is not among `known`."""
    return RefusedError(Result.RESULT_NOT_FOUND, str(unknown(kind, name, known)))


def failed(message: str) -> RefusedError:
    """Return the refusal of what cannot be done for a reason of its own."""
    return RefusedError(Result.RESULT_OPERATION_FAILED, message)


def grant(answer: Answer) -> None:
    """Answer that all went well."""
    answer.response.result.result = Result.RESULT_OK
    answer()


def refuse(answer: Answer, refused: RefusedError) -> None:
    """Answer that a request is not granted."""
    result = answer.response.result
    result.result, result.error_message = refused.code, str(refused)
    answer()


def granting(handler: Callable[[T, Any, Answer], None]) -> Callable[[T, Any, Answer], None]:
    """Have a method that handles requests answered with what it refuses."""

    @wraps(handler)
    def handle(self: T, request: Any, answer: Answer) -> None:
        try:
            handler(self, request, answer)
        except RefusedError as refused:
            refuse(answer, refused)

    return handle
