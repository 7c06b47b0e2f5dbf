"""The title of the simulated scene."""

from mujoco_ros.sim.shared_memory.reader import SharedState

_TITLED_ROBOTS = 3


def scene_title(state: SharedState) -> str:
    """Return the scene's name, and the names of its first robots if they differ from it."""
    scene = str(state.metadata["scene"])
    names = [robot.name for robot in state.layout.robots]
    robots = ", ".join(names[:_TITLED_ROBOTS] + ["\u2026"] * (len(names) > _TITLED_ROBOTS))
    return scene if robots in ("", scene) else f"{scene} ({robots})"
