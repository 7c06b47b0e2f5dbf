"""The example that monitors the topics of a running simulator."""

import os
import re
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmark.domains import Domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 120.0
Run = Callable[[], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def domain() -> Iterator[str]:
    """A free domain."""
    domain = Domain()
    yield str(domain.id)
    domain.close()


@pytest.fixture
def simulator(tmp_path: Path, domain: str) -> Iterator[None]:
    """The humanoid, every link in TF, as `make sim` runs it; slowly, for busy machines."""
    log = tmp_path / "simulator.log"
    parameters = ["scene:=humanoid", "tf:=all", "real_time_factor:=0.3", "cameras:=false"]
    arguments = [word for parameter in parameters for word in ("-p", parameter)]
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "mujoco_ros", "--ros-args", *arguments],
            cwd=ROOT,
            env={**os.environ, "ROS_DOMAIN_ID": domain, "ROS_LOG_DIR": str(tmp_path)},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    deadline = time.monotonic() + START_TIMEOUT_S
    while "simulating 'humanoid'" not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    yield
    process.terminate()
    assert process.wait(timeout=120) == 0, log.read_text()


@pytest.fixture
def run(domain: str) -> Run:
    """Runs the example and returns its outcome."""
    return lambda: subprocess.run(
        [sys.executable, ROOT / "examples" / "01_monitor_topics.py"],
        env={**os.environ, "ROS_DOMAIN_ID": domain},
        capture_output=True,
        text=True,
        timeout=250,
    )


@pytest.fixture
def first_line(domain: str) -> Callable[[], tuple[str, int, str]]:
    """Runs the example with a reader that closes after one line: the line, exit code, errors."""

    def run_and_close() -> tuple[str, int, str]:
        process = subprocess.Popen(
            [sys.executable, ROOT / "examples" / "01_monitor_topics.py"],
            env={**os.environ, "ROS_DOMAIN_ID": domain},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert process.stderr
        with process:
            line = process.stdout.readline()
            process.stdout.close()
            return line, process.wait(timeout=250), process.stderr.read()

    return run_and_close


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly_when_it_is_interrupted(simulator, domain: str, number: signal.Signals):
    process = subprocess.Popen(
        [sys.executable, ROOT / "examples" / "01_monitor_topics.py"],
        env={**os.environ, "ROS_DOMAIN_ID": domain},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline().startswith("monitoring ")
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (-number, "")


def test_it_prints_topics_with_their_rates_and_the_state_of_a_standing_robot(
    simulator, run, first_line
):
    line, code, errors = first_line()
    assert re.fullmatch(r"monitoring \d+ topics for about 3 s\n", line)
    assert (code, errors) == (-signal.SIGPIPE, "")
    done = run()
    assert done.returncode == 0, done.stderr
    rates = {
        topic: (by_stamps, by_clock, kind)
        for by_stamps, by_clock, topic, kind in re.findall(
            r"^ *(\S+) +(\S+)  (/\S+) \[(.+)\]$", done.stdout, re.M
        )
    }
    # Stamps are of simulated time: their rate is independent of the load; lost messages reduce it.
    for topic, kind, rate in (
        ("/joint_states", "sensor_msgs/msg/JointState", 500.0),
        ("/imu/pelvis_imu", "sensor_msgs/msg/Imu", 500.0),
        ("/tf", "tf2_msgs/msg/TFMessage", 100.0),
    ):
        assert rates[topic][2] == kind
        assert float(rates[topic][1]) > 0.0
        assert float(rates[topic][0]) == pytest.approx(rate, rel=0.2)
    assert "/robot_description" in rates
    knee = re.search(r"^ *(\S+)  left_knee$", done.stdout, re.M)
    assert knee
    assert 0.5 < float(knee.group(1)) < 0.7
    height = re.search(r"^pelvis is (\S+) m above the ground$", done.stdout, re.M)
    assert height
    assert float(height.group(1)) == pytest.approx(0.815, abs=0.01)
    measured = re.search(r"^pelvis_imu measures \((.+), (.+), (.+)\) m/s²", done.stdout, re.M)
    assert measured
    assert float(measured.group(3)) == pytest.approx(9.81, abs=0.1)


def test_without_a_simulator_it_prints_how_to_start_one(run):
    done = run()
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "no simulator found: start `make sim`, with the same ROS_DOMAIN_ID as here"
    )


class LateNode:
    """A node that discovers one topic after the other."""

    def __init__(self) -> None:
        self.known = [("/clock", ["rosgraph_msgs/msg/Clock"])]

    def count_publishers(self, name: str) -> int:
        return 1

    def get_topic_names_and_types(self) -> list[tuple[str, list[str]]]:
        if len(self.known) < 9:
            self.known.append((f"/topic_{len(self.known)}", ["std_msgs/msg/String"]))
        return list(self.known)


def test_it_waits_for_topics_that_are_discovered_late():
    find_topics = runpy.run_path(str(ROOT / "examples" / "01_monitor_topics.py"))["find_topics"]
    assert list(find_topics(LateNode())) == ["/clock", *(f"/topic_{n}" for n in range(1, 9))]
