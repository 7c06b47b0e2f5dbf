"""The package without its optional parts, in an environment that lacks their modules."""

import os
import signal
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from mujoco_ros.extras import EXTRAS, MissingExtraError, missing_module, require

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from simulators import SimulatorLauncher

from mujoco_ros.rendering.gl import RenderingError, open_context

try:
    open_context().close()
except RenderingError:
    CAN_RENDER = False
else:
    CAN_RENDER = True

ROOT = Path(__file__).resolve().parents[1]
EXECUTABLES = [
    *("cameras", "controller", "draw_controller", "evaluate"),
    *("export_log", "export_urdf", "record", "replay", "sim", "viewer"),
]
MISSING = {module for modules in EXTRAS.values() for module in modules} - {"cv2"}
"""Modules of all extras; OpenCV is part of each ROS distribution."""
PREFIX = "mujoco_ros: error: "
COLLADA = """
from pathlib import Path
from mujoco_ros.model.urdf.importing.mesh_file import read_mesh
assert len(read_mesh(Path("test/model/urdf/data/two_boxes.dae")).faces)
"""
HELP = """
import runpy, sys
for name in sys.argv[1:]:
    sys.argv = [name, "--help"]
    try:
        runpy.run_module(f"mujoco_ros.cli.{name}", run_name="__main__")
    except SystemExit as ended:
        assert ended.code == 0
"""
POLICY_TABLE = """
rate: 100
initial: RUN
states:
  RUN: {class: Policy, file: policy.onnx, inputs: {obs: {terms: [{term: joint_position}]}}}
  END: {class: Hold, outcome: ended}
transitions: {RUN: {fell: END, invalid: END}}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with links to all of this one but the optional modules."""
    if sys.prefix == sys.base_prefix:
        pytest.skip("this Python is not in a virtual environment; `make setup` makes one")
    here, there = Path(sys.prefix), tmp_path_factory.mktemp("environment")
    packages = Path(*Path(os.__file__).parent.parts[-2:]) / "site-packages"
    (there / packages).mkdir(parents=True)
    distributions = packages_distributions()
    files = {
        f"{name.replace('-', '_')}-" for module in MISSING for name in distributions.get(module, ())
    }
    for folder in (Path("."), Path("lib"), packages.parent, packages):
        for path in (here / folder).iterdir():
            link = there / folder / path.name
            module = path.name.partition(".")[0]
            if module not in MISSING and not path.name.startswith(tuple(files)):
                link.exists() or link.symlink_to(path)
    return there / "bin" / Path(sys.executable).name


def run(python: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [python, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )


def the_error(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 1, done.stderr
    ignored = (
        "[",
        "evaluate: loading, ",
        "evaluate: running, ",
    )  # ROS' own log, and progress on a slow machine
    lines = [line for line in done.stderr.splitlines() if not line.startswith(ignored)]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(PREFIX)
    return lines[0].removeprefix(PREFIX)


def test_the_environment_lacks_every_optional_module(python: Path):
    code = "from importlib.util import find_spec; import sys; print(*map(find_spec, sys.argv[1:]))"
    done = run(python, "-c", code, *MISSING)
    assert done.stdout.split() == ["None"] * len(MISSING), done.stderr


def test_an_extra_is_required_without_an_import(monkeypatch: pytest.MonkeyPatch):
    modules = {"no_such_module": ">=1.2", "wave": "", "no_module": ""}
    monkeypatch.setitem(EXTRAS, "sound", modules)
    message = (
        "a beep needs no_such_module, no_module; run: pip install 'no_such_module>=1.2' no_module$"
    )
    with pytest.raises(MissingExtraError, match=message):
        require("sound", "a beep")
    assert "wave" not in sys.modules


@pytest.mark.parametrize(
    ("module", "remedy"),
    [
        ("cv2", "run: pip install 'opencv-python-headless<5'"),
        ("mink.tasks", "run: pip install 'mink>=1.3'"),
        ("rclpy.node", "it is part of ROS 2: "),
        ("sensor_msgs", "it is part of ROS 2: "),
        ("yaml", "install the dependencies of mujoco_ros, with rosdep or pip"),
    ],
)
def test_a_program_without_a_module_ends_with_one_sentence(module, remedy, tmp_path: Path):
    sentence = missing_module(module)
    assert sentence.startswith(f"Python module '{module.partition('.')[0]}' is not installed; ")
    assert remedy in sentence
    script = tmp_path / "fit"
    script.write_text(f"import mujoco_ros.cli\nraise ModuleNotFoundError(name='{module}')\n")
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, f"{PREFIX}{sentence}\n")


def test_the_simulator_serves_everything_but_the_optional_parts(
    python: Path, start: SimulatorLauncher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "executable", str(python))
    simulator = start.simulator(
        fresh_interpreter=True, scene="arm", cameras="true", viewer="web", controller="grasp_reflex"
    )
    listener = start.listener(simulator)
    clock = listener.record(Clock, "/clock")
    joints = listener.record(JointState, "/joint_states")
    images = listener.record(Image, "/camera/table_camera/image_raw")
    simulator.wait_until_running()
    assert listener.spin_until(lambda: bool(clock and joints and (images or not CAN_RENDER)))
    simulator.wait_for_log(
        f"child process 'viewer' is not available: {PREFIX}the viewer needs nicegui, "
        "fastapi, pydantic, starlette, uvicorn; run: pip install 'nicegui>=3.18'"
    )
    assert simulator.stop(signal.SIGINT) == 0
    assert len([line for line in simulator.warnings() if "viewer" not in line]) == 0


@pytest.mark.parametrize("controller", ["pick_place", "trot"])
def test_the_error_of_a_planning_controller_names_the_modules(python: Path, controller: str):
    arguments = ["--ros-args", "-p", "scene:=arm", "-p", f"controller:={controller}"]
    message = the_error(run(python, "-m", "mujoco_ros", *arguments))
    assert message.startswith(f"controller '{controller}' needs mink, ompl, ")
    assert "; run: pip install 'mink>=1.3' 'ompl>=2.0' " in message


def test_the_error_of_a_policy_names_the_module(python: Path, tmp_path: Path):
    (tmp_path / "run.yaml").write_text(POLICY_TABLE)
    arguments = ["--ros-args", "-p", "scene:=quadruped", "-p", f"controller:={tmp_path}/run.yaml"]
    assert the_error(run(python, "-m", "mujoco_ros", *arguments)) == (
        "controller 'run': the state 'Policy' needs onnxruntime; run: pip install "
        "'onnxruntime>=1.20'"
    )


def test_the_error_of_an_evaluation_names_the_modules_before_any_episode(
    python: Path, tmp_path: Path
):
    command = ["-m", "mujoco_ros.cli.evaluate", "pick_place", "--output", str(tmp_path / "new")]
    message = the_error(run(python, *command))
    assert message == ("the report of an evaluation needs matplotlib; run: pip install matplotlib")
    assert not (tmp_path / "new").exists()
    assert "pip install 'mink>=1.3' " in the_error(run(python, *command, "--episode", "1"))


def test_every_executable_explains_itself(python: Path):
    names = [
        *("cameras", "controller", "draw_controller", "evaluate", "export_urdf"),
        *("import_policy", "record", "replay", "viewer"),
    ]
    done = run(python, "-c", HELP, *names)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("usage: ") == len(names)


def test_meshes_that_mujoco_does_not_read_are_converted(python: Path):
    done = run(python, "-c", COLLADA)
    assert done.returncode == 0, done.stderr
