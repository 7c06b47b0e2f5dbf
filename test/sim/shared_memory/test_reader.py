"""The state that a reader gets from a simulation."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import ObjectConfig
from mujoco_ros.model.scene.parts import object_part
from mujoco_ros.sim.settings.element_properties import Property, set_properties
from mujoco_ros.sim.shared_memory.reader import SharedState, Update
from mujoco_ros.sim.shared_memory.segment import SLOTS

PUPPET = """
<mujoco>
  <worldbody>
    <geom name="ball" type="sphere" size="0.1" pos="0 0 1"/>
    <body name="wheel"><joint name="j" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
    <body name="puppet" mocap="true"><geom size="0.1"/></body>
  </worldbody>
  <actuator><motor joint="j"/></actuator>
</mujoco>"""


def test_a_reader_has_the_state_at_the_beginning_of_the_step(arm):
    arm.simulation.references.q[0] += 0.3
    arm.step(50)
    reader, simulation = arm.reader, arm.simulation
    assert reader.update() is Update.STATE
    assert reader.time == simulation.time == pytest.approx(0.049)
    for name in ("qpos", "qvel", "act", "sensordata"):
        np.testing.assert_array_equal(getattr(reader.data, name), getattr(simulation.sample, name))
    for name in ("ctrl", "qfrc_actuator", "xfrc_applied", "mocap_pos", "eq_active"):
        np.testing.assert_array_equal(getattr(reader.data, name), getattr(simulation.data, name))
    np.testing.assert_array_equal(reader.references.values, simulation.references.values)
    assert tuple(reader.metadata["references"]) == simulation.joints.names


def test_a_reader_computes_the_accelerations_of_the_step(arm):
    arm.simulation.references.q[0] += 0.3
    arm.step(50)
    arm.reader.update()
    mujoco.mj_forward(arm.reader.model, arm.reader.data)
    np.testing.assert_allclose(arm.reader.data.qacc, arm.simulation.sample.qacc, atol=1e-6)


def test_a_reader_has_the_scene_with_its_robots(arm):
    robots, expected = arm.reader.layout.robots, arm.simulation.layout.robots
    assert [robot.name for robot in robots] == [robot.name for robot in expected]
    assert robots[0].joints.names == expected[0].joints.names
    assert arm.reader.metadata["scene"] == "arm"


def test_an_update_has_the_latest_state_and_there_is_none_without_a_step(arm):
    arm.reader.update()
    assert arm.reader.update() is Update.NOTHING
    before = arm.reader.step
    arm.step(3 * SLOTS)
    assert arm.reader.peek() == (arm.simulation.time, before + 3 * SLOTS)
    assert arm.reader.step == before
    assert arm.reader.update() is Update.STATE
    assert (arm.reader.time, arm.reader.step) == (arm.simulation.time, before + 3 * SLOTS)


def test_the_count_of_states_continues_when_the_time_is_set_back(arm):
    arm.step(10)
    arm.reader.update()
    number = arm.reader.step
    arm.simulation.reset()
    arm.step()
    assert arm.reader.update() is Update.STATE
    assert (arm.reader.time, arm.reader.step) == (0.0, number + 1)


def test_another_model_reaches_a_reader_with_its_state(arm):
    arm.step(20)
    before, assembly = arm.reader.model, arm.simulation.assembly
    box = ObjectConfig(name="more", model="package://mujoco_ros/urdf_mjcf/objects/box.xml")
    plant = arm.simulation.build_plant(rebuild(assembly, add=[object_part(assembly.config, box)]))
    prepared = arm.writer.prepare(plant)
    assert arm.reader.update() is Update.STATE  # of the model that is simulated still
    arm.simulation.switch_model(plant)
    arm.writer.switch(prepared)
    arm.writer.finish()
    assert arm.reader.peek() != (arm.reader.time, arm.reader.step)
    assert arm.reader.update() is Update.MODEL
    assert arm.reader.model.nbody == before.nbody + 1
    np.testing.assert_array_equal(arm.reader.data.qpos, plant.data.qpos)
    assert arm.reader.assembly.config.objects[-1].name == "more"
    arm.step()
    assert arm.reader.update() is Update.STATE
    np.testing.assert_array_equal(arm.reader.data.qpos, arm.simulation.sample.qpos)


def test_a_model_that_is_rolled_back_does_not_reach_a_reader(arm):
    arm.reader.update()
    arm.writer.prepare(arm.simulation.build_plant(rebuild(arm.simulation.assembly))).discard()
    assert arm.reader.update() is Update.NOTHING
    arm.step()
    assert arm.reader.update() is Update.STATE


def test_edits_of_appearance_gains_and_options_reach_a_reader(arm):
    arm.reader.update()
    edits, model, drives = arm.reader.edits, arm.simulation.model, arm.simulation.drives
    arm.writer.share_edits()
    assert arm.reader.update() is Update.NOTHING  # the model was not edited
    name = next(name for g in range(model.ngeom) if (name := model.geom(g).name))
    set_properties(model, {Property("geom", name, "rgba"): (0.1, 0.2, 0.3, 0.4)})
    drives.set_gains(2.0 * drives.kp, 2.0 * drives.kd)
    model.opt.gravity = [0.0, 0.0, -1.62]
    arm.writer.share_edits()
    assert arm.reader.update() is Update.STATE
    assert arm.reader.edits == edits + 1
    for array in ("geom_rgba", "actuator_biasprm", "actuator_forcerange"):
        np.testing.assert_array_equal(getattr(arm.reader.model, array), getattr(model, array))
    assert arm.reader.model.opt.gravity.tolist() == [0.0, 0.0, -1.62]
    assert arm.reader.model.opt.integrator == model.opt.integrator


def test_a_new_size_reaches_a_reader_with_its_bounding_volumes(share, simulate):
    shared = share(simulate(PUPPET))
    model = shared.simulation.model
    set_properties(model, {Property("geom", "ball", "size"): (0.4,)})
    shared.writer.share_edits()
    shared.reader.update()
    assert shared.reader.model.geom("ball").size[0] == 0.4
    np.testing.assert_array_equal(shared.reader.model.geom_rbound, model.geom_rbound)


def test_a_change_in_a_pause_reaches_a_reader_with_the_same_time(share, simulate):
    shared = share(simulate(PUPPET))
    reader, simulation = shared.reader, shared.simulation
    shared.step(5)
    reader.update()
    simulation.paused = True
    for _ in range(3):
        shared.writer.idle()
    assert reader.paused
    assert reader.update() is Update.NOTHING  # the sample is kept, not the state after it
    time = reader.time
    simulation.data.mocap_pos[0] = 1.0, 2.0, 3.0
    shared.writer.idle()
    assert reader.update() is Update.STATE
    assert (reader.data.mocap_pos.tolist(), reader.time) == ([[1.0, 2.0, 3.0]], time)
    simulation.paused = False
    shared.step()
    assert reader.update() is Update.STATE
    assert not reader.paused


def test_a_reset_together_with_a_pause_reaches_a_reader(arm):
    arm.simulation.references.q[0] += 0.3
    arm.step(50)
    arm.simulation.paused = True
    arm.simulation.reset()
    arm.writer.idle()
    assert arm.reader.update() is Update.STATE
    assert arm.reader.time == 0.0
    np.testing.assert_array_equal(arm.reader.data.qpos, arm.simulation.plant.start.qpos)


def test_a_reader_gets_the_real_time_factor(arm):
    arm.writer.header.factor = 0.25
    assert arm.reader.factor == 0.25


def test_the_end_of_the_simulator_reaches_a_reader(arm):
    assert not arm.reader.ended
    arm.writer.close()
    assert arm.reader.ended
    assert arm.reader.update() in (Update.STATE, Update.NOTHING)
    with pytest.raises(UserInputError, match="no shared state"):
        SharedState(arm.writer.name)


@pytest.mark.parametrize("name", ["/proc/1/fd/nonsense", "/dev/null", "pyproject.toml", ""])
def test_memory_that_is_not_a_shared_state_is_refused(name):
    with pytest.raises(UserInputError, match="no shared state"):
        SharedState(name)


def test_only_readers_with_a_slot_are_monitored(arm):
    arm.reader.beat(1e9)
    SharedState(f"{arm.writer.name}#2").beat(1e9)
    assert [arm.writer.header.deadline(slot)[0] > 1e9 for slot in range(4)] == [0, 0, 1, 0]
