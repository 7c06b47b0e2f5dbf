"""The package metadata for colcon, rosdep and RViz; needs no ROS distribution."""

import ast
import functools
import importlib
import re
import runpy
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
import setuptools
from catkin_pkg.package import parse_package

import mujoco_ros
from mujoco_ros.extras import EXTRAS, requirements_of

ROOT = Path(__file__).resolve().parents[2]
LAUNCH_FILES = sorted((ROOT / "launch").glob("*.launch.py"))
# Python modules whose package has another name (rosdep/python.yaml in ros/rosdistro; geometry2).
ROSDEP_KEYS = {
    "catkin_pkg": "python3-catkin-pkg-modules",
    "cv2": "python3-opencv",
    "hypothesis": "python3-hypothesis",
    "lz4": "mcap-ros2-support",
    "mcap": "mcap-ros2-support",
    "mujoco": "python3-mujoco-pip",
    "PIL": "python3-pil",
    "numpy": "python3-numpy",
    "matplotlib": "python3-matplotlib",
    "pygraphviz": "python3-pygraphviz",
    "pytest": "python3-pytest",
    "regex": "python3-regex",
    "rosbags": "python3-rosbags-pip",
    "scipy": "python3-scipy",
    "setuptools": "python3-setuptools",
    "tf2_ros": "tf2_ros_py",
    "trimesh": "python3-trimesh-pip",
    "websockets": "python3-mujoco-pip",  # MuJoCo Studio requires it
    "yaml": "python3-yaml",
    "zstandard": "mcap-ros2-support",
}
WITHOUT_KEY = {
    *("av", "coacd", "daqp", "jax", "mink", "ompl", "onnx", "onnxruntime"),
    *("fastapi", "nicegui", "pydantic", "starlette", "uvicorn"),  # of the extra viewer
    *("playwright", "qpsolvers", "ray", "toppra", "unitree_go"),
}
"""Modules that rosdep cannot install."""
FROM_ROS = {"ament_index_python", "cv_bridge", "rclpy", "tf2_ros", "unitree_go"}
"""Modules of ROS packages, without those of messages whose names end as usual."""
NOT_INSTALLED = {"moveit_ros_move_group", "moveit_ros_planning"}
"""Packages of launch files that are too large to be installed for all users."""
DISTRIBUTIONS = {"yaml": "PyYAML"}
"""Names of modules at pip, where they differ."""


_IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
"""The first word of an import, or of a line of a text; one name is imported a line."""


@functools.cache
def imports_of(folder: str) -> dict[str, Path]:
    """Return the top-level modules that a folder's Python files import, each with one importer."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in sorted((ROOT / folder).rglob("*.py")):
        for module in set(_IMPORT.findall(file.read_text())):
            found[module].append(file)
    known = sys.stdlib_module_names | {"mujoco_ros"}
    importers = {
        module: next((file for file in files if module in imported_by(file)), None)
        for module, files in found.items()
        if module not in known
    }
    return {module: file for module, file in importers.items() if file is not None}


@functools.cache
def imported_by(file: Path) -> set[str]:
    """Return the top-level modules that a file imports, without those in its texts."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


def nodes_of(file: Path) -> set[str]:
    """Return the packages whose nodes a launch file starts."""
    return {
        keyword.value.value
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Node"
        for keyword in call.keywords
        if keyword.arg == "package" and isinstance(keyword.value, ast.Constant)
    }


@pytest.fixture(scope="module")
def dependencies() -> set[str]:
    return {d.name for d in parse_package(str(ROOT / "package.xml")).exec_depends}


@pytest.fixture
def setup_arguments(monkeypatch: pytest.MonkeyPatch) -> dict:
    """Return the arguments of setup.py to setuptools."""
    given: dict = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path("setup.py", run_name="__main__")
    return given


def test_package_xml_is_a_valid_ament_python_package():
    package = parse_package(str(ROOT / "package.xml"))
    warnings: list[str] = []
    package.validate(warnings=warnings)
    assert warnings == []
    assert package.package_format == 3
    assert package.get_build_type() == "ament_python"


@pytest.mark.parametrize("folder", ["mujoco_ros", "launch"])
def test_package_xml_lists_all_imports(dependencies, folder):
    imported = imports_of(folder)
    assert imported
    imported = {m: f for m, f in imported.items() if m not in WITHOUT_KEY}
    missing = {m: f for m, f in imported.items() if ROSDEP_KEYS.get(m, m) not in dependencies}
    assert missing == {}


def test_package_xml_lists_all_imports_of_tests(dependencies):
    known = dependencies | {d.name for d in parse_package(str(ROOT / "package.xml")).test_depends}
    imported = imports_of("test")
    own = {file.stem for file in (ROOT / "test").rglob("*.py")}
    own |= {file.parent.name for file in ROOT.glob("*/__init__.py")}
    own |= {file.stem for file in (ROOT / "docs").glob("*.py")} | WITHOUT_KEY
    missing = {
        module: file
        for module, file in imported.items()
        if module not in own and ROSDEP_KEYS.get(module, module) not in known
    }
    assert missing == {}


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_package_xml_lists_all_packages_of_launch_files(dependencies, file):
    started = nodes_of(file)
    assert started or "IncludeLaunchDescription" in file.read_text()
    assert started - {"mujoco_ros", *NOT_INSTALLED} <= dependencies


def test_pip_installs_every_module_that_is_not_from_ros(setup_arguments):
    required = {r.split(">")[0] for r in setup_arguments["install_requires"]}
    optional = {module for modules in EXTRAS.values() for module in modules}
    imported = {
        module
        for module in imports_of("mujoco_ros")
        if module not in FROM_ROS and not module.endswith(("_interfaces", "_msgs", "_srvs"))
    }
    assert optional <= imported
    assert {DISTRIBUTIONS.get(module, module) for module in imported - optional} <= required
    assert not optional & required


def test_pip_builds_the_compiled_part_with_the_engine_that_it_installs(setup_arguments):
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    engine = next(each for each in built if each.startswith("mujoco"))
    assert engine in setup_arguments["install_requires"]


def test_the_extras_of_setup_py_are_the_optional_parts_and_all_of_them(setup_arguments):
    extras = {name: set(given) for name, given in setup_arguments["extras_require"].items()}
    wanted = {name: set(requirements_of(modules)) for name, modules in EXTRAS.items()}
    assert extras.pop("test") == {"pytest"}
    assert extras.pop("all") == set().union(*wanted.values())
    wanted["evaluation"] |= wanted["planning"] | wanted["images"]  # for the shipped evaluations
    assert extras == wanted


def test_make_setup_installs_every_optional_part():
    locked = (ROOT / "requirements" / "jazzy.txt").read_text()
    names = {line.split("==")[0] for line in locked.splitlines()}
    every = [module for modules in EXTRAS.values() for module in modules]
    assert set(requirements_of(dict.fromkeys(every, ""))) <= names


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_launch_files_compile_and_describe_themselves(file):
    tree = ast.parse(file.read_text(), str(file))
    compile(tree, str(file), "exec")
    assert ast.get_docstring(tree)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert "generate_launch_description" in functions


def test_every_argument_of_a_launch_file_is_described_by_sentences():
    texts = {}
    for file in LAUNCH_FILES:
        for call in ast.walk(ast.parse(file.read_text())):
            if getattr(getattr(call, "func", None), "id", "") == "DeclareLaunchArgument":
                given = {keyword.arg: keyword.value for keyword in call.keywords}
                name = f"{file.name} {ast.unparse(call.args[0])}"
                texts[name] = ast.literal_eval(given["description"])
    assert texts
    assert {n: t for n, t in texts.items() if not (t[0].isupper() and t.endswith("."))} == {}


def test_setup_agrees_with_the_package(setup_arguments):
    package = parse_package(str(ROOT / "package.xml"))
    assert setup_arguments["name"] == package.name
    assert setup_arguments["version"] == package.version == mujoco_ros.__version__
    assert setup_arguments["license"] == package.licenses[0]


def test_every_shared_file_is_installed_at_its_path_of_the_source_tree(setup_arguments):
    installed = {
        (target, source) for target, files in setup_arguments["data_files"] for source in files
    }
    shared = [
        file.relative_to(ROOT)
        for folder in ("config", "launch", "urdf_mjcf")
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    ]
    assert {file.parts[0] for file in shared} == {"config", "launch", "urdf_mjcf"}
    expected = {(f"share/mujoco_ros/{f.parent}", str(f)) for f in shared}
    expected |= {
        ("share/mujoco_ros", "package.xml"),
        ("share/ament_index/resource_index/packages", "resource/mujoco_ros"),
    }
    assert installed == expected


def test_only_the_package_itself_is_installed(setup_arguments):
    packages = set(setup_arguments["packages"])
    assert {name.split(".")[0] for name in packages} == {"mujoco_ros"}
    folders = {f.parent for f in (ROOT / "mujoco_ros").rglob("*.py")}
    assert packages == {".".join(folder.relative_to(ROOT).parts) for folder in folders}


def test_every_executable_is_a_function_that_exists(setup_arguments):
    scripts = dict(
        script.split(" = ") for script in setup_arguments["entry_points"]["console_scripts"]
    )
    assert set(scripts) == {
        *("sim", "cameras", "viewer", "export_log", "export_map", "export_urdf"),
        *("export_moveit_scene", "fit", "record", "replay", "new_extension"),
        *("check_robot", "controller", "draw_controller", "evaluate", "import_policy"),
    }
    for target in scripts.values():
        module, function = target.split(":")
        assert callable(getattr(importlib.import_module(module), function))
