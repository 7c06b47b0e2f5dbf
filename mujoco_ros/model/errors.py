"""The error a user's own files and names can cause."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserInputError(ValueError):
    """A file, name or value given by the user is wrong; the message names it and the remedy."""


class NameTakenError(UserInputError):
    """Something else in the scene has the name already."""


class NameInvalidError(UserInputError):
    """The name cannot be part of a ROS name."""


class NamespaceError(UserInputError):
    """The namespace is no valid one, or another robot's."""


class MissingFileError(UserInputError):
    """There is no such file."""


class UnsupportedFormatError(UserInputError):
    """The model is of a kind that cannot be read, or not be merged."""


class ParseError(UserInputError):
    """The model's text is wrong, or does not compile."""


class NativeCodeError(UserInputError):
    """The scene wants a plugin, code that runs with the user's rights, loaded where it must not."""


class MissingAssetError(UserInputError):
    """A file that the model needs, such as a mesh, is not there."""


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UserInputError:
    """Build the error for a name that is not among `known`, with the closest match first.

    Args:
        kind: What the name should have been, e.g. ``"keyframe"``.
        name: What was asked for.
        known: The valid choices, in the order to list them.
        where: Optional place of the mistake, e.g. a file and key path; put in front of the message.
    """
    choices = list(known)
    close = get_close_matches(name, choices, n=1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    listing = f"there are: {', '.join(choices)}" if choices else "there are none"
    prefix = f"{where}: " if where else ""
    return UserInputError(f"{prefix}{kind} '{name}' not found{hint}; {listing}")
