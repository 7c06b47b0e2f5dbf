"""What a joint can be commanded with."""

from enum import StrEnum


class Mode(StrEnum):
    """What an input of an actuator asks of its joint."""

    PD = "pd"
    POSITION = "position"
    VELOCITY = "velocity"
    EFFORT = "effort"


POSITION, VELOCITY, EFFORT = "position", "velocity", "effort"
INTERFACES = (POSITION, VELOCITY, EFFORT)
"""Quantities of a command, named as ros2_control's command interfaces."""

_TAKES = {
    Mode.PD: frozenset(INTERFACES),
    Mode.POSITION: frozenset({POSITION}),
    Mode.VELOCITY: frozenset({VELOCITY}),
    Mode.EFFORT: frozenset({EFFORT}),
}


def taken_by(modes: tuple[Mode, ...]) -> frozenset[str]:
    """Return the quantities that a joint with inputs of `modes` takes; none if it is passive."""
    return frozenset().union(*(_TAKES[mode] for mode in modes))
