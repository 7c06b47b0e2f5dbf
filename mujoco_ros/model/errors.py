"""Errors in the files, names and values that users give."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserInputError(ValueError):
    """A user's file, name or value is invalid; the message names it and the remedy."""


class NameTakenError(UserInputError):
    """Another element of the scene has the name."""


class NameInvalidError(UserInputError):
    """The name cannot be part of a ROS name."""


class NamespaceError(UserInputError):
    """The namespace is invalid, or another robot has it."""


class MissingFileError(UserInputError):
    """The file does not exist."""


class UnsupportedFormatError(UserInputError):
    """The format of the model cannot be read or merged."""


class ParseError(UserInputError):
    """The text of the model is invalid or does not compile."""


class NativeCodeError(UserInputError):
    """The scene names a plugin (native code) that must not be loaded."""


class MissingAssetError(UserInputError):
    """A file of the model, such as a mesh, is missing."""


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UserInputError:
    """Return the error for an unknown name; its message has the choices and the closest one.

    Args:
        kind: Kind of the named item, e.g. ``"keyframe"``.
        name: The name.
        known: The valid choices, in the order of the message.
        where: Beginning of the message, e.g. a file and key path.
    """
    choices = list(known)
    close = get_close_matches(name, choices, n=1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    listing = f"there are: {', '.join(choices)}" if choices else "there are none"
    prefix = f"{where}: " if where else ""
    return UserInputError(f"{prefix}{kind} '{name}' not found{hint}; {listing}")
