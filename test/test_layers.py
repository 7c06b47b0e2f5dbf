"""Imports point downwards only, and only the ROS layers import ROS."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "mujoco_ros"

_WORKERS = {"process.child_process", "process.limits", "process.worker_process"}
MAY_IMPORT = {
    "model": {"model", "extras", "process.limits"},
    "control": {"control", "native.plan", "model.errors", "model.strict"},
    "ros2_control": {"ros2_control", "control", "model.errors", "model.strict"},
    "process": {"process"},
    "native": {"native"},
    "extras": {"model.errors"},
    "entry_points": {"model.errors"},
    "sim": {"sim", "native", "control", "model", "process.heartbeat"},
    "rendering": {"rendering", "model"},
    "inspection": {"inspection", "rendering", "sim", "control", "model"},
    "recording": {"recording", "model"},
    "identification": {"identification", "sim", "control", "model"},
    "cameras": {"rendering", "sim", "model"},
    "viewer": {
        *("viewer", "sim", "control.pull", "model", "process.heartbeat", *_WORKERS),
        *("rendering.false_colour", "rendering.gl", "rendering.segmentation"),
        "viewer.ros",  # the clients of its node
    },
    "controllers.interface": {
        *("controllers.interface", "control", "model.errors", "model.naming", "model.pose"),
    },
    "controllers.fsm": {
        *("controllers.fsm", "controllers.interface", "control"),
        *("model.errors", "model.panel_items", "model.strict"),
    },
    "controllers.planning": {
        *("controllers.planning", "process.worker_process", "control", "model", "extras"),
        "controllers.interface.store",
    },
    "controllers.estimation": {"controllers.planning", "controllers.interface", "model"},
    "controllers.whole_body": {
        *("controllers.whole_body", "controllers.planning", "controllers.interface", "model"),
    },
    "controllers.library": {
        *(
            "controllers.library",
            "controllers.catalogue",
            "controllers.estimation",
            "controllers.whole_body",
        ),
        *("controllers.fsm", "controllers.interface", "controllers.planning"),
        *("control", "model", "extras"),
    },
    "controllers.catalogue": {"controllers.fsm", "entry_points", "extras", "model"},
    "controllers.runtime": {
        *("controllers.runtime", "controllers.fsm", "controllers.interface"),
        *("cameras", "process", "rendering", "sim", "control", "native.plan", "model"),
    },
    "controllers.evaluation": {
        *(
            "controllers.evaluation",
            "controllers.runtime",
            "controllers.library",
            "controllers.catalogue",
        ),
        *("controllers.fsm", "controllers.interface", "controllers.planning", "extras"),
        *("recording", "cameras", "process", "rendering", "sim", "control", "model"),
    },
    "rclpy_ext": {"rclpy_ext", "control.events", "model.errors"},
    "wire": {
        *("wire", "rclpy_ext.executor", "rclpy_ext.service", "model.errors", "model.naming"),
    },
    "bridge": {
        *("bridge", "native", "wire", "rclpy_ext", "process"),
        *("sim", "ros2_control", "control", "model"),
    },
    "bridge.node": {
        *("controllers.ros.hosted_controller", "cameras.ros", "extensions.ros", "recording.ros"),
        "controllers.ros.controller_settings",
        *("controllers.runtime", "bridge", "wire", "rclpy_ext", "sim", "control", "model"),
        "native",
    },
    "extensions": {"extensions", "native", "entry_points", "sim", "control", "model"},
    "extensions.ros.library": {"extensions", "model", "sim.grasp_quality"},
    "extensions.ros": {
        *("extensions.ros", "extensions", "wire", "rclpy_ext", "sim", "control.events", "model"),
        *("bridge.component", "bridge.diagnostics", "bridge.panel_server", "bridge.parameters"),
        "bridge.publishing.topic_publisher",
    },
    "cameras.ros": {
        *("cameras.ros", "cameras", "wire", "rclpy_ext"),
        *("process.heartbeat", "process.memory"),
        *("bridge.component", "bridge.diagnostics", "bridge.parameters", "bridge.ros_arguments"),
        *("bridge.publishing.topic_publisher", "rendering", "sim", "model"),
    },
    "recording.ros": {
        *("recording.ros", "recording", "wire", "rclpy_ext", "sim", "control", "model"),
        "native.plan",
        *("bridge.child_processes", "bridge.component", "cameras.ros"),
        *("bridge.diagnostics", "bridge.parameters", "bridge.publishing"),
        *("bridge.simulation_interfaces", "bridge.tf"),
    },
    "identification.ros": {"identification", "recording.ros.bag_reader", "model"},
    "viewer.ros": {
        *("viewer.ros", "viewer.clients", "viewer.colours", "viewer.message_shapes"),
        *("viewer.marker_descriptions", "viewer.panel_descriptions"),
        *("wire", "rclpy_ext", "rendering.false_colour", "control.events", "control.pull"),
        *("model.errors", "model.naming", "model.pose"),
    },
    "controllers.ros": {
        *("controllers.runtime", "controllers.fsm", "controllers.interface"),
        *("bridge.commands.rejection_log", "bridge.panel_server", "bridge.parameters.parameters"),
        *("wire", "rclpy_ext", "control", "model"),
    },
    "controllers.ros.node": {
        *("controllers.ros.node", "controllers.ros", "controllers.runtime"),
        *("controllers.catalogue", "controllers.interface", "controllers.planning"),
        *("bridge.diagnostics", "bridge.parameters.parameters"),
        *("wire", "rclpy_ext", "rendering.depth", "control", "model"),
        *("sim.controlled_joints", "sim.stepping.real_time"),
    },
    "controllers.ros.hosted_controller": {
        *("controllers.ros", "controllers.runtime"),
        *("controllers.catalogue", "controllers.interface", "controllers.planning"),
        *("bridge.component", "bridge.diagnostics", "bridge.parameters.parameters"),
        *("bridge.ros_arguments", "wire.controller_messages", "rclpy_ext"),
        *("sim", "control", "model"),
    },
    "cli": {
        *("cli", "bridge.node", "bridge.ros_arguments", "wire", "rclpy_ext", "process", "native"),
        *("cameras", "cameras.ros", "recording", "recording.ros", "viewer", "viewer.ros"),
        *("controllers.evaluation", "controllers.fsm", "controllers.library"),
        "controllers.catalogue",
        *("controllers.ros.node", "controllers.runtime", "extensions.template", "extras"),
        *("inspection", "identification", "identification.ros", "rendering", "sim", "model"),
    },
    "__main__": {"cli"},
    "__init__": set(),
    "controllers.__init__": set(),
}
"""Allowed imports of each layer, from the bottom up; a new layer needs a row."""

WINGS = {"controllers.library", "controllers.evaluation", "identification"}
"""Parts that the core finds by folder or entry point; only executables and other wings import them.
"""
KNOW_ROS = {
    *("rclpy_ext", "wire", "bridge", "bridge.node", "cli"),
    *("cameras.ros", "recording.ros", "viewer.ros", "extensions.ros", "identification.ros"),
    *("controllers.ros", "controllers.ros.node", "controllers.ros.hosted_controller"),
    "extensions.ros.library",  # each extension is imported only if a scene lists it
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
NO_PHYSICS = {
    *(
        "control",
        "ros2_control",
        "process",
        "recording",
        "controllers.interface",
        "controllers.fsm",
    ),
    *("rclpy_ext", "wire"),
}
"""Layers that do without MuJoCo."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def row_of(name: str) -> str:
    """Return the row of a module: the longest one that its dotted name begins with."""
    rows = (row for row in MAY_IMPORT if f"{name}.".startswith(f"{row}."))
    return max(rows, key=len, default=name)


def permissions(where: str, name: str) -> set[str]:
    """Return what allows a module in a row; rows below it are not included."""
    row = row_of(name)
    return {
        allowed
        for allowed in MAY_IMPORT[where]
        if f"{name}.".startswith(f"{allowed}.")
        and (len(allowed) >= len(row) or row not in MAY_IMPORT)
    }


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


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Return the full names of all imports of a module."""
    return tuple(imports(path.read_text(encoding="utf-8")))


def imported_module(name: str) -> str:
    """Return the module of this package that has an imported name."""
    parts = name.split(".")[1:]
    while parts and not PACKAGE.joinpath(*parts).with_suffix(".py").is_file():
        parts.pop()
    return ".".join(parts) or "__init__"


def is_ros(name: str) -> bool:
    top = name.partition(".")[0]
    return top in ROS_MODULES or top.endswith(("_msgs", "_srvs"))


def offences(where: str, names: Iterable[str]) -> list[str]:
    """Return the imports of a module in layer `where` that are not allowed."""
    found = []
    for name in names:
        if name.startswith("."):
            found.append(f"{name} is a relative import")
        elif name.partition(".")[0] == "mujoco_ros":
            inner = name.partition(".")[2]
            if not permissions(where, inner):
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
        str(path.relative_to(PACKAGE)): offences(layer(path), imports_of(path))
        for path in modules()
    }
    assert {module: names for module, names in found.items() if names} == {}


def test_each_permission_is_the_only_one_for_an_import():
    needed: dict[str, set[str]] = {row: set() for row in MAY_IMPORT}
    for path in modules():
        where = layer(path)
        for name in imports_of(path):
            top, _, inner = name.partition(".")
            found = permissions(where, inner) if top == "mujoco_ros" else set()
            needed[where] |= found if len(found) == 1 else set()
    unused = {row: MAY_IMPORT[row] - needed[row] for row in MAY_IMPORT}
    assert {row: found for row, found in unused.items() if found} == {}


def test_only_the_bridge_may_import_all_of_the_bridge():
    assert {row for row, allowed in MAY_IMPORT.items() if "bridge" in allowed} == {
        row for row in MAY_IMPORT if row.partition(".")[0] == "bridge"
    }


def test_the_core_imports_no_wing():
    wings = {row for row in MAY_IMPORT if any(f"{row}.".startswith(f"{it}.") for it in WINGS)}
    core = MAY_IMPORT.keys() - wings - {"cli"}
    assert core > {"bridge", "controllers.ros.node", "controllers.catalogue", "viewer"}
    assert {row: MAY_IMPORT[row] & wings for row in core if MAY_IMPORT[row] & wings} == {}
    assert [row for row in core if {"controllers", "mujoco_ros"} & MAY_IMPORT[row]] == []


def test_no_modules_import_each_other_in_a_circle():
    imported = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): {
            imported_module(name) for name in imports_of(path) if name.startswith("mujoco_ros.")
        }
        for path in modules()
    }
    TopologicalSorter(imported).prepare()  # raises CycleError


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
        ("viewer", "from sensor_msgs.msg import Image"),
        ("rendering", "from mujoco_ros.viewer.clients import Request"),
        ("inspection", "from mujoco_ros.bridge.topic_names import within"),
        ("viewer.ros", "from mujoco_ros.viewer.page.panels import PANELS"),
        ("viewer.ros", "from mujoco_ros.bridge.publishing.topics import robot_topics"),
        ("controllers.ros.node", "from mujoco_ros.sim.plant import Plant"),
        (
            "controllers.ros.node",
            "from mujoco_ros.controllers.library.walk.walk_states import Walk",
        ),
        ("bridge.node", "from mujoco_ros.identification.fit import fit"),
        ("controllers.runtime", "from mujoco_ros.controllers.evaluation.trial import Trial"),
        ("controllers.ros.node", "from mujoco_ros.bridge.component import Component"),
        ("wire", "import mujoco"),
        ("wire", "from mujoco_ros.model.robot.layout import RobotLayout"),
        ("wire", "from mujoco_ros.bridge.component import Component"),
        ("rclpy_ext", "from mujoco_ros.sim.command_queue import CommandQueue"),
        ("rclpy_ext", "from mujoco_ros.wire.conversions import stamp"),
        ("__init__", "from mujoco_ros.sim.simulation import Simulation"),
    ],
)
def test_an_upward_import_is_detected(where, source):
    assert len(offences(where, imports(source))) == 1


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
    assert offences(where, imports(source)) == []
