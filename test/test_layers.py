"""Imports point downwards only, and only the ROS layers know ROS."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "mujoco_ros"

_SIMULATION = {"rendering", "sim", "control", "model"}
MAY_IMPORT = {
    "model": {"model"},
    "control": {"control", "model.errors", "model.strict"},
    "sim": {"sim", "control", "model"},
    "rendering": {"rendering", "sim", "control", "model"},
    "fsm": {"fsm", "control", "model.errors", "model.strict"},
    "motion": {"motion", "control", "model"},
    "controllers": {"controllers", "fsm", "motion", "control", "model"},
    "hosting": {"hosting", "controllers", "fsm", "motion", *_SIMULATION},
    "evaluation": {"evaluation", "hosting", "controllers", "fsm", "motion", *_SIMULATION},
    "viewer": {"viewer", "sim", "control", "model", "fsm.layout"},
    "ros": {"ros", "hosting", "controllers", "fsm", "motion", "viewer.link", *_SIMULATION},
    "cli": {"cli", "ros", "viewer", "evaluation", "controllers", "fsm", *_SIMULATION},
    "__main__": {"cli"},
    "__init__": set(),
}
"""What of mujoco_ros each layer may import, from the ground up; a new layer needs a row."""

KNOW_ROS = {"ros", "cli"}
ROS_MODULES = {
    "ament_index_python",
    "builtin_interfaces",
    "cv_bridge",
    "launch",
    "launch_ros",
    "rclpy",
    "rosidl_runtime_py",
    "simulation_interfaces",
    "tf2_ros",
}
NO_PHYSICS = {"control", "fsm"}
"""Layers that do without MuJoCo."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


def imports(source: str) -> Iterator[str]:
    """Yield the full name of everything imported, inside functions as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
            else:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_ros(name: str) -> bool:
    top = name.partition(".")[0]
    return top in ROS_MODULES or top.endswith(("_msgs", "_srvs"))


def offences(where: str, source: str) -> list[str]:
    """Return the imports of a module in layer `where` that are not allowed."""
    found = []
    for name in imports(source):
        if name.startswith("."):
            found.append(f"{name} is a relative import")
        elif name.partition(".")[0] == "mujoco_ros":
            inner = name.partition(".")[2]
            if not any(inner == a or inner.startswith(f"{a}.") for a in MAY_IMPORT[where]):
                found.append(name)
        elif (is_ros(name) and where not in KNOW_ROS) or (
            name.partition(".")[0] == "mujoco" and where in NO_PHYSICS
        ):
            found.append(name)
    return found


def test_there_are_modules_to_look_at():
    assert {layer(path) for path in modules()} >= {"model", "control", "sim", "ros", "cli"}


def test_every_layer_has_a_row():
    assert {layer(path) for path in modules()} == set(MAY_IMPORT)


# One test for all modules: each by itself takes longer to announce than to look at.
def test_a_module_imports_only_what_its_layer_may():
    found = {
        str(path.relative_to(PACKAGE)): offences(layer(path), path.read_text(encoding="utf-8"))
        for path in modules()
    }
    assert {module: names for module, names in found.items() if names} == {}


def test_no_module_is_a_drawer_for_odds_and_ends():
    drawers = {"utils", "util", "helpers", "misc", "common"}
    assert [path for path in modules() if path.stem in drawers] == []


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("model", "import rclpy"),
        ("sim", "from sensor_msgs.msg import Imu"),
        ("sim", "def f():\n    from mujoco_ros.ros.node import MujocoNode"),
        ("sim", "import mujoco_ros.cli.sim"),
        ("sim", "from mujoco_ros import ros"),
        ("sim", "from mujoco_ros.sim import pacer\nfrom std_srvs.srv import Trigger"),
        ("model", "from mujoco_ros.control.gains import Gains"),
        ("model", "from mujoco_ros.sim import pacer"),
        ("control", "from mujoco_ros.model.layout import Joints"),
        ("control", "import mujoco"),
        ("fsm", "import mujoco"),
        ("fsm", "from mujoco_ros.motion.chain import Chain"),
        ("motion", "from mujoco_ros.fsm.state import State"),
        ("controllers", "from mujoco_ros.sim.simulation import Simulation"),
        ("hosting", "import rclpy"),
        ("viewer", "from mujoco_ros.fsm.machine import Machine"),
        ("ros", "from mujoco_ros.cli.sim import main"),
        ("ros", "from .names import topic_token"),
        ("cli", "from .. import ros"),
        ("viewer", "from mujoco_ros.ros.viewer.ros_link import RosLink"),
        ("rendering", "from mujoco_ros.viewer.link import Link"),
        ("ros", "from mujoco_ros.viewer.panels import panels"),
        ("__init__", "from mujoco_ros.sim.simulation import Simulation"),
    ],
)
def test_an_arrow_that_points_the_wrong_way_is_seen(where, source):
    assert len(offences(where, source)) == 1


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("control", "from mujoco_ros.model.errors import ModelError, unknown\nimport numpy"),
        ("sim", "from mujoco_ros.control.gains import Gains\nimport mujoco"),
        ("sim", "from mujoco_ros.model import layout"),
        ("ros", "from sensor_msgs.msg import Imu\nfrom tf2_ros import TransformBroadcaster"),
        ("cli", "def main():\n    import rclpy\n    from mujoco_ros.ros.node import MujocoNode"),
    ],
)
def test_an_arrow_that_points_downwards_is_fine(where, source):
    assert offences(where, source) == []
