"""The executable `replay` on a log of the simulator."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from fork_server import fork_server
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, JointState
from simulators import Listener
from std_msgs.msg import String

from benchmark.domains import Domain
from mujoco_ros.cli.replay import main
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

ROOT = Path(__file__).resolve().parents[2]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TIMEOUT_S = 120.0


def write(path: Path, *scenes: str, steps: int = 2000) -> StateLog:
    """Log scenes in which every joint moves."""
    writer, time = StateLogWriter(path), 0.0
    for scene in scenes:
        simulation = Simulation(load_scene(scene))
        simulation.set_time(time)
        ring = RingBuffer(simulation.plant, 1)
        writer.add(ring)
        for _ in range(steps):
            simulation.references.q[:] = 0.3 * np.sin(3.0 * simulation.data.time)
            simulation.step()
            ring.add_step()
        time = simulation.time + 0.001
        ring.closed = True
    writer.close()
    return StateLog.open(path)


@pytest.fixture(scope="module")
def arm_log(tmp_path_factory) -> StateLog:
    return write(tmp_path_factory.mktemp("logs") / "arm.mjlog", "arm")


_ALONE = ("--ros-args", "-p", "cameras:=false")


class Replay:
    """A replay in its own process, and a listener to it."""

    def __init__(
        self, log: Path, arguments: tuple[str, ...], output: Path, *, cameras: bool
    ) -> None:
        self._domain = Domain()
        self.listener = Listener(self._domain.id)
        self.states = self.listener.record(JointState, "/joint_states")
        self._output = output
        with output.open("wb") as file:
            environment = os.environ | {"ROS_DOMAIN_ID": str(self._domain.id)}
            command = ("mujoco_ros.cli.replay", str(log), *arguments, *(() if cameras else _ALONE))
            self.process = fork_server().fork(*command, env=environment, stdout=file.fileno())

    @property
    def output(self) -> str:
        return self._output.read_text()

    def until(self, condition: Callable[[], bool]) -> None:
        def met() -> bool:
            assert self.process.poll() is None, self.output
            return condition()

        assert self.listener.spin_until(met), self.output

    def times(self) -> list[float]:
        stamps = [message.header.stamp for message in self.states.messages]
        return [round(stamp.sec + 1e-9 * stamp.nanosec, 6) for stamp in stamps]

    def set(self, **values: Any) -> list[Any]:
        client = AsyncParameterClient(self.listener.node, "/replay")
        self.until(client.services_are_ready)
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        return list(self.listener.result(client.set_parameters(parameters)).results)

    def close(self) -> None:
        self.listener.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._domain.close()


@pytest.fixture
def replay(tmp_path) -> Iterator[Callable[..., Replay]]:
    """Start a replay of a log; it is killed after the test."""
    started: list[Replay] = []

    def start(log: StateLog | Path, *arguments: str, cameras: bool = False) -> Replay:
        path = log.path if isinstance(log, StateLog) else log
        output = tmp_path / f"replay{len(started)}.log"
        started.append(Replay(path, arguments, output, cameras=cameras))
        return started[-1]

    yield start
    for replay in started:
        replay.close()


def test_a_log_is_played_over_the_topics_of_the_simulator(replay, arm_log):
    playing = replay(arm_log, "--at-end", "loop")
    described = playing.listener.record(String, "/robot_description", qos=LATCHED)
    playing.until(lambda: len(playing.states) > 300 and len(described) > 0)
    assert "<robot" in described.messages[0].data
    names = StateLog.open(arm_log.path).assembly.model.joint(0).name
    for message, time in zip(playing.states.messages, playing.times(), strict=True):
        row = arm_log.index(time)
        first = message.name[0]
        assert names.endswith(first)
        position = arm_log.joint(names).position[row]
        assert message.position[0] == pytest.approx(position, abs=1e-12)
    playing.process.send_signal(signal.SIGINT)
    assert playing.process.wait(TIMEOUT_S) == 0


def test_cameras_show_the_log_by_default(replay, arm_log):
    playing = replay(arm_log, "--at-end", "loop", cameras=True)
    topic = "/camera/table_camera/camera_info"
    received = playing.listener.record(CameraInfo, topic, reliable=False)
    playing.until(lambda: len(received) > 1)
    assert received.messages[0].header.frame_id == "table_camera_optical_frame"


def test_a_paused_replay_shows_the_row_that_it_seeks(replay, arm_log):
    playing = replay(arm_log, "--paused")
    assert all(result.successful for result in playing.set(time=1.25))
    # A listener that missed one message gets the next.
    playing.until(lambda: playing.set(time=1.25) and 1.25 in playing.times())
    assert set(playing.times()) <= {0.0, 1.25}  # the first row, and that of the seek
    playing.set(time=0.5)
    playing.until(lambda: 0.5 in playing.times())


def test_it_plays_at_another_rate(replay, arm_log):
    playing = replay(arm_log, "--rate", "0.1", "--start", "0.3")
    playing.until(lambda: len(playing.states) > 5)
    assert min(playing.times()) >= 0.3
    assert max(playing.times()) < 0.6
    playing.set(rate=100.0)
    playing.until(lambda: "the end of the log" in playing.output)


def test_it_can_end_with_the_log(replay, arm_log):
    playing = replay(arm_log, "--rate", "0", "--at-end", "exit")
    assert playing.process.wait(TIMEOUT_S) == 0
    assert "replaying until the end\n" in playing.output
    assert "the end of the log" in playing.output


def test_topics_change_with_the_model(replay, tmp_path):
    log = write(tmp_path / "two.mjlog", "arm", "quadruped", steps=500)
    playing = replay(log, "--at-end", "loop")
    lengths: set[int] = set()

    def both() -> bool:
        lengths.update(len(message.name) for message in playing.states.messages[-20:])
        return lengths == {8, 12}

    playing.until(both)
    assert "2 segments" not in playing.output


def test_the_valid_rows_of_a_damaged_log_are_played(replay, arm_log, tmp_path):
    broken = tmp_path / "broken.mjlog"
    broken.write_bytes(arm_log.path.read_bytes() + b"ROWS, without the rest")
    playing = replay(broken, "--at-end", "loop")
    playing.until(lambda: len(playing.states) > 10)
    assert "its last record is incomplete" in playing.output
    assert "the rows before it are played" in playing.output


@pytest.mark.parametrize(
    ("content", "message"), [(None, "does not exist"), (b"MZ\x00\x00 else", "is no state log")]
)
def test_a_file_that_is_not_a_log_is_one_clear_error(replay, tmp_path, content, message):
    path = tmp_path / "other.mjlog"
    if content is not None:
        path.write_bytes(content)
    playing = replay(path)
    assert playing.process.wait(TIMEOUT_S) == 1
    assert message in playing.output
    assert "Traceback" not in playing.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: log"),
        (["run.mjlog", "--rate", "fast"], "invalid float value: 'fast'"),
        (["run.mjlog", "--at-end", "explode"], "invalid choice: 'explode'"),
    ],
)
def test_an_invalid_argument_is_an_error(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err
