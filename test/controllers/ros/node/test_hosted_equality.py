"""A hosted controller and a controller node in lockstep observe and command the same bits."""

from pathlib import Path

import numpy as np
import pytest
from extension_package import write_package
from recorded_ticks import BEFORE_RESET, TickRecorder, Ticks, differences, record_alone

from mujoco_ros.rendering.gl import RenderingError, open_context

ENTRY_POINTS = "[mujoco_ros.states]\nFollowSine = my_policy:FollowSine\n"
STATES = '''
from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, IMAGE_GET, POSE_SET
from mujoco_ros.model.pose import Pose


class FollowSine(State):
    """FollowSine by the time, by images and by the pose of an object."""

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        camera: str = ""

    def start(self, context: StateContext) -> None:
        self.middle = context.references.q.copy()
        self.ticks, self.image, self.brightness = 0, None, 0.0

    def run(self, context: StateContext) -> None:
        store, self.ticks = context.store, self.ticks + 1
        if self.image is not None and self.image.done():
            image, self.image = self.image.result(), None
            near = np.where(np.isfinite(image.depth), image.depth, 0.0).mean()
            self.brightness = 1e-3 * float(image.colour.mean() + near + image.pose.position[0])
        if self.ticks % 7 == 3 and self.image is None and self.config.camera:
            self.image = store.get(IMAGE_GET)(self.config.camera)
        elif self.image is not None and self.ticks % 2:  # every second one needs no delay
            context.awaited.append(self.image)
        if self.ticks in (10, 20, 30):  # settled before a reset
            gains = store.get(GAINS_GET)()
            store.get(GAINS_SET)(Gains(kp=0.9 * gains.kp, kd=gains.kd))
        if self.ticks == 30:
            at = context.observation.objects["box"]
            there = Pose(position=at.position + 0.01, quat_wxyz=at.quat_wxyz)
            store.get(POSE_SET)("box", there)
        box = context.observation.objects["box"].position
        references = context.references
        references.q[:3] = self.middle[:3] + 0.1 * np.sin(3.7 * context.elapsed) + 0.01 * box
        references.q[0] += self.brightness
        references.dq[:3] = 0.37 * np.cos(3.7 * context.elapsed)
        return None
'''
TABLE = """
rate: 100
initial: WAIT
states:
  WAIT: {{class: Wait, duration: 0.07}}
  MOVE: {{class: FollowSine, camera: "{camera}", outcome: over}}
transitions:
  WAIT: {{done: MOVE}}
"""

WALKS = """
rate: 200
initial: STAND
states:
  STAND:
    class: StandBalanced
    feet: [left_foot, right_foot]
    force_sensors: [left_ankle_ft, right_ankle_ft]
    timeout: 0.3
  WALK: {class: WalkWithVelocity, velocity_x: 0.25}
  FALLEN: {class: StayFallen, outcome: fell, failure: true}
transitions:
  STAND: {timeout: WALK, commanded: WALK, goal: FALLEN, pushed: FALLEN, fell: FALLEN}
  WALK: {goal: FALLEN, pushed: FALLEN, fell: FALLEN}
"""
"""The states of `walk`, without a client."""
TROTS = """
rate: 200
initial: STAND
states:
  STAND: {class: StandOnFour, feet: [FL_foot, FR_foot, RL_foot, RR_foot], timeout: 0.3}
  TROT: {class: TrotWithVelocity, velocity_x: 0.4}
  FALLEN: {class: StayDown, outcome: fell, failure: true}
transitions:
  STAND: {timeout: TROT, commanded: TROT, goal: FALLEN, pushed: FALLEN, fell: FALLEN}
  TROT: {goal: FALLEN, pushed: FALLEN, fell: FALLEN}
"""
"""The states of `trot`, which also set gains, without a client."""
POLICY_TABLE = """
rate: 200
initial: WAIT
states:
  WAIT: {class: Wait, duration: 0.05}
  WALK:
    class: Policy
    file: policy.onnx
    decimation: 4
    imu: trunk_imu
    velocity_x: 0.3
    inputs:
      obs:
        history: 2
        terms:
          - {term: base_angular_velocity, noise: {uniform: 0.2}}
          - {term: projected_gravity, noise: {gaussian: 0.05}, history: 3, order: newest_first}
          - {term: joint_position}
          - {term: joint_velocity, scale: 0.05, clip: [-1.0, 1.0]}
          - {term: previous_action}
          - {term: command}
          - {term: gait_phase, period: 0.7, phases: [0.0, 0.5]}
    actions:
      - {scale: 0.25, kp: 60.0, kd: 1.5, smoothing: 0.2, clip: [-3.0, 3.0]}
  FALLEN: {class: Hold, outcome: fell, failure: true}
transitions:
  WAIT: {done: WALK}
  WALK: {fell: FALLEN, invalid: FALLEN}
"""
_INPUTS, _JOINTS = 2 * (3 + 3 * 3 + 3 * 12 + 3 + 4), 12


def has_opengl() -> bool:
    try:
        open_context().close()
    except RenderingError:
        return False
    return True


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside of this repository with the installed package of a user."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    (source / "my_policy.py").write_text(STATES)
    camera = "wrist_camera" if has_opengl() else ""
    (target / "policy.yaml").write_text(TABLE.format(camera=camera))
    return write_package(target, source / "my_policy.py", ENTRY_POINTS)


@pytest.mark.timeout(600)
def test_a_shipped_controller_that_plans_observes_and_commands_the_same_bits(start, tmp_path):
    recorder = TickRecorder(start, tmp_path)
    hosted = recorder.hosted("pick_place", "arm", 200)
    node = recorder.node("pick_place", "arm", 200, 125.0)
    assert differences(hosted, node) == {}
    check_times(node, 125.0)
    assert {"PLAN_APPROACH", "EXEC_APPROACH"} <= {tick["state"] for tick in node}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("states", "scene", "policy", "commands"),
    [
        (WALKS, "humanoid", False, 190),
        (TROTS, "quadruped", False, 190),
        (POLICY_TABLE, "quadruped", True, 40),  # a new one for each run of the network
    ],
    ids=["walk", "trot", "policy in an onnx file"],
)
def test_a_node_observes_and_commands_the_same_bits_as_a_host_without_processes(
    start, tmp_path, states, scene, policy, commands
):
    if policy:
        from onnx_policies import write_affine  # skips without onnx

        weights = np.random.default_rng(7).normal(scale=0.1, size=(_INPUTS, _JOINTS))
        write_affine(tmp_path / "policy.onnx", weights)
    table = tmp_path / "states.yaml"
    table.write_text(states)
    node = TickRecorder(start, tmp_path).node(str(table), scene, 200, 200.0)
    check_times(node, 200.0)
    assert len({tick["command"] for tick in node}) > commands, "it moves"
    assert differences(record_alone(str(table), scene, 200, tmp_path), node) == {}


@pytest.mark.timeout(600)
def test_a_policy_of_an_installed_package_observes_and_commands_the_same_bits_also_after_a_reset(
    start, tmp_path, site
):
    recorder = TickRecorder(start, tmp_path, site, reset=True)
    policy = str(site / "policy.yaml")
    node = recorder.node(policy, "arm", 60, 100.0)
    assert differences(recorder.hosted(policy, "arm", 60), node) == {}
    for run in (node[:BEFORE_RESET], node[BEFORE_RESET:]):
        check_times(run, 100.0)
        assert len({tick["command"] for tick in run}) > len(run) - 10, "it moves"
        if has_opengl():
            assert sum(len(tick["images"]) for tick in run) > 3


@pytest.mark.timeout(600)
def test_the_same_bits_follow_a_reset_that_continues_the_clock(start, tmp_path, site, monkeypatch):
    recorder = TickRecorder(start, tmp_path, site, reset=True)
    policy = site / "policy.yaml"
    run = recorder.node(str(policy), "arm", 60, 100.0, reset_time="continue")
    node = run[BEFORE_RESET:]
    (reset_time,) = recorder.reset_times
    assert reset_time > 0.5
    assert reset_time < float.fromhex(node[0]["time"]) <= reset_time + 0.0101
    monkeypatch.syspath_prepend(str(site))
    alone = record_alone(str(policy), "arm", 60, tmp_path, reset_time)
    assert differences(alone, node) == {}


def check_times(ticks: Ticks, rate: float) -> None:
    times = [float.fromhex(tick["time"]) for tick in ticks]
    assert times == [number * (1.0 / rate) for number in range(len(ticks))]
