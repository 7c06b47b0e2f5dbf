"""The robots of a table of several: which state acts on which one."""

from collections.abc import Mapping
from dataclasses import replace

from mujoco_ros.controllers.fsm.table import CompositeState, ParallelState, StateDef
from mujoco_ros.model.errors import UserInputError, unknown


def with_robots(state: StateDef, robots: Mapping[str, str], where: str) -> StateDef:
    """Return a state in which every state inside has the robot of the enclosing one.

    Args:
        state: The state.
        robots: Names of robots by the name that the table uses.
        where: Beginning of an error message.

    Raises:
        UserInputError: A state names a robot that the table does not have, or that differs from
            the one of the enclosing state.
    """
    if state.robot and state.robot not in robots:
        if not robots:
            raise UserInputError(
                f"{where}: state '{state.path}' has the key 'robot', and the table has no key "
                "'robots'"
            )
        raise unknown("robot", state.robot, robots, where=f"{where}: state '{state.path}'")
    for child in state.children.values():
        if state.robot and child.robot not in ("", state.robot):
            raise UserInputError(
                f"{where}: state '{child.path}' acts on robot '{child.robot}', but it is inside "
                f"'{state.path}', which acts on robot '{state.robot}'"
            )
    children = {
        name: with_robots(replace(child, robot=child.robot or state.robot), robots, where)
        for name, child in state.children.items()
    }
    kind = state.kind
    if isinstance(kind, CompositeState):
        kind = replace(kind, states=children)
    elif isinstance(kind, ParallelState):
        kind = replace(kind, branches=children)
    return replace(state, kind=kind)
