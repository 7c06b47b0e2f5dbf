"""Each part of the package imports only what its extra installs."""

import ast
import runpy
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import setuptools

from mujoco_ros.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mujoco_ros"
MODULES = {"PyYAML": "yaml", "pycollada": "collada"}
"""Names of modules, where pip has others."""
ROS = {"ament_index_python", "cv_bridge", "rclpy", "tf2_ros"}
PARTS = {
    "a script that steps a scene": ("", "sim.simulation", "model.scene.config"),
    "tools": ("", "cli.check_robot", "cli.export_urdf", "cli.new_extension", "cli.viewer"),
    "help": (
        "",
        *("cli.controller", "cli.export_log", "cli.fit", "cli.record", "cli.replay", "cli.sim"),
    ),
    "tools of controllers": ("", "cli.evaluate", "cli.draw_controller", "cli.import_policy"),
    "extensions": ("", "extensions.extension_set"),
    "identification": ("", "identification.fit"),
    "datasets": ("", "recording.demonstrations.lerobot_dataset"),
    "images of logs": ("images", "inspection.images"),
    "the viewer's window": ("", "cli.window", "viewer.window"),
    "the simulator": ("ROS", "bridge.node", "cli.node_process", "extensions.ros.library.forces"),
    "recorders": (
        "ROS",
        *("cli.recording_session", "cli.record_dataset", "recording.ros.replay_node"),
        "identification.ros.joint_bag",
    ),
    "cameras": ("ROS images", "cli.cameras"),
    "the controller node": ("ROS images", "controllers.ros.node.node"),
    "the viewer": ("ROS viewer", "viewer.page.server", "viewer.ros.node"),
    "shipped controllers": (
        "planning images policy",
        *(
            ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            for path in sorted((PACKAGE / "controllers" / "library").rglob("*.py"))
        ),
    ),
}
"""What each part needs, and the modules with which it begins."""


@cache
def module_imports(path: Path) -> frozenset[str]:
    """Return the full names that a module imports when it is imported itself."""
    return frozenset(_names(ast.parse(path.read_text(encoding="utf-8"))))


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _names(child)


def files_of(name: str) -> list[Path]:
    """Return the modules of this package that the import of a dotted name runs."""
    parts = name.split(".")[1:]
    folders = [PACKAGE.joinpath(*parts[:count]) for count in range(len(parts) + 1)]
    found = [folder / "__init__.py" for folder in folders]
    found += [folder.with_suffix(".py") for folder in folders]
    return [path for path in found if path.is_file()]


def foreign_modules(*names: str) -> set[str]:
    """Return the modules of other distributions that are imported with modules of this package."""
    rest = [file for name in names for file in files_of(f"mujoco_ros.{name}")]
    done: set[Path] = set()
    found: set[str] = set()
    while rest:
        path = rest.pop()
        if path in done:
            continue
        done.add(path)
        for name in module_imports(path):
            if name.startswith("mujoco_ros"):
                rest += files_of(name)
            else:
                found.add(name.partition(".")[0])
    return found - sys.stdlib_module_names


@pytest.fixture
def required(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The modules that the package always requires."""
    given: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path("setup.py", run_name="__main__")
    names = {requirement.partition(">")[0] for requirement in given["install_requires"]}
    return {MODULES.get(name, name) for name in names}


def is_of_ros(module: str) -> bool:
    return module in ROS or module.endswith(("_msgs", "_interfaces", "_srvs"))


def test_a_part_imports_only_what_its_extras_install(required: set[str]) -> None:
    excess = {}
    for part, (needs, *entries) in PARTS.items():
        extras = [name for name in needs.split() if name != "ROS"]
        allowed = required.union(*(EXTRAS[name] for name in extras))
        found = foreign_modules(*entries)
        if "ROS" in needs:
            found = {module for module in found if not is_of_ros(module)}
        excess[part] = found - allowed
    assert {part: found for part, found in excess.items() if found} == {}


def test_imports_of_the_package_are_followed() -> None:
    assert {"mujoco", "yaml"} <= foreign_modules("sim.simulation")
    assert {"rclpy", "tf2_msgs"} <= foreign_modules("bridge.node")
    assert "cv2" in foreign_modules("controllers.ros.node.image_requests")
