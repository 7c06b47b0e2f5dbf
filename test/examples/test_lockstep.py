"""The example that controls an arm in lockstep."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from example_runs import REAL_TIME_FACTOR, CommandedSimulator, Example
from simulators import ROOT, SimulatorLauncher

from mujoco_ros.sim.state_log.reader import StateLog

SCRIPT = "08_lockstep.py"
SECONDS = 3


def since_reset(path: Path) -> dict[str, bytes]:
    """Return the fields of a log since the last reset."""
    log = StateLog.open(path)
    time = log.time
    first = int(np.flatnonzero(time == 0.0)[-1])
    last = first + round(SECONDS / 0.001) + 1
    assert time[last - 1] == pytest.approx(SECONDS)
    fields = ("time", "qpos", "qvel", "act", "ctrl", "eq_active", "sensordata", "references")
    return {name: getattr(log, name)[first:last].tobytes() for name in fields}


def test_two_simulators_are_bitwise_identical(starter: SimulatorLauncher, tmp_path: Path) -> None:
    logs = [tmp_path / "one.log", tmp_path / "other.log"]
    fingerprints = []
    for log in logs:
        simulator = starter.simulator(
            scene="arm", state_log=log, lockstep_timeout=60.0, fresh_interpreter=True
        )
        simulator.wait_until_running()
        example = Example(tmp_path, simulator.domain, SCRIPT, "--seconds", str(SECONDS))
        done = example.outcome()
        assert (done.code, done.errors) == (0, "")
        assert simulator.stop() == 0
        assert simulator.warnings() == []
        fingerprints += re.findall(
            r"^fingerprint of the joint states: ([0-9a-f]{16})$", done.output, re.M
        )
        assert "a command for each of 600 ticks" in done.output
    assert len(fingerprints) == 2
    assert fingerprints[0] == fingerprints[1]
    one, other = map(since_reset, logs)
    assert one == other


def test_it_restores_the_parameters(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--seconds", "0.5")
    assert (done.code, done.errors) == (0, "")
    assert arm.listener.get_parameter("mode") == "realtime"
    assert arm.listener.get_parameter("real_time_factor") == REAL_TIME_FACTOR


def test_an_invalid_rate_is_rejected(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--rate", "-5")
    assert done.code == 1
    assert "joint_commands@-5" in done.errors


def test_the_error_for_an_unknown_joint_names_the_joints(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--joint", "knee")
    assert done.code == 1
    assert "no joint 'knee' here; --joint is one of: shoulder_pan_joint, " in done.errors


def test_all_runs_of_the_recipe_end_in_the_same_state(
    starter: SimulatorLauncher, tmp_path: Path
) -> None:
    page = (ROOT / "docs/how-to/repeat_runs.md").read_text()
    recipe = re.search(r"```python\n(import rclpy\n.*?)```", page, re.DOTALL)
    assert recipe is not None
    script = tmp_path / "recipe.py"
    script.write_text(recipe[1])
    lockstep = {"mode": "lockstep", "lockstep_sources": "joint_commands@200"}
    simulator = starter.simulator(scene="arm", real_time_factor=0.0, **lockstep)
    simulator.wait_until_running()
    done = subprocess.run(
        [sys.executable, script], env=simulator.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    states = re.findall(r"^state after 1 s: ([0-9a-f]+)$", done.stdout, re.MULTILINE)
    assert len(states) == 3
    assert len(set(states)) == 1
