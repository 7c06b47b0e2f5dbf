"""Bitwise restoration of a state."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource, GoalEnded, SimulationReset
from mujoco_ros.control.gripper import gripper_command
from mujoco_ros.control.joint_command import forward_command, joint_command
from mujoco_ros.control.settings import TrajectorySettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, trajectory
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.robot.body_frames import named_frames
from mujoco_ros.model.scene.assembly import assemble, assemble_part, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import restore, take_snapshot
from mujoco_ros.sim.wrenches import AppliedWrench

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
BALL = (
    "<mujoco><worldbody><body name='it'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
)


def state_of(simulation: Simulation) -> bytes:
    """Return all state that affects the next steps."""
    state = np.empty(mujoco.mj_stateSize(simulation.model, STATE))
    mujoco.mj_getState(simulation.model, simulation.data, state, STATE)
    return state.tobytes() + simulation.references.values.tobytes()


def run(simulation: Simulation, steps: int) -> list[bytes]:
    """Step, and return state, sensor data and references of each step."""
    states = []
    for _ in range(steps):
        assert simulation.step()
        states.append(state_of(simulation) + simulation.sample.sensordata.tobytes())
    return states


def stream(simulation: Simulation, joint: str, position: float) -> None:
    """Send a joint a position, as a stream does."""
    (control,) = simulation.controls
    command = joint_command(control.joints, "clamp", [joint], ([position], [], []))
    control.command(CommandSource.JOINT_COMMANDS, command, float(simulation.data.time))


def follow(simulation: Simulation, names: tuple[str, ...], by: float, goal: object) -> None:
    """Move joints along a cubic trajectory of a second and a half."""
    (control,) = simulation.controls
    joints = control.joints
    start = control.references.q[joints.find(list(names))]
    values = np.zeros((4, 3, len(names)))
    for row, part in enumerate((0.3, 1.0, 0.0)):
        values[0, row] = start + part * by
    values[1, 0] = 0.3
    points = PointArrays(
        times=np.array([0.4, 0.9, 1.5]),
        values=values,
        given=np.array([[True] * 3, [True] * 3, [False] * 3, [False] * 3]),
    )
    zeros = np.zeros(len(joints.names))
    settings = TrajectorySettings(trajectory=zeros, goal=zeros)
    moves = trajectory(joints, settings, "clamp", names, None, points)
    control.follow(replace(moves, goal=goal), simulation.data.time)


def grip(simulation: Simulation, position: float, effort: float, goal: object) -> None:
    """Send the gripper to a position."""
    (control,) = simulation.controls
    command = gripper_command(control.joints, "clamp", [], [position], [0.02], [effort])
    control.command_gripper(replace(command, goal=goal), float(simulation.data.time))


def drain(simulation: Simulation) -> list[object]:
    events = list(simulation.events)
    simulation.events.clear()
    return events


@pytest.fixture
def arm() -> Simulation:
    """The arm with noisy sensors and commands of all kinds."""
    simulation = Simulation(load_scene("arm"), sensor_noise=True, seed=3)
    follow(simulation, ("shoulder_pan_joint", "shoulder_lift_joint"), 0.4, "moves")
    grip(simulation, 0.01, 30.0, "grips")
    for step in range(60):
        if step % 10 == 0:
            stream(simulation, "elbow_joint", 1.1 + 0.002 * step)
        assert simulation.step()
    return simulation


def test_the_steps_after_a_restored_snapshot_are_bitwise_the_same(arm):
    saved = take_snapshot(arm)
    before = run(arm, 1700)
    for _ in range(2):
        restore(arm, saved)
        assert run(arm, 1700) == before


def test_the_steps_after_a_restore_are_the_same_with_the_same_commands(arm):
    def continuation() -> list[bytes]:
        states = run(arm, 4)
        stream(arm, "elbow_joint", 1.3)
        states += run(arm, 10)
        stream(arm, "elbow_joint", 1.35)
        follow(arm, ("wrist_1_joint",), -0.3, None)
        grip(arm, 0.03, 0.0, "opens")
        return states + run(arm, 600)

    saved = take_snapshot(arm)
    before = continuation()
    restore(arm, saved)
    assert continuation() == before


@pytest.mark.parametrize("scene", ["humanoid", "quadruped", "zoo"])
def test_the_steps_after_a_restore_are_the_same_with_contacts_in_every_scene(scene):
    simulation = Simulation(load_scene(scene))
    simulation.data.qvel[:3] += 0.3
    run(simulation, 150)
    saved = take_snapshot(simulation)
    before = run(simulation, 150)
    restore(simulation, saved)
    assert run(simulation, 150) == before


def test_the_present_state_is_the_saved_one_at_once(arm):
    saved, state = take_snapshot(arm), state_of(arm)
    time, positions = float(arm.data.time), arm.data.qpos.copy()
    run(arm, 50)
    restore(arm, saved)
    assert state_of(arm) == state
    assert (arm.data.time, arm.time) == (time, time)
    np.testing.assert_array_equal(arm.sample.qpos, positions)


def test_gains_effort_limits_and_equalities_are_restored(arm):
    assert arm.model.neq
    saved = take_snapshot(arm)
    kp, limits = arm.drives.kp.copy(), arm.model.actuator_forcerange.copy()
    arm.drives.set_gains(2 * kp, arm.drives.kd.copy())
    grip(arm, 0.02, 5.0, "weakly")
    active = arm.data.eq_active.copy()
    arm.data.eq_active[:] = 1 - active
    restore(arm, saved)
    np.testing.assert_array_equal(arm.data.eq_active, active)
    np.testing.assert_array_equal(arm.drives.kp, kp)
    np.testing.assert_array_equal(arm.model.actuator_forcerange, limits)


def test_goals_end_and_motions_continue_without_them(arm):
    saved = take_snapshot(arm)
    run(arm, 100)
    drain(arm)
    restore(arm, saved)
    ended = {e.goal: e.message for e in drain(arm) if isinstance(e, GoalEnded)}
    assert ended == {"moves": "another state was loaded", "grips": "another state was loaded"}
    pan = arm.references.q[0]
    run(arm, 840)  # to the second of its points
    assert arm.references.q[0] - pan == pytest.approx(0.4, abs=0.02)
    run(arm, 900)
    assert not [e for e in drain(arm) if isinstance(e, GoalEnded)]


def test_a_restore_emits_a_reset_event(arm):
    saved = take_snapshot(arm)
    run(arm, 100)
    drain(arm)
    times: list[float] = []
    arm.on_reset.append(lambda: times.append(arm.data.time))
    restore(arm, saved)
    (event,) = [e for e in drain(arm) if isinstance(e, SimulationReset)]
    assert times == [event.time] == [pytest.approx(0.06)]
    assert event.before == pytest.approx(0.16)
    (gains,) = event.gains.values()
    np.testing.assert_array_equal(gains.kp, arm.drives.kp)


def test_without_rewind_motions_end(arm):
    saved = take_snapshot(arm)
    references = arm.references.q.copy()
    run(arm, 100)
    now = float(arm.data.time)
    restore(arm, saved, rewind=False)
    assert arm.data.time == now
    np.testing.assert_array_equal(arm.references.q, references)
    assert not arm.references.dq.any()
    run(arm, 50)
    np.testing.assert_array_equal(arm.references.q, references)


def test_active_wrenches_of_the_snapshot_are_restored_and_others_end(arm):
    body = arm.model.body("arm/wrist_3_link").id
    place = named_frames(arm.model, arm.layout)["wrist_3_link"]
    arm.wrenches.put(
        place, AppliedWrench(force=(0.0, 0.0, 20.0), torque=(0.0, 0.0, 0.0), until=0.5)
    )
    run(arm, 10)
    saved = take_snapshot(arm)
    before = run(arm, 600)
    assert not arm.data.xfrc_applied[body].any()
    restore(arm, saved)
    assert run(arm, 600) == before
    restore(arm, saved, rewind=False)
    run(arm, 1)
    assert not arm.data.xfrc_applied[body].any()


# --- when the model has changed since


def spawn(simulation: Simulation, name: str) -> None:
    part = part_from_text(BALL, name=name, pose=PoseConfig(xyz=(3.0, 3.0, 1.0)))
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly, add=(part,))))


def delete(simulation: Simulation, name: str) -> None:
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly, remove=(name,))))


def test_elements_spawned_after_the_snapshot_keep_their_state(arm):
    saved = take_snapshot(arm)
    robot = arm.model.nq
    positions, references = arm.data.qpos.copy(), arm.references.values.copy()
    spawn(arm, "ball")
    run(arm, 200)
    ball = arm.data.body("ball/it").xpos.copy()
    assert ball[2] < 0.9
    restore(arm, saved)
    np.testing.assert_array_equal(arm.data.qpos[:robot], positions)
    np.testing.assert_array_equal(arm.references.values, references)
    np.testing.assert_allclose(arm.data.body("ball/it").xpos, ball, atol=0.02)
    assert arm.data.time == saved.time
    run(arm, 200)


def test_elements_deleted_after_the_snapshot_remain_deleted(arm):
    spawn(arm, "ball")
    run(arm, 10)
    saved = take_snapshot(arm)
    positions = arm.data.qpos.copy()
    delete(arm, "ball")
    run(arm, 100)
    restore(arm, saved)
    np.testing.assert_array_equal(arm.data.qpos, positions[: arm.model.nq])
    run(arm, 100)


def test_another_part_of_the_same_name_is_not_changed(arm):
    spawn(arm, "ball")
    run(arm, 300)
    saved = take_snapshot(arm)
    delete(arm, "ball")
    spawn(arm, "ball")
    height = arm.data.body("ball/it").xpos[2]
    restore(arm, saved)
    assert arm.data.body("ball/it").xpos[2] == pytest.approx(height, abs=1e-6)


def test_a_restore_in_another_world_is_refused_and_changes_nothing(arm):
    saved = take_snapshot(arm)
    arm.switch_model(arm.build_plant(assemble(load_scene("quadruped"))), fresh=True)
    run(arm, 10)
    state = state_of(arm)
    with pytest.raises(UserInputError, match="another world"):
        restore(arm, saved)
    assert state_of(arm) == state


def alone(text: str, name: str = "it") -> Simulation:
    return Simulation(assemble_part(part_from_text(text, name=name)))


def test_actuators_with_several_outputs_do_not_affect_the_force_limits_of_others():
    simulation = alone("""
    <mujoco>
      <worldbody>
        <body><joint name="head" type="ball"/><geom size="0.1"/></body>
        <body pos="1 0 0"><joint name="j"/><geom size="0.1"/></body>
      </worldbody>
      <actuator>
        <orientation joint="head" kp="1"/>
        <motor name="m" joint="j" forcerange="-7 7"/>
      </actuator>
    </mujoco>
    """)
    assert simulation.model.nout > simulation.model.nactuator
    saved = take_snapshot(simulation)
    spawn(simulation, "ball")
    simulation.drives.limit_effort(0, 2.0)
    restore(simulation, saved)
    assert simulation.model.actuator("m").forcerange.tolist() == [-7.0, 7.0]


def test_without_rewind_a_stream_of_efforts_ends():
    simulation = alone("""
    <mujoco>
      <option gravity="0 0 0"/>
      <worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
      <actuator><motor joint="j"/></actuator>
    </mujoco>
    """)
    (control,) = simulation.controls
    push = forward_command(control.joints, "clamp", "effort", [5.0])
    control.command(CommandSource.EFFORT, push, 0.0)
    run(simulation, 50)
    saved = take_snapshot(simulation)
    run(simulation, 10)
    restore(simulation, saved, rewind=False)
    assert simulation.references.tau.tolist() == [0.0]
    assert simulation.references.q.tolist() == simulation.data.qpos.tolist() != [0.0]
    assert not control.active


def test_without_rewind_a_gripped_object_remains_gripped(arm):
    run(arm, 600)
    limits = arm.model.actuator_forcerange.copy()
    saved = take_snapshot(arm)
    grip(arm, 0.03, 90.0, "opens")
    restore(arm, saved, rewind=False)
    np.testing.assert_array_equal(arm.model.actuator_forcerange, limits)


def test_steps_are_whole_after_the_timestep_has_changed():
    simulation = alone(BALL)
    run(simulation, 501)
    saved = take_snapshot(simulation)
    simulation.set_timestep(0.005)
    run(simulation, 1)
    restore(simulation, saved)
    times = []
    for _ in range(3):
        run(simulation, 1)
        times.append(simulation.time)
    assert times == pytest.approx([1.002, 1.007, 1.012])


def test_a_restore_in_another_compiled_world_is_refused(tmp_path):
    def compiled(name: str) -> Simulation:
        body = f"<body><joint name='{name}'/><geom size='1'/></body>"
        text = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
        path = tmp_path / f"{name}.mjb"
        mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(text), str(path), None)
        return Simulation(load_scene(str(path)))

    simulation = compiled("one")
    saved = take_snapshot(simulation)
    simulation.switch_model(simulation.build_plant(compiled("two").assembly), fresh=True)
    with pytest.raises(UserInputError, match="another world"):
        restore(simulation, saved)
