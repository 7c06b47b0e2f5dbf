"""Names for what brings none, or one that is taken."""

import re
from collections.abc import Container

_LONGEST = 50


def as_name(text: str) -> str:
    """Return what of `text` a robot or object can be called; empty if nothing."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:_LONGEST]
    return name if not name or name[0].isalpha() else f"model_{name}"[:_LONGEST]


def free_name(wanted: str, taken: Container[str]) -> str:
    """Return `wanted`, or if that is taken the first of wanted_1, wanted_2, … that is not."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted[:_LONGEST]}_{number}"
    return name
