"""Saving and loading named states."""

import numpy as np
import pytest

from mujoco_ros.control.events import SimulationReset
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import MAX_SAVED, Keyframes


@pytest.fixture
def arm() -> Simulation:
    return Simulation(load_scene("arm"))


@pytest.fixture
def keyframes(arm: Simulation) -> Keyframes:
    return Keyframes(arm)


def run(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        assert simulation.step()


def test_names_are_those_of_the_model_and_saved_ones(arm, keyframes):
    assert keyframes.names == ("arm/home",)
    keyframes.save("mine")
    keyframes.save("arm/home")
    assert keyframes.names == ("arm/home", "mine")


def test_saving_and_loading_return_the_time(arm, keyframes):
    run(arm, 20)
    assert keyframes.save("here") == pytest.approx(0.02)
    run(arm, 30)
    assert keyframes.load("here") == pytest.approx(0.02)
    assert arm.data.time == pytest.approx(0.02)


def test_without_rewind_the_time_continues(arm, keyframes):
    keyframes.save("here")
    run(arm, 30)
    for name in ("here", "arm/home"):
        assert keyframes.load(name, rewind=False) == pytest.approx(0.03)


def test_a_robot_stays_at_a_loaded_keyframe_of_the_model(arm, keyframes):
    arm.references.q[:] += 0.2
    run(arm, 500)
    box = arm.model.jnt_qposadr[arm.model.body("box/box").jntadr[0]]
    arm.data.qpos[box] += 0.1
    assert keyframes.load("arm/home") == 0.0
    np.testing.assert_array_equal(arm.data.qpos, arm.plant.start.qpos)
    run(arm, 300)
    np.testing.assert_allclose(arm.data.qpos[:6], arm.plant.start.qpos[:6], atol=3e-3)
    assert [type(event) for event in arm.events].count(SimulationReset) == 2, (
        "the first at the start"
    )


def test_a_model_with_several_keyframes_starts_in_the_first_and_loads_any(simulate):
    simulation = simulate(
        """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="j"/><geom size="1"/>
        </body></worldbody><actuator><motor joint="j"/></actuator><keyframe>
        <key name="low" qpos="-0.5"/><key name="high" qpos="0.7" qvel="0.1" time="2.5"/>
        <key qpos="0.1"/></keyframe></mujoco>""",
        gains={"j": (100.0, 10.0)},
    )
    keyframes = Keyframes(simulation)
    assert keyframes.names == ("low", "high", "key2")
    assert keyframes.load("high") == 2.5
    assert simulation.data.qpos[0] == 0.7
    assert simulation.references.q[0] == 0.7
    assert keyframes.load("key2") == 0.0
    assert simulation.data.qpos[0] == 0.1
    simulation.reset()
    assert simulation.data.qpos[0] == -0.5, "a reset returns to the start of the scene"


def test_the_name_of_the_robot_can_be_omitted(arm, keyframes):
    arm.references.q[:] += 0.2
    run(arm, 100)
    keyframes.load("home")
    np.testing.assert_array_equal(arm.data.qpos, arm.plant.start.qpos)
    run(arm, 100)
    keyframes.save("home")
    assert keyframes.load("home") == pytest.approx(0.1), "what was saved goes before"


def test_the_error_for_an_unknown_name_lists_the_names(arm, keyframes):
    keyframes.save("mine")
    run(arm, 3)
    with pytest.raises(
        UserInputError, match="keyframe 'nime' not found; there are: arm/home, mine"
    ):
        keyframes.load("nime")
    assert arm.data.time == pytest.approx(0.003)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_keyframe_needs_a_name(keyframes, name):
    with pytest.raises(UserInputError, match="active_keyframe"):
        keyframes.save(name)


def test_the_number_of_saved_keyframes_is_limited(keyframes):
    for number in range(MAX_SAVED):
        keyframes.save(f"k{number}")
    with pytest.raises(
        UserInputError, match="'more' cannot be saved: at most 100 keyframes can be saved"
    ):
        keyframes.save("more")
    keyframes.save("k7")
