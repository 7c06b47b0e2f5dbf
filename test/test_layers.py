"""Imports point downwards only, and only the ROS layers import ROS."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "mujoco_ros"

_SIMULATION = {"rendering", "sim", "control", "model"}
_BASICS = {"model.errors", "model.panel_items", "model.pose", "model.strict"}
_INTERFACE = {"controllers.interface", "control", *_BASICS}
_MODEL = {*_INTERFACE, "model"}
_CONTROLLERS = {
    *("controllers.estimation", "controllers.whole_body"),
    *("controllers.library", "controllers.fsm", "controllers.interface", "controllers.planning"),
    *("control", "model", "extras", "entry_points"),
}
_RUNTIME = {"controllers.runtime", "cameras", "process", *_CONTROLLERS, *_SIMULATION}
_BRIDGE = {"bridge", "process", *_RUNTIME}
_LEAVES = {"cameras.ros", "recording.ros", "viewer.ros", "controllers.ros", "extensions.ros"}
MAY_IMPORT = {
    "model": {"model", "extras", "process.limited_call", "process.worker_limits"},
    "control": {"control", *_BASICS},
    "process": {"process"},
    "extras": {"model.errors"},
    "entry_points": {"model.errors"},
    "sim": {"sim", "control", "model", "process.heartbeat"},
    "rendering": {"rendering", "sim", "control", "model"},
    "inspection": {"inspection", *_SIMULATION},
    "recording": {"recording", "model"},
    "identification": {"identification", "sim", "control", "model"},
    "cameras": {"cameras", *_SIMULATION},
    "viewer": {
        *("viewer", "sim", "control", "model", "process.child_process", "process.heartbeat"),
        *("process.worker_limits", "process.worker_process"),
        *("controllers.fsm.diagram.layout", "rendering.false_colour", "rendering.segmentation"),
    },
    "controllers.interface": _INTERFACE,
    "controllers.fsm": {"controllers.fsm", *_INTERFACE},
    "controllers.planning": {"controllers.planning", "process", "control", "model", "extras"},
    "controllers.estimation": {"controllers.estimation", "controllers.planning", *_MODEL},
    "controllers.whole_body": {"controllers.whole_body", "controllers.planning", *_MODEL},
    "controllers.library": _CONTROLLERS,
    "controllers.runtime": _RUNTIME,
    "controllers.evaluation": {"controllers.evaluation", "recording", *_RUNTIME},
    "bridge": _BRIDGE,
    "bridge.composition": {*_LEAVES, *_BRIDGE},
    "bridge.node": {"bridge.composition", *_BRIDGE},
    "extensions": {"extensions", "entry_points", "sim", "control", "model"},
    "extensions.ros.library": {"extensions", "sim", "control", "model"},
    "extensions.ros": {"extensions.ros", "extensions", *_BRIDGE},
    "cameras.ros": {"cameras.ros", "cameras", *_BRIDGE},
    "recording.ros": {"recording.ros", "recording", *_BRIDGE},
    "identification.ros": {"identification", "recording.ros.bag_reader", "model"},
    "viewer.ros": {
        *("viewer.ros", "viewer.clients", "viewer.message_shapes", "viewer.message_fields"),
        *("viewer.panel_descriptions", "viewer.entity_client", "viewer.interactive_markers"),
        *("viewer.triangles", "viewer.printable_text"),
        *_BRIDGE,
    },
    "controllers.ros": {"controllers.ros", "cameras.ros", *_BRIDGE},
    "cli": {
        *("cli", "bridge.node", "cameras", "recording", "viewer", "controllers.evaluation"),
        *("extensions.template", "extras", "inspection", "identification", "identification.ros"),
        *_LEAVES,
        *_BRIDGE,
    },
    "__main__": {"cli"},
    "__init__": set(),
    "controllers.__init__": set(),
}
"""Allowed imports of each layer, from the bottom up; a new layer needs a row."""

KNOW_ROS = {
    *("bridge", "bridge.composition", "bridge.node", "cli"),
    "identification.ros",
    "extensions.ros.library",  # each extension is imported only if a scene lists it
    *_LEAVES,
}
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
NO_PHYSICS = {"control", "process", "recording", "controllers.interface", "controllers.fsm"}
"""Layers that do without MuJoCo."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def row_of(name: str) -> str:
    """Return the row of a module: the longest one that its dotted name begins with."""
    rows = (row for row in MAY_IMPORT if f"{name}.".startswith(f"{row}."))
    return max(rows, key=len, default=name)


def may_import(where: str, name: str) -> bool:
    """Return whether a row allows a module; rows below it are not included."""
    row = row_of(name)
    return any(
        f"{name}.".startswith(f"{allowed}.") and (len(allowed) >= len(row) or row not in MAY_IMPORT)
        for allowed in MAY_IMPORT[where]
    )


def layer(path: Path) -> str:
    return row_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))


def imports(source: str) -> Iterator[str]:
    """Yield the full names of all imports, also inside functions."""
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
            if not may_import(where, inner):
                found.append(name)
        elif (is_ros(name) and where not in KNOW_ROS) or (
            name.partition(".")[0] == "mujoco" and where in NO_PHYSICS
        ):
            found.append(name)
    return found


def test_there_are_modules_to_check():
    assert {layer(path) for path in modules()} >= {"model", "control", "sim", "bridge", "cli"}


def test_every_layer_has_a_row():
    assert {layer(path) for path in modules()} == set(MAY_IMPORT)


# One test for all modules: a test for each would take longer than the check.
def test_a_module_imports_only_allowed_layers():
    found = {
        str(path.relative_to(PACKAGE)): offences(layer(path), path.read_text(encoding="utf-8"))
        for path in modules()
    }
    assert {module: names for module, names in found.items() if names} == {}


def test_no_module_is_a_collection_of_utilities():
    drawers = {"utils", "util", "helpers", "misc", "common"}
    assert [path for path in modules() if path.stem in drawers] == []


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("model", "import rclpy"),
        ("sim", "from sensor_msgs.msg import Imu"),
        ("sim", "def f():\n    from mujoco_ros.bridge.node import MujocoNode"),
        ("sim", "import mujoco_ros.cli.sim"),
        ("sim", "from mujoco_ros import bridge"),
        ("sim", "from mujoco_ros.sim import pacer\nfrom std_srvs.srv import Trigger"),
        ("model", "from mujoco_ros.control.gains import Gains"),
        ("model", "from mujoco_ros.sim import pacer"),
        ("control", "from mujoco_ros.model.robot.layout import Joints"),
        ("control", "import mujoco"),
        ("controllers.fsm", "import mujoco"),
        ("controllers.fsm", "from mujoco_ros.controllers.planning.kinematics.chain import Chain"),
        ("controllers.planning", "from mujoco_ros.controllers.fsm.state import State"),
        ("controllers.library", "from mujoco_ros.sim.simulation import Simulation"),
        ("controllers.runtime", "import rclpy"),
        ("viewer", "from mujoco_ros.controllers.fsm.machine import Machine"),
        ("bridge", "from mujoco_ros.cli.sim import main"),
        ("bridge", "from .topic_names import within"),
        ("cli", "from .. import bridge"),
        ("viewer", "from mujoco_ros.viewer.ros.node import ViewerNode"),
        ("rendering", "from mujoco_ros.viewer.clients import Clients"),
        ("inspection", "from mujoco_ros.bridge.topic_names import within"),
        ("viewer.ros", "from mujoco_ros.viewer.panels import panels"),
        ("__init__", "from mujoco_ros.sim.simulation import Simulation"),
    ],
)
def test_an_upward_import_is_detected(where, source):
    assert len(offences(where, source)) == 1


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("control", "from mujoco_ros.model.errors import ModelError, unknown\nimport numpy"),
        ("sim", "from mujoco_ros.control.gains import Gains\nimport mujoco"),
        ("sim", "from mujoco_ros.model import layout"),
        ("bridge", "from sensor_msgs.msg import Imu\nfrom tf2_ros import TransformBroadcaster"),
        ("cli", "def main():\n    import rclpy\n    from mujoco_ros.bridge.node import MujocoNode"),
    ],
)
def test_a_downward_import_is_allowed(where, source):
    assert offences(where, source) == []
