"""Runs `ros2 launch` with stand-in executables or the installed package."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLES = (
    "controller_manager/ros2_control_node",
    "controller_manager/spawner",
    "moveit_ros_move_group/move_group",
    "moveit_ros_planning/moveit_publish_scene_from_text",
    "mujoco_ros/controller",
    "mujoco_ros/record",
    "mujoco_ros/sim",
    "nav2_amcl/amcl",
    "nav2_behaviors/behavior_server",
    "nav2_bt_navigator/bt_navigator",
    "nav2_controller/controller_server",
    "nav2_lifecycle_manager/lifecycle_manager",
    "nav2_map_server/map_server",
    "nav2_planner/planner_server",
    "opennav_docking/opennav_docking",
    "robot_state_publisher/robot_state_publisher",
    "rviz2/rviz2",
    "slam_toolbox/async_slam_toolbox_node",
)
EMPTY_PACKAGES = (
    "joint_state_broadcaster",
    "joint_state_topic_hardware_interface",
    "joint_trajectory_controller",
    "moveit_kinematics",
    "moveit_planners_ompl",
    "moveit_simple_controller_manager",
    "nav2_navfn_planner",
    "nav2_regulated_pure_pursuit_controller",
    "parallel_gripper_controller",
    "ros2bag",
    "rosbag2_storage_mcap",
)
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0

# Records its start, then behaves like a node: runs until SIGINT and ends with 0. If configured to
# end by itself, it waits for the others: an interrupt during the start of Python is a traceback.
STAND_IN = """\
#!{python}
import json, os, pathlib, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
files = [b for a, b in zip(sys.argv, sys.argv[1:]) if a == "--params-file"]
note = {{"argv": sys.argv[1:], "parameters": [pathlib.Path(f).read_text() for f in files]}}
path = pathlib.Path(os.environ["NOTES"]) / f"{name}.{{os.getpid()}}"
path.write_text(json.dumps(note))
path.rename(path.with_suffix(path.suffix + ".json"))
if (code := os.environ.get("{name}_ends_with")) is not None:
    while len(list(path.parent.glob("*.json"))) < int(os.environ["once_started"]):
        time.sleep(0.02)
    sys.exit(int(code))
signal.pause()
"""
DUMP = "import json, os; print(json.dumps(dict(os.environ)))"


@dataclass(frozen=True)
class Started:
    """How one executable was started."""

    name: str
    argv: list[str]
    parameter_files: list[dict[str, Any]]

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of all files for any node; later ones take precedence."""
        merged: dict[str, Any] = {}
        for file in self.parameter_files:
            for node in file.values():
                merged |= node["ros__parameters"]
        return merged

    def remapped(self, name: str) -> str | None:
        """Return the remapped value of `name` (``__ns``, ``__node``)."""
        found = [a.split(":=", 1)[1] for a in self.argv if a.startswith(f"{name}:=")]
        return found[-1] if found else None


@dataclass
class Launch:
    """A running `ros2 launch` and its processes, in their own session."""

    process: subprocess.Popen[str]
    notes: Path
    log: Path

    def started(self, count: int) -> dict[str, list[Started]]:
        """Wait until `count` stand-ins have started and return them by name."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while len(files := sorted(self.notes.glob("*.json"))) < count:
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.05)
        found: dict[str, list[Started]] = {}
        for file in files:
            name, note = file.name.split(".")[0], json.loads(file.read_text())
            # launch_ros writes lists as tuples of Python, with a tag that ROS ignores.
            texts = (text.replace("!!python/tuple", "") for text in note["parameters"])
            parameters = [yaml.safe_load(text) for text in texts]
            found.setdefault(name, []).append(Started(name, note["argv"], parameters))
        return found

    @property
    def output(self) -> str:
        """Return the output so far."""
        return self.log.read_text()

    def wait_for(self, text: str) -> None:
        """Wait until a text was printed."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while text not in self.output:
            assert time.monotonic() < deadline, self.output
            time.sleep(0.05)

    def interrupt(self) -> int:
        """Press Ctrl-C in the launch's terminal and return its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=STOP_TIMEOUT_S)

    def wait(self) -> int:
        """Wait for its end and return the exit code."""
        return self.process.wait(timeout=START_TIMEOUT_S)

    def processes(self) -> list[str]:
        """Return the command lines that still run in the launch's session."""
        running = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
                if int(fields[3]) == self.process.pid and fields[0] != "Z":
                    running.append((stat.parent / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return running

    def kill(self) -> None:
        """Kill the processes that a failed test has left."""
        if self.process.poll() is None or self.processes():
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="session")
def ros2() -> str:
    """Return the path of the `ros2` command; skip where there is no launch system."""
    # Not `launch` itself: the folder of that name would pass for an empty package.
    pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")
    command = shutil.which("ros2", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if command is None:
        pytest.skip("no ROS 2 launch system (command 'ros2')")
    return command


@pytest.fixture
def ros2_launch(ros2: str, tmp_path: Path) -> Iterator[Callable[..., Launch]]:
    """Start `ros2 launch` with arguments and extra environment; it is killed after the test."""
    launches: list[Launch] = []

    def start(*arguments: str, environment: dict[str, str] | None = None) -> Launch:
        notes = tmp_path / f"notes{len(launches)}"
        notes.mkdir()
        log = tmp_path / f"launch{len(launches)}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [ros2, "launch", *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                env={
                    **os.environ,
                    **(environment or {}),
                    "NOTES": str(notes),
                    "ROS_LOG_DIR": str(tmp_path),
                },
                # A shell has its background jobs ignore SIGINT, and children inherit that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        launches.append(Launch(process, notes, log))
        return launches[-1]

    yield start
    for launch in launches:
        launch.kill()


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment in which stand-ins replace all executables."""
    prefix = tmp_path_factory.mktemp("prefix")
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for package in EMPTY_PACKAGES:
        (index / package).touch()
    for executable in EXECUTABLES:
        package, name = executable.split("/")
        (index / package).touch()
        _write_stand_in(prefix / "lib" / executable, name)
    _write_stand_in(prefix / "bin" / "ros2", "ros2")
    return {
        "AMENT_PREFIX_PATH": f"{prefix}:{os.environ.get('AMENT_PREFIX_PATH', sys.prefix)}",
        "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
    }


@pytest.fixture
def stand_ins_without(stand_ins: dict[str, str], tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Return the environment of the stand-ins in which some packages are not installed."""

    def environment(*missing: str) -> dict[str, str]:
        own = Path(stand_ins["AMENT_PREFIX_PATH"].split(":")[0])
        index = Path("share", "ament_index", "resource_index", "packages")
        (tmp_path / index).mkdir(parents=True)
        for package in (own / index).iterdir():
            if package.name not in missing:
                (tmp_path / index / package.name).touch()
        (tmp_path / "lib").symlink_to(own / "lib")
        return stand_ins | {"AMENT_PREFIX_PATH": str(tmp_path)}

    return environment


@pytest.fixture(scope="session")
def workspace(ros2: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the install space of a workspace in which `colcon build` built the package."""
    colcon = shutil.which("colcon", path=f"{Path(ros2).parent}:{os.environ['PATH']}")
    if colcon is None:
        pytest.skip("no colcon")
    folder = tmp_path_factory.mktemp("workspace")
    subprocess.run(
        [colcon, "build", "--paths", str(ROOT), "--packages-select", "mujoco_ros"],
        cwd=folder,
        check=True,
        timeout=120,
    )
    return folder / "install" / "mujoco_ros"


@pytest.fixture(scope="session")
def sourced(workspace: Path) -> dict[str, str]:
    """Return the environment that sourcing the workspace gives."""
    command = f". {workspace}/share/mujoco_ros/package.bash && exec {sys.executable} -c '{DUMP}'"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, cwd=workspace
    )
    return json.loads(done.stdout)


def _write_stand_in(path: Path, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STAND_IN.format(python=sys.executable, name=name))
    path.chmod(0o755)
