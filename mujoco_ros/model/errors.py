"""The error a user's own files and names can cause."""

from collections.abc import Iterable
from difflib import get_close_matches


class ModelError(ValueError):
    """A file, name or value given by the user is wrong; the message names it and the remedy."""


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> ModelError:
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
    return ModelError(f"{prefix}{kind} '{name}' not found{hint}; {listing}")
