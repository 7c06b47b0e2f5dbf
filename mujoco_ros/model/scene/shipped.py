"""The models and worlds of this package."""

from functools import cache
from pathlib import Path

from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.scene.config import RobotConfig, read_scene, shipped_scenes


def shipped_uri(path: Path) -> str | None:
    """Return the ``package://`` URI of a file of this package; None for other files."""
    share = share_directory().resolve()
    path = path.resolve()
    if not path.is_relative_to(share):
        return None
    return f"package://mujoco_ros/{path.relative_to(share).as_posix()}"


def shipped_models() -> list[Path]:
    """Return the shipped models of robots and objects."""
    folder = share_directory() / "urdf_mjcf"
    found = [path for suffix in ("xml", "urdf") for path in folder.glob(f"*/*.{suffix}")]
    return sorted(path for path in found if path.parent.name != "worlds")


def shipped_worlds() -> list[Path]:
    """Return the shipped worlds without robots."""
    return sorted((share_directory() / "urdf_mjcf" / "worlds").glob("*.xml"))


@cache
def _robots() -> dict[Path, RobotConfig]:
    found: dict[Path, RobotConfig] = {}
    for scene in shipped_scenes().values():
        config = read_scene(scene)
        for robot in config.robots:
            found.setdefault(config.path(robot.model), robot)
    return found


def shipped_settings(model: Path) -> RobotConfig | None:
    """Return the configuration of the robot in a file in the first shipped scene that has it."""
    return _robots().get(model.resolve())
