"""Command interfaces of joints."""

from enum import StrEnum


class Mode(StrEnum):
    """Meaning of an actuator's control input for its joint."""

    PD = "pd"
    POSITION = "position"
    VELOCITY = "velocity"
    EFFORT = "effort"


POSITION, VELOCITY, EFFORT = "position", "velocity", "effort"
INTERFACES = (POSITION, VELOCITY, EFFORT)
"""Quantities of a command, named as ros2_control's command interfaces."""

_INTERFACES = {
    Mode.PD: frozenset(INTERFACES),
    Mode.POSITION: frozenset({POSITION}),
    Mode.VELOCITY: frozenset({VELOCITY}),
    Mode.EFFORT: frozenset({EFFORT}),
}


def command_interfaces(modes: tuple[Mode, ...]) -> frozenset[str]:
    """Return the command interfaces of a joint whose inputs have `modes`; none if it is passive."""
    return frozenset().union(*(_INTERFACES[mode] for mode in modes))
