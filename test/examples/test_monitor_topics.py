"""The example that monitors the topics of a running simulator."""

import os
import re
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from example_runs import Example
from simulators import ROOT, Simulator, SimulatorLauncher, first_line, without_middleware_log

SCRIPT = "01_monitor_topics.py"


@pytest.fixture(scope="module")
def simulator(starter: SimulatorLauncher) -> Iterator[Simulator]:
    """The humanoid, every link in TF, as `make sim` runs it; slowly, for busy machines."""
    simulator = starter.simulator(scene="humanoid", tf="all", real_time_factor=0.3)
    simulator.wait_until_running()
    yield simulator
    assert simulator.stop(signal.SIGTERM) == 0, simulator.log


def test_it_ends_quietly_when_it_is_interrupted(simulator: Simulator, folder: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        example = Example(folder, simulator.domain, SCRIPT)
        assert example.wait_for_output("monitoring ")
        example.process.send_signal(number)
        done = example.outcome()
        assert (done.code, done.errors) == (-number, "")


def test_it_ends_quietly_when_its_reader_closes(simulator: Simulator) -> None:
    process = subprocess.Popen(
        [sys.executable, ROOT / "examples" / SCRIPT],
        env=os.environ | {"ROS_DOMAIN_ID": str(simulator.domain)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stderr
    with process:
        line = first_line(process.stdout)
        process.stdout.close()
        code, errors = process.wait(timeout=250), process.stderr.read()
    assert re.fullmatch(r"monitoring \d+ topics for about 3 s\n", line)
    assert (code, without_middleware_log(errors)) == (-signal.SIGPIPE, "")


def test_it_prints_topics_with_their_rates_and_the_state_of_a_standing_robot(
    simulator: Simulator, folder: Path
) -> None:
    done = Example(folder, simulator.domain, SCRIPT).outcome()
    assert done.code == 0, done.errors
    rates = {
        topic: (by_stamps, by_clock, kind)
        for by_stamps, by_clock, topic, kind in re.findall(
            r"^ *(\S+) +(\S+)  (/\S+) \[(.+)\]$", done.output, re.M
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
    knee = re.search(r"^ *(\S+)  left_knee$", done.output, re.M)
    assert knee
    assert 0.5 < float(knee.group(1)) < 0.7
    height = re.search(r"^pelvis is (\S+) m above the ground$", done.output, re.M)
    assert height
    assert float(height.group(1)) == pytest.approx(0.815, abs=0.01)
    measured = re.search(r"^pelvis_imu measures \((.+), (.+), (.+)\) m/s²", done.output, re.M)
    assert measured
    assert float(measured.group(3)) == pytest.approx(9.81, abs=0.1)


class LateNode:
    """A node that discovers one topic after the other."""

    def __init__(self, namespace: str = "/") -> None:
        self.known = [("/clock", ["rosgraph_msgs/msg/Clock"])]
        self.get_namespace = lambda: namespace

    def count_publishers(self, name: str) -> int:
        return 1

    def get_topic_names_and_types(self) -> list[tuple[str, list[str]]]:
        if len(self.known) < 9:
            self.known.append((f"/topic_{len(self.known)}", ["std_msgs/msg/String"]))
        return list(self.known)


def test_it_waits_for_topics_that_are_discovered_late():
    find_topics = runpy.run_path(str(ROOT / "examples" / "01_monitor_topics.py"))["find_topics"]
    assert list(find_topics(LateNode())) == ["/clock", *(f"/topic_{n}" for n in range(1, 9))]
    in_a_namespace = LateNode("/left")
    in_a_namespace.known.append(("/left/joint_states", ["sensor_msgs/msg/JointState"]))
    assert list(find_topics(in_a_namespace)) == ["/left/joint_states"]


def test_references_and_true_values_are_no_measured_positions():
    not_measured = runpy.run_path(str(ROOT / "examples" / "01_monitor_topics.py"))["NOT_MEASURED"]
    others = ("/joint_references", "/arm/ground_truth/joint_states", "/arm/joint_commands")
    for topic in others:
        assert any(part in topic for part in not_measured), topic
    assert not any(part in "/arm/joint_states" for part in not_measured)
