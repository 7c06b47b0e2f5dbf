"""Third-party models run unchanged, with derived gains and sensors."""

import os
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.joints import Mode
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def simulate(package: str, file: str) -> Simulation:
    """Load a model file of a package, which is looked for but not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"{package} is not installed; requirements/models.txt has it")
    return Simulation(load_scene(str(Path(spec.submodule_search_locations[0]) / file)))


def example_robot(file: str) -> Simulation:
    """Load a URDF of the package example-robot-data, which contains no Python."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("example-robot-data is not installed; requirements/models.txt has it")
    (path,) = (it for it in files if str(it).endswith(f"/example-robot-data/robots/{file}"))
    return Simulation(load_scene(f"{Path(str(path.locate())).resolve()} base:=fixed"))


def run(simulation: Simulation, seconds: float) -> np.ndarray:
    """Step; return how far each joint strayed from its start at most, in joint order."""
    joints = simulation.joints
    start = simulation.data.qpos[joints.qpos].copy()
    strayed = np.zeros(len(joints.names))
    for _ in range(round(seconds / simulation.model.opt.timestep)):
        assert simulation.step()
        np.maximum(strayed, np.abs(simulation.sample.qpos[joints.qpos] - start), out=strayed)
    assert np.isfinite(simulation.data.qpos).all()
    assert np.isfinite(simulation.data.qvel).all()
    assert np.isfinite(simulation.data.sensordata).all()
    assert not simulation.engine_messages
    return strayed


def only_robot(simulation: Simulation) -> RobotLayout:
    (robot,) = simulation.layout.robots
    return robot


def modes(simulation: Simulation) -> list[tuple[Mode, ...]]:
    return [simulation.drives.modes(j) for j in range(len(simulation.joints.names))]


def described_joints(simulation: Simulation) -> set[str]:
    (robot,) = descriptions(simulation.assembly, simulation.layout)
    tree = ElementTree.fromstring(robot.urdf)
    return {j.get("name", "") for j in tree.iter("joint") if j.get("type") != "fixed"}


def test_a_humanoid_of_torque_motors_without_gains_holds_its_joints():
    simulation = simulate("gymnasium", "envs/mujoco/assets/humanoid.xml")
    robot = only_robot(simulation)
    assert len(robot.joints.names) == 17
    assert [base.name for base in robot.bases] == ["torso"]
    assert modes(simulation) == [(Mode.PD,)] * 17
    assert set(robot.joints.names) <= described_joints(simulation)
    assert len(robot.cameras) == 2
    # It has round feet, so it eventually falls over with constant joint positions.
    assert run(simulation, 0.5).max() < 0.15
    run(simulation, 1.5)


def test_a_quadruped_that_starts_beyond_its_limits_settles_at_them():
    simulation = simulate("gymnasium", "envs/mujoco/assets/ant.xml")
    robot = only_robot(simulation)
    assert len(robot.joints.names) == 8
    assert [base.name for base in robot.bases] == ["torso"]
    strayed = run(simulation, 2.0)
    limits = simulation.model.jnt_range[robot.joints.ids]
    outside = np.maximum(limits[:, 0], -limits[:, 1]).clip(min=0)
    assert (outside > 0).sum() == 4
    assert (np.abs(strayed - outside) < 0.1).all()
    assert simulation.data.qvel[:3] == pytest.approx([0, 0, 0], abs=0.05)


def test_a_planar_walker_has_no_floating_base_and_unactuated_joints():
    simulation = simulate("gymnasium", "envs/mujoco/assets/walker2d_v5.xml")
    robot = only_robot(simulation)
    assert robot.bases == ()
    assert robot.joints.names[:3] == ("rootx", "rootz", "rooty")
    assert modes(simulation)[:4] == [(), (), (), (Mode.PD,)]
    run(simulation, 1.0)
    assert set(robot.joints.names) <= described_joints(simulation)


def test_a_hand_of_position_servos_tendons_and_touch_sensors_stays_at_rest():
    simulation = simulate("gymnasium_robotics", "envs/assets/hand/reach.xml")
    robot = only_robot(simulation)
    assert len(robot.joints.names) == 24
    assert simulation.model.ntendon > 0
    driven = [
        name for name, mode in zip(robot.joints.names, modes(simulation), strict=True) if mode
    ]
    assert len(driven) == 20
    assert {mode for found in modes(simulation) for mode in found} == {Mode.POSITION}
    assert [touch.name.rpartition("_")[2] for touch in robot.sensors["contact"]] == [
        *("fftip", "mftip", "rftip", "lftip", "thtip")
    ]
    # Proportional servos of low gain sag: 5 Nm/rad carry the whole hand at the wrist.
    assert run(simulation, 2.0).max() < 0.1
    assert np.abs(simulation.data.qvel).max() < 1e-3
    assert set(robot.joints.names) <= described_joints(simulation)


def test_a_hand_beside_free_objects_has_no_floating_base():
    simulation = simulate(
        "gymnasium_robotics", "envs/assets/hand/manipulate_block_touch_sensors.xml"
    )
    robot = only_robot(simulation)
    assert robot.bases == ()
    assert [frame for frame, _ in simulation.layout.free_objects] == ["object", "target"]
    assert len(robot.sensors["contact"]) == 97
    run(simulation, 1.0)


def test_a_mobile_manipulator_keeps_the_weld_that_holds_its_arm():
    simulation = simulate("gymnasium_robotics", "envs/assets/fetch/pick_and_place.xml")
    robot = only_robot(simulation)
    assert len(robot.joints.names) == 15
    assert robot.bases == ()
    assert [frame for frame, _ in simulation.layout.free_objects] == ["object0"]
    assert len(robot.cameras) == 4
    fingers = [name.endswith("gripper_finger_joint") for name in robot.joints.names]
    assert [mode for mode in modes(simulation) if mode] == [(Mode.POSITION,)] * 2
    strayed = run(simulation, 2.0)
    assert strayed[fingers].max() < 1e-3
    assert strayed.max() < 0.15
    assert set(robot.joints.names) <= described_joints(simulation)


def test_an_arm_from_a_urdf_without_gains_holds_its_joints():
    simulation = simulate("skrobot", "data/kuka_description/kuka.urdf")
    robot = only_robot(simulation)
    assert len(robot.joints.names) == 11
    assert modes(simulation) == [(Mode.PD,)] * 11
    arm = [name[-2] == "J" for name in robot.joints.names]
    assert sum(arm) == 7
    strayed = run(simulation, 2.0)
    assert strayed[arm].max() < 0.01
    # The shapes of the two fingers overlap at zero and push each other apart.
    assert strayed.max() < 0.06
    assert set(robot.joints.names) <= described_joints(simulation)


def test_a_dexterous_hand_with_force_feedback_and_mocap_runs():
    simulation = simulate("gymnasium_robotics", "envs/assets/adroit_hand/adroit_pen.xml")
    robot = only_robot(simulation)
    assert len(robot.joints.names) == 30
    assert len(robot.sensors["contact"]) == 21
    assert simulation.model.nmocap == 1
    run(simulation, 1.0)
    assert mujoco.mj_name2id(simulation.model, mujoco.mjtObj.mjOBJ_BODY, "Object") > 0


@pytest.mark.parametrize(
    ("file", "overlap", "mass"),
    [
        ("talos_data/robots/talos_full_v2.urdf", "93.1 mm", 93.34),
        ("icub_description/robots/icub.urdf", "89.7 mm", 28.35),
        ("pr2_description/urdf/pr2.urdf", "256.0 mm", 257.16),
        ("panda_description/urdf/panda.urdf", "41.4 mm", 17.45),
        ("tiago_description/robots/tiago_dual.urdf", "145.6 mm", 98.05),
    ],
)
def test_a_urdf_whose_links_overlap_comes_to_rest(caplog, file: str, overlap: str, mass: float):
    simulation = example_robot(file)
    assert overlap in caplog.text
    assert simulation.model.body_mass.sum() == pytest.approx(mass, abs=0.01)
    run(simulation, 3.0)
    assert np.abs(simulation.data.qvel).max() < 0.02
    assert not any(contact.dist < -1e-3 for contact in simulation.data.contact)


def test_fingers_without_inertia_have_the_mass_of_their_volume():
    # As much as the same robot with the masses of its fingers left out, and 0.1 kg.
    assert example_robot("romeo_description/urdf/romeo.urdf").model.body_mass.sum() < 40.7
