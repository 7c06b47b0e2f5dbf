"""What a request brings along: a file, or a text."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mujoco_ros.bridge.simulation_interfaces.rejection import RequestRejectedError, failed
from mujoco_ros.model.errors import (
    MissingAssetError,
    MissingFileError,
    NameInvalidError,
    NamespaceError,
    NameTakenError,
    NativeCodeError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.uri import resolve

CODES: tuple[tuple[type[UserInputError], str], ...] = (
    (NameTakenError, "NAME_NOT_UNIQUE"),
    (NameInvalidError, "NAME_INVALID"),
    (NamespaceError, "NAMESPACE_INVALID"),
    (UnsupportedFormatError, "UNSUPPORTED_FORMAT"),
    (MissingFileError, "NO_RESOURCE"),
    (MissingAssetError, "MISSING_ASSETS"),
    (NativeCodeError, "UNSUPPORTED_ELEMENTS"),
    (ParseError, "RESOURCE_PARSE_ERROR"),
)
"""What the standard calls the errors a resource can have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceSource:
    """Where a description is: at a URI, or else it is this text."""

    uri: str
    text: str

    def path(self) -> Path:
        """Return the file.

        Raises:
            MissingFileError: The URI is none that could be a file here, or is relative.
        """
        if "://" not in self.uri and not Path(self.uri).expanduser().is_absolute():
            raise MissingFileError(
                f"'{self.uri}' is a relative path; give file:///<path>, "
                "package://<package>/<path> or an absolute path"
            )
        try:
            return resolve(self.uri, Path("/"))
        except UserInputError as error:
            raise MissingFileError(str(error)) from error


def source(message: Any, field: str, codes: Any) -> ResourceSource:
    """Return what a message names; where both are given, the URI counts.

    Args:
        message: A request; older versions have the two parts of a resource in itself.
        field: Where newer ones have it.
        codes: The response, which has the codes to refuse with.

    Raises:
        RefusedError: Neither a URI nor a text is given.
    """
    resource = getattr(message, field, message)
    if not resource.uri and not resource.resource_string.strip():
        raise RequestRejectedError(
            codes.NO_RESOURCE, "there is neither a uri nor a resource_string"
        )
    return ResourceSource(uri=resource.uri, text=resource.resource_string)


def name_source(message: Any, field: str, uri: str, text: str = "") -> None:
    """Write into a message where a description is, the opposite of `source`."""
    resource = getattr(message, field, message)
    resource.uri = uri
    if hasattr(resource, "resource_string"):
        resource.resource_string = text


def refusal(error: Exception, codes: Any, *, otherwise: str = "") -> RequestRejectedError:
    """Return the refusal that says of an error what the standard can say of it.

    Args:
        error: What prevented a change of the model.
        codes: A type with the codes to choose from.
        otherwise: The code for errors of a model that have none of their own.
    """
    if isinstance(error, RequestRejectedError):
        return error
    for kind, code in CODES:
        if isinstance(error, kind) and hasattr(codes, code):
            return RequestRejectedError(getattr(codes, code), str(error))
    if otherwise and isinstance(error, UserInputError):
        return RequestRejectedError(getattr(codes, otherwise), str(error))
    return failed(str(error) or repr(error))
