"""State of shared and of new elements after a change of the model."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource, GoalEnded, Outcome, SimulationReset
from mujoco_ros.control.gripper import gripper_command
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.settings import TrajectorySettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, trajectory
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.physics_options import PhysicsConfig
from mujoco_ros.sim.simulation import Simulation

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
BOX = "<mujoco><worldbody><body name='it'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
FAR = PoseConfig(xyz=(20.0, 20.0, 500.0))
"""A position without contacts during a test."""
WORLD = """
<mujoco>
  <option jacobian="sparse" timestep="0.002"/>
  <size nuserdata="3"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="hand" mocap="true"/>
    <body name="ball" pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/></body>
  </worldbody>
  <equality><weld name="glue" body1="ball" body2="hand" active="false"/></equality>
</mujoco>
"""
ROBOT = """
<mujoco>
  <worldbody>
    <body name="upper" pos="0 0 1.5">
      <joint name="shoulder" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.04"/>
      <body name="lower" pos="0 0 0.4">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <geom name="lower" type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
        <body name="head" pos="0.4 0 0"><joint name="neck" type="ball"/><geom size="0.05"/></body>
        <body name="finger" pos="0.3 0 0.1">
          <joint name="finger" type="slide" axis="1 0 0" range="0 0.1"/>
          <geom size="0.02" mass="0.1"/>
          <site name="tip"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" ctrlrange="-80 80"/>
    <motor name="elbow" joint="elbow"/>
    <position name="finger" joint="finger" kp="100" kv="5" timeconst="0.05"/>
    <orientation name="neck" joint="neck" kp="2" kv="0.1"/>
    <motor name="late" site="tip" gear="0 0 1 0 0 0" delay="0.01" nsample="5"/>
  </actuator>
  <sensor><gyro site="tip" noise="0.1"/></sensor>
</mujoco>
"""
GAINS = "shoulder: {kp: 200, kd: 20}\nelbow: {kp: 100, kd: 10}\n"


@pytest.fixture
def simulate(tmp_path: Path):
    """A function that simulates a world with robots of these names."""
    (tmp_path / "world.xml").write_text(WORLD)
    (tmp_path / "robot.xml").write_text(ROBOT)
    (tmp_path / "gains.yaml").write_text(GAINS)

    def build(*names: str, **options) -> Simulation:
        robots = tuple(
            RobotConfig(
                name=name,
                model="robot.xml",
                gains="gains.yaml",
                gripper="finger",
                pose=PoseConfig(xyz=(2.0 * i, 1.0, 0.0)),
            )
            for i, name in enumerate(names)
        )
        config = SceneConfig(name="scene", folder=tmp_path, world="world.xml", robots=robots)
        return Simulation(config, **options)

    return build


def change(simulation: Simulation, *, add=(), remove=()) -> None:
    """Go over to a scene with other parts."""
    simulation.switch_model(
        simulation.build_plant(rebuild(simulation.assembly, add=add, remove=remove))
    )


def box(name: str = "box", pose: PoseConfig = FAR):
    return part_from_text(BOX, name=name, pose=pose)


def run(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        assert simulation.step()


def follow(simulation: Simulation, index: int = 0, goal: object = "goal") -> None:
    """Have a robot follow a trajectory of one second."""
    control = simulation.controls[index]
    count = len(control.joints.names)
    settings = TrajectorySettings(
        trajectory=np.zeros(count), goal=np.zeros(count), stopped_velocity_tolerance=0.0
    )
    names = [control.joints.names[i] for i in control.joints.with_interface("position")]
    values = np.zeros((4, 2, len(names)))
    values[0] = [[0.3], [-0.2]] * np.ones(len(names))
    points = PointArrays(
        times=np.array([0.5, 1.0]),
        values=values,
        given=np.array([[True, True]] + [[False] * 2] * 3),
    )
    moves = trajectory(control.joints, settings, "clamp", names, None, points)
    control.follow(replace(moves, goal=goal), float(simulation.data.time))


def state(simulation: Simulation) -> np.ndarray:
    vector = np.empty(mujoco.mj_stateSize(simulation.model, STATE))
    mujoco.mj_getState(simulation.model, simulation.data, vector, STATE)
    return vector


def test_shared_elements_have_bitwise_the_same_state(simulate):
    simulation = simulate("one", "two")
    run(simulation, 20)
    data, numbers = simulation.data, np.random.default_rng(1)
    for array in (data.qfrc_applied, data.xfrc_applied, data.history, data.userdata, data.act):
        array[...] = numbers.normal(size=array.shape)
    data.mocap_pos[:] = numbers.normal(size=data.mocap_pos.shape)
    data.eq_active[:] = True
    before = state(simulation)
    change(simulation, add=(box(),))
    change(simulation, remove=("box",))
    assert state(simulation).tobytes() == before.tobytes()


def test_the_state_of_shared_elements_is_copied_to_their_new_indices(simulate):
    simulation = simulate("one", "two")
    follow(simulation, 1)
    run(simulation, 200)
    simulation.data.xfrc_applied[:, 0] = np.arange(simulation.model.nbody)
    simulation.data.act[:] = 0.01, 0.02
    old = (simulation.model, simulation.data)
    change(simulation, remove=("one",), add=(box(),))
    new = (simulation.model, simulation.data)
    for name in ("two/shoulder", "two/elbow", "two/neck", "two/finger"):
        before, after = (data.joint(name) for _, data in (old, new))
        assert before.qpos.tolist() == after.qpos.tolist()
        assert before.qvel.tolist() == after.qvel.tolist()
        assert before.qacc_warmstart.tolist() == after.qacc_warmstart.tolist()
    for name in ("two/lower", "ball"):
        assert old[1].body(name).xfrc_applied.tolist() == new[1].body(name).xfrc_applied.tolist()
    for name in ("two/finger", "two/neck", "two/shoulder"):
        assert old[1].actuator(name).ctrl.tolist() == new[1].actuator(name).ctrl.tolist()
    assert new[1].act.tolist() == [0.02]
    assert new[1].body("box/it").xpos.tolist() == list(FAR.xyz)


@pytest.mark.parametrize("jacobian", ["sparse", "auto"])
def test_a_spawn_far_away_changes_no_joint_path(jacobian):
    def path(*, spawn: bool) -> np.ndarray:
        simulation = Simulation(load_scene("humanoid"))
        if jacobian == "sparse":
            simulation.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        follow(simulation)
        rows = []
        for step in range(1200):
            if spawn and step == 400:
                near = PoseConfig(xyz=(30.0, 0.0, 0.2))
                change(simulation, add=(box("a"), box("b", FAR if jacobian == "sparse" else near)))
            if spawn and step == 800:
                change(simulation, remove=("a",))
            assert simulation.step()
            rows.append(simulation.sample.qpos[:40].copy())
        return np.array(rows)

    alone, disturbed = path(spawn=False), path(spawn=True)
    if jacobian == "sparse":
        assert alone.tobytes() == disturbed.tobytes()
    else:
        # A dense Jacobian has a column for every joint, and sums over them round
        # otherwise; so does the solver when there is an island of constraints more.
        assert np.abs(alone - disturbed).max() < 1e-12


def test_trajectories_streams_and_goals_continue(simulate):
    def path(*, spawn: bool) -> tuple[np.ndarray, list[object]]:
        simulation = simulate("one", "two")
        follow(simulation, 0)
        second = simulation.controls[1]
        grip = gripper_command(second.joints, "clamp", [], [0.05], [0.04], [30.0])
        second.command_gripper(replace(grip, goal="grip"), simulation.data.time)
        rows = []
        for step in range(600):
            if step % 10 == 0:
                fields = [[0.5 * np.sin(0.01 * step)], [], []]
                command = joint_command(second.joints, "clamp", ["elbow"], fields)
                second.command(CommandSource.JOINT_COMMANDS, command, simulation.data.time)
            if spawn and step in (100, 200, 300):
                change(simulation, add=(box(f"box{step}"),))
            assert simulation.step()
            rows.append([*simulation.references.values.ravel(), *simulation.sample.qpos[:20]])
        ends = [event for event in simulation.events if isinstance(event, GoalEnded)]
        return np.array(rows), [(event.goal, event.outcome) for event in ends]

    alone, disturbed = path(spawn=False), path(spawn=True)
    assert alone[0].tobytes() == disturbed[0].tobytes()
    assert alone[1] == disturbed[1]
    assert ("goal", Outcome.SUCCESSFUL) in alone[1]


def test_remaining_robots_keep_their_control_object(simulate):
    simulation = simulate("one", "two")
    one, two = simulation.controls
    change(simulation, remove=("one",), add=(part_from_text(ROBOT, name="three"),))
    assert simulation.controls[0] is two
    assert simulation.controls[1] is not one
    assert np.shares_memory(two.references.values, simulation.references.values)
    assert [robot.name for robot in simulation.layout.robots] == ["two", "three"]


def test_goals_of_a_removed_robot_end_with_the_reason(simulate):
    simulation = simulate("one", "two")
    follow(simulation, 0, "follow")
    grip = gripper_command(simulation.controls[0].joints, "clamp", [], [0.05], [], [])
    simulation.controls[0].command_gripper(replace(grip, goal="grip"), 0.0)
    follow(simulation, 1, "other")
    run(simulation, 10)
    simulation.events.clear()
    change(simulation, remove=("one",))
    ended = {event.goal: event.message for event in simulation.events}
    assert ended == {
        "follow": "robot 'one' no longer exists",
        "grip": "robot 'one' no longer exists",
    }
    run(simulation, 600)
    ended = [event for event in simulation.events if isinstance(event, GoalEnded)]
    assert [(e.goal, e.outcome) for e in ended[-1:]] == [("other", Outcome.SUCCESSFUL)]


def test_gains_are_kept_and_a_reset_restores_the_configured_ones(simulate):
    simulation = simulate("one", "two")
    configured = simulation.plant.gains._configured[0].copy()
    simulation.drives.set_gains(configured + 7.0, simulation.drives.kd)
    change(simulation, remove=("one",), add=(part_from_text(ROBOT, name="three"),))
    count = len(simulation.layout.robots[0].joints.names)
    assert simulation.drives.kp[:count].tolist() == (configured + 7.0)[count:].tolist()
    assert (
        simulation.drives.kp[count:].tolist()
        == simulation.plant.gains._configured[0][count:].tolist()
    )
    actuator = simulation.model.actuator("two/shoulder")
    assert actuator.biasprm[1] == -207.0
    simulation.reset()
    assert simulation.drives.kp[:count].tolist() == configured[count:].tolist()


def test_an_effort_limit_is_kept_until_its_end(simulate):
    simulation = simulate("one")
    change(simulation, add=(box("a"),))
    simulation.drives.limit_effort(0, 5.0)
    change(simulation, add=(box("b"),))
    assert simulation.model.actuator("one/shoulder").forcerange.tolist() == [-5.0, 5.0]
    simulation.drives.limit_effort(0, 0.0)
    assert simulation.model.actuator("one/shoulder").forcerange.tolist() == [-80.0, 80.0]


def test_model_edits_of_shared_elements_remain(simulate):
    simulation = simulate("one", "two")
    model = simulation.model
    model.opt.gravity[:] = 0.0, 0.0, -1.6
    model.geom("two/lower").rgba[:] = 1.0, 0.0, 0.0, 0.5
    model.body("two/lower").mass[:] = 3.0
    model.geom("floor").friction[:] = 0.1
    model.joint("two/elbow").range[:] = -1.0, 1.0
    change(simulation, remove=("one",), add=(box(),))
    model = simulation.model
    assert model.opt.gravity.tolist() == [0.0, 0.0, -1.6]
    assert model.geom("two/lower").rgba.tolist() == [1.0, 0.0, 0.0, 0.5]
    assert model.body("two/lower").mass == 3.0
    assert model.geom("floor").friction.tolist() == [0.1] * 3
    assert model.joint("two/elbow").range.tolist() == [-1.0, 1.0]
    change(simulation, add=(box("again"),))
    assert simulation.model.body("two/lower").mass == 3.0
    assert simulation.model.body("two/upper").mass == simulate("two").model.body("two/upper").mass


def test_a_reset_returns_each_element_to_its_initial_or_spawned_state(simulate):
    simulation, untouched = simulate("one"), simulate("one")
    follow(simulation)
    run(simulation, 100)
    change(simulation, add=(box(),))
    run(simulation, 100)
    simulation.reset()
    count = untouched.model.nq
    assert simulation.data.qpos[:count].tolist() == untouched.data.qpos.tolist()
    assert simulation.data.qpos[count : count + 3].tolist() == list(FAR.xyz)
    assert simulation.references.values.tolist() == untouched.references.values.tolist()


def test_another_part_of_the_same_name_inherits_nothing(simulate):
    simulation = simulate("one")
    change(simulation, add=(box(),))
    run(simulation, 100)
    assert simulation.data.body("box/it").xpos[2] < FAR.xyz[2]
    change(simulation, add=(box(),), remove=("box",))
    assert simulation.data.body("box/it").xpos.tolist() == list(FAR.xyz)


def test_time_continues_without_a_repeated_or_skipped_step(simulate):
    simulation = simulate("one")
    times = []
    for step in range(30):
        if step in (10, 20):
            change(simulation, add=(box(f"box{step}"),))
        run(simulation, 1)
        times.append(simulation.time)
    assert times == [i * 0.002 for i in range(30)]


def test_the_sample_after_a_change_is_of_the_present_state(simulate):
    simulation = simulate("one")
    run(simulation, 50)
    change(simulation, add=(box(),))
    sample, data = simulation.sample, simulation.data
    assert simulation.time == data.time
    assert sample.qpos.tolist() == data.qpos.tolist()
    twin = mujoco.MjData(simulation.model)
    mujoco.mj_copyState(simulation.model, data, twin, STATE)
    mujoco.mj_forward(simulation.model, twin)
    assert sample.xpos.tolist() == twin.xpos.tolist()
    assert sample.qacc.tolist() == pytest.approx(twin.qacc.tolist())


def test_noise_and_saturation_counts_continue(simulate):
    def readings(*, spawn: bool) -> tuple[list[list[float]], dict[str, int]]:
        simulation = simulate("one", sensor_noise=True)
        simulation.references.tau[0] = 500.0
        run(simulation, 20)
        if spawn:
            change(simulation, add=(box(),))
        rows = []
        for _ in range(20):
            run(simulation, 1)
            rows.append(simulation.sample.sensordata.tolist())
        return rows, simulation.plant.saturation.steps()

    alone, disturbed = readings(spawn=False), readings(spawn=True)
    assert alone == disturbed
    assert alone[1]["one/shoulder"] > 0


def test_a_fresh_model_has_its_initial_state(simulate):
    simulation = simulate("one")
    follow(simulation)
    run(simulation, 100)
    simulation.model.opt.gravity[:] = 0.0
    simulation.events.clear()
    simulation.switch_model(
        simulation.build_plant(assemble(load_scene("arm"))), fresh=True, time=5.0
    )
    ended, *_, reset = simulation.events
    assert ended.message == "robot 'one' no longer exists"
    assert isinstance(reset, SimulationReset)
    assert simulation.data.time == 5.0
    assert simulation.model.opt.gravity[2] < -9.0
    fresh = Simulation(load_scene("arm"))
    assert simulation.data.qpos.tolist() == fresh.data.qpos.tolist()
    run(simulation, 10)
    assert simulation.time == pytest.approx(5.0 + 9 * simulation.model.opt.timestep)


def test_parts_can_be_added_to_an_emptied_scene(simulate):
    simulation = simulate("one")
    change(simulation, remove=("one",))
    assert simulation.controls == []
    run(simulation, 10)
    simulation.switch_model(simulation.build_plant(assemble(SceneConfig(name="empty"))), fresh=True)
    run(simulation, 10)
    change(simulation, add=(part_from_text(ROBOT, name="robot"),))
    run(simulation, 10)
    assert [robot.name for robot in simulation.layout.robots] == ["robot"]


def test_a_plan_does_not_change_the_present_simulation(simulate):
    def run_on(*, plan: bool) -> np.ndarray:
        simulation = simulate("one")
        follow(simulation)
        run(simulation, 100)
        if plan:
            simulation.build_plant(rebuild(simulation.assembly, add=(box(),), remove=()))
        run(simulation, 100)
        return state(simulation)

    assert run_on(plan=True).tobytes() == run_on(plan=False).tobytes()


def test_old_plants_are_released(simulate):
    simulation = simulate("one")
    follow(simulation)
    past = weakref.ref(simulation.plant)
    for _ in range(2):
        run(simulation, 10)
        change(simulation, add=(box(),))
        change(simulation, remove=("box",))
    gc.collect()
    assert past() is None


def test_a_changed_timestep_is_kept(simulate):
    simulation = simulate("one")
    run(simulation, 3)
    timesteps = []
    simulation.on_timestep.append(timesteps.append)
    simulation.set_timestep(0.005)
    change(simulation, add=(box(),))
    assert simulation.model.opt.timestep == 0.005
    assert simulation.controls[0].timestep == 0.005
    run(simulation, 3)
    assert simulation.time == pytest.approx(3 * 0.002 + 2 * 0.005)
    assert timesteps == [0.005]


def test_a_reloaded_robot_of_the_same_name_has_its_own_gains(simulate):
    simulation = simulate("one")
    plant = simulation.build_plant(assemble(simulation.assembly.config))
    np.testing.assert_array_equal(plant.gains._configured[0], simulation.plant.gains._configured[0])
    simulation.switch_model(plant, fresh=True)
    assert simulation.drives.kp.tolist() == plant.gains._configured[0].tolist()
    assert simulation.drives.kp.max() == 200.0


def motor(name: str):
    text = """
    <mujoco>
      <worldbody><body>
        <joint name="j" axis="0 1 0"/><geom type="capsule" size="0.02 0.1" mass="0.2"/>
      </body></worldbody>
      <actuator><motor name="m" joint="j" forcerange="-50 50"/></actuator>
    </mujoco>
    """
    return part_from_text(text, name=name, pose=FAR)


def test_a_robot_that_replaces_another_in_one_change_has_its_own_gains():
    simulation = Simulation(SceneConfig(name="empty"))
    change(simulation, add=(motor("it"),))
    gains = simulation.plant.gains._configured[0].copy()
    change(simulation, add=(motor("it"),), remove=("it",))
    assert gains[0] > 0.0
    np.testing.assert_array_equal(simulation.plant.gains._configured[0], gains)
    np.testing.assert_array_equal(simulation.drives.kp, gains)


def test_gains_are_derived_for_the_present_timestep():
    def gains(timestep: float, *, compiled: bool) -> float:
        physics = PhysicsConfig(timestep=timestep if compiled else 0.002)
        simulation = Simulation(SceneConfig(name="empty", physics=physics))
        simulation.set_timestep(timestep)
        change(simulation, add=(motor("it"),))
        return float(simulation.plant.gains._configured[1][0])

    assert gains(0.01, compiled=False) == gains(0.01, compiled=True) != gains(0.002, compiled=True)
