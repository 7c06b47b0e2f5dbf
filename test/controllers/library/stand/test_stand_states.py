"""`stand` balances humanoids and quadrupeds, and detects falls."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

QUICK = {"READY": {"duration": 0.3}, "SQUAT": {"duration": 1.5}, "SWAY": {"duration": 2.5}}
PUSH_N = {"humanoid": 60.0, "quadruped": 40.0}


class Stander:
    """A robot that `stand` controls."""

    def __init__(self, scene: str, **settings: dict[str, float]) -> None:
        self.simulation = Simulation(load_scene(scene))
        both = {
            state: {**QUICK.get(state, {}), **settings.get(state, {})}
            for state in (*QUICK, *settings)
        }
        self.host = ControllerHost(self.simulation, load("stand", settings=both))
        (robot,) = self.simulation.layout.robots
        self.base = robot.bases[0].body
        self.feet = [self.simulation.model.site(t.site).bodyid[0] for t in robot.sensors["contact"]]
        self.went: list[str] = []
        self.why = ""

    @property
    def state(self) -> str:
        return self.host.supervised.state

    def run(self, seconds: float, act: Callable[[float], object] = lambda _t: None) -> np.ndarray:
        """Step, and return where the base was at each tick.  # (n, 3)"""
        begin, places = self.simulation.time, []
        for step in range(round(seconds * 1000)):
            act(step * 1e-3)
            assert self.host.step()
            if step % 5 == 0:
                places.append(self.simulation.sample.xpos[self.base].copy())
        for event in self.host.supervised.log.since(len(self.went)):
            self.went.append(event.transition.goal)
            self.why = event.reason
        assert self.simulation.time > begin
        return np.array(places)

    def push(self, force: np.ndarray) -> None:
        self.simulation.data.xfrc_applied[self.base, :3] = force


@pytest.mark.parametrize("scene", PUSH_N)
def test_a_robot_squats_and_sways_on_request_in_spite_of_pushes(scene):
    stander = Stander(scene)
    stander.run(0.4)
    assert stander.state == "HOLD"
    feet = stander.simulation.sample.xpos[stander.feet].copy()
    stander.host.supervised.request("squat")
    places = stander.run(1.6)
    squat = stander.host.supervised.machine.instances["SQUAT"]
    assert np.ptp(places[:, 2]) == pytest.approx(0.15 * squat.stance.height, abs=0.01)
    stander.host.supervised.request("sway")
    sideways = np.array([0.3, 1.0, 0.0])
    places = stander.run(2.6, lambda t: stander.push(PUSH_N[scene] * sideways * (0.3 < t < 0.5)))
    assert np.ptp(places[:, 1]) > 0.3 * squat.stance.half_width
    stander.run(0.3)
    assert stander.went == ["HOLD", "SQUAT", "HOLD", "SWAY", "HOLD"]
    assert np.abs(stander.simulation.sample.xpos[stander.feet] - feet).max() < 0.01
    assert stander.host.supervised.error == ""


def test_the_arms_are_not_commanded():
    stander = Stander("humanoid")
    stander.run(0.4)
    stander.host.supervised.request("squat")
    stander.run(0.1)
    held = stander.simulation.controls[0].owners()[CommandSource.CONTROLLER]
    assert set(held) == {
        f"{side}_{joint}"
        for side in ("left", "right")
        for joint in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
    }


def test_a_fallen_robot_is_limp_until_get_ready_is_requested():
    stander = Stander("quadruped")
    stander.run(0.5)
    stander.run(1.2, lambda _t: stander.push(np.array([0.0, 900.0, 0.0])))
    assert stander.went[-1] == "FALLEN"
    assert "tilted by" in stander.why
    stander.push(np.zeros(3))
    stander.run(0.5)
    simulation, (robot,) = stander.simulation, stander.simulation.layout.robots
    q = simulation.sample.qpos[robot.joints.qpos]
    np.testing.assert_allclose(simulation.references.q, q, atol=0.05)
    stander.host.supervised.request("get_ready")
    stander.run(0.1)
    assert stander.went[-2:] == ["READY", "FALLEN"], "it has not stood up"


def test_rest_ends_a_motion_smoothly():
    stander = Stander("humanoid")
    stander.run(0.4)
    stander.host.supervised.request("squat")
    stander.run(0.7)
    stander.host.supervised.request("rest")
    references = []
    stander.run(0.6, lambda _t: references.append(stander.simulation.references.q.copy()))
    assert stander.went[-2:] == ["READY", "HOLD"]
    assert np.abs(np.diff(references, axis=0)).max() < 0.01


def test_an_amplitude_out_of_reach_is_reported_with_its_limit():
    stander = Stander("quadruped", SWAY={"width": 1.5})
    stander.run(0.4)
    stander.host.supervised.request("sway")
    stander.run(0.1)
    assert stander.went[-1] == "READY"
    assert "0.201 m requested, 0.130 m possible" in stander.why


def test_a_foot_that_loses_contact_ends_a_motion(monkeypatch):
    def lifted(observation: Observation) -> Observation:
        return replace(observation, touches={**observation.touches, "left_foot": 0.0})

    stander = Stander("humanoid", SQUAT={"patience": 0.1})
    stander.run(0.4)
    stander.host.supervised.request("squat")
    controller = stander.host.supervised.controller
    monkeypatch.setattr(
        controller, "step", lambda seen, t, step=controller.step: step(lifted(seen), t)
    )
    stander.run(0.3)
    assert stander.went[-1] == "READY"
    assert stander.why == "left_foot lost contact"


def test_a_setting_that_is_not_positive_is_rejected():
    with pytest.raises(UserInputError, match=r"duration must be positive, got -1"):
        load("stand", settings={"SQUAT": {"duration": -1.0}})


def test_a_robot_without_the_feet_is_rejected():
    with pytest.raises(
        UserInputError, match=r"robot 'arm' has none of the feet left_foot, right_foot"
    ):
        ControllerHost(Simulation(load_scene("arm")), load("stand"))
