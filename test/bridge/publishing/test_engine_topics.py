"""What the engine computes, as topics: the numbers of the sample, and the errors of entries."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from contexts import make_context
from control_msgs.msg import DynamicJointState
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped
from rclpy.node import Node
from simulators import SimulatorLauncher
from stepped_node import named_values, planned, published

from mujoco_ros.bridge.publishing.engine_topics import engine_topics
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.tf.robot_frames import FramePlan
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.engine_arrays import engine_arrays
from mujoco_ros.sim.simulation import Simulation

MODEL = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="trunk" pos="0 0 0.5">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.2 0.1 0.05" mass="3"/>
      <body name="arm" pos="0.2 0 0">
        <joint name="swing" axis="0 1 0" damping="0.3" stiffness="2" armature="0.01"/>
        <geom name="rod" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.4"/>
        <site name="hand" pos="0.3 0.01 0.02" euler="20 30 40"/>
        <body name="bob" pos="0.3 0 0">
          <joint name="swivel" type="ball"/>
          <geom name="bob" size="0.03" mass="0.2"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="cable"><joint joint="swing" coef="0.5"/></fixed></tendon>
  <actuator>
    <motor name="push" joint="swing" gear="2"/>
    <general name="pull" tendon="cable" dyntype="filter" dynprm="0.1" gainprm="3"/>
    <general name="help" tendon="cable" gainprm="2"/>
  </actuator>
  <sensor>
    <tendonactuatorfrc name="cable" tendon="cable"/>
    <framepos name="pos" objtype="site" objname="hand" reftype="xbody" refname="trunk"/>
    <framequat name="quat" objtype="site" objname="hand" reftype="xbody" refname="trunk"/>
    <framelinvel name="lin" objtype="site" objname="hand" reftype="xbody" refname="trunk"/>
    <frameangvel name="ang" objtype="site" objname="hand" reftype="xbody" refname="trunk"/>
    <framelinvel name="rod" objtype="geom" objname="rod"/>
    <framelinacc name="rod_lin" objtype="geom" objname="rod"/>
    <frameangacc name="rod_ang" objtype="geom" objname="rod"/>
    <subtreelinvel name="velocity" body="trunk"/>
    <subtreeangmom name="momentum" body="trunk"/>
    <e_potential name="potential"/>
    <e_kinetic name="kinetic"/>
  </sensor>
</mujoco>"""
WITHOUT_SENSORS = MODEL[: MODEL.index("  <sensor>")] + "</mujoco>"
INTEGRATORS = ["Euler", "implicitfast", "RK4"]


class Published:
    """A moving simulation, and the messages of its topics of the engine."""

    def __init__(self, folder: Path, text: str, *entries: str, steps: int = 60) -> None:
        path = folder / "model.xml"
        path.write_text(text)
        self.simulation = simulation = Simulation(load_scene(str(path)))
        simulation.data.ctrl[:] = (0.5, 0.7, -0.4)[: simulation.model.nu]
        simulation.data.qvel[:] = np.linspace(-0.6, 0.9, simulation.model.nv)
        frames = FramePlan(moving=[], linked_bodies=[], following=[], static=[])
        plan = TopicPlan(
            simulation.plant, lambda: 0.0, frames, "child_on_parent", controllers=False
        )
        self._plan = plan.extended(entries)
        for _ in range(steps):
            simulation.data.qfrc_applied[6] = 0.2
            simulation.step()

    def message(self, name: str) -> Any:
        return published(self._plan, f"engine/{name}")

    def values(self, name: str) -> dict[str, dict[str, float]]:
        return named_values(self.message(name))

    def reference(self) -> mujoco.MjData:
        """Return what the engine computes of the sample."""
        simulation, sample = self.simulation, self.simulation.sample
        data = mujoco.MjData(simulation.model)
        state = sample.state[: mujoco.mj_stateSize(simulation.model, _STATE)]
        mujoco.mj_setState(simulation.model, data, state, _STATE)
        mujoco.mj_forward(simulation.model, data)
        return data


_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_ROOT = ("x", "y", "z", "rx", "ry", "rz")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_forces_are_those_of_the_sample(tmp_path: Path, integrator: str) -> None:
    text = WITHOUT_SENSORS.format(integrator=integrator)
    moving = Published(tmp_path, text, "qacc", "qfrc_*", "actuator_*", "act*", "ctrl", "ten_*")
    expected, joints = moving.reference(), moving.values("joints")
    assert list(joints) == ["root", "swing", "swivel"]
    for name in ("qacc", "qfrc_bias", "qfrc_passive", "qfrc_constraint", "qfrc_applied"):
        numbers = getattr(expected, name)
        close = {"rel": 1e-6, "abs": 1e-9}
        root = [joints["root"][f"{name}.{axis}"] for axis in _ROOT]
        assert root == pytest.approx(numbers[:6].tolist(), **close)
        assert joints["swing"][name] == pytest.approx(numbers[6], **close)
        ball = [joints["swivel"][f"{name}.{axis}"] for axis in ("rx", "ry", "rz")]
        assert ball == pytest.approx(numbers[7:].tolist(), **close)
    assert joints["swing"]["qfrc_applied"] == 0.2
    actuators = moving.values("actuators")
    assert "act" not in actuators["push"]
    assert actuators["pull"]["act"] == expected.act[0]
    assert actuators["pull"]["act_dot"] == pytest.approx(expected.act_dot[0])
    for index, name in enumerate(("push", "pull", "help")):
        assert actuators[name]["ctrl"] == expected.ctrl[index]
        for array in ("actuator_force", "actuator_length", "actuator_velocity"):
            assert actuators[name][array] == pytest.approx(getattr(expected, array)[index])
    cable = moving.values("tendons")["cable"]
    assert cable["ten_length"] == pytest.approx(expected.ten_length[0])
    assert cable["ten_velocity"] == pytest.approx(expected.ten_velocity[0])
    assert cable["ten_actuatorfrc"] == pytest.approx(expected.actuator_force[1:].sum())


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_jacobians_are_those_of_the_sample(tmp_path: Path, integrator: str) -> None:
    moving = Published(tmp_path, MODEL.format(integrator=integrator), "site hand", "body bob")
    model, expected = moving.simulation.model, moving.reference()
    jacobian = np.zeros((6, model.nv))
    mujoco.mj_jacSite(model, expected, jacobian[:3], jacobian[3:], model.site("hand").id)
    found = moving.values("site/hand/jacobian")
    assert list(found) == ["swing", "root"], "what moves the site"
    names = [f"{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"]
    close = {"rel": 1e-9, "abs": 1e-12}
    assert [found["swing"][name] for name in names] == pytest.approx(jacobian[:, 6], **close)
    for dof, axis in enumerate(_ROOT):
        column = [found["root"][f"{axis}.{name}"] for name in names]
        assert column == pytest.approx(jacobian[:, dof], **close)
    twist = moving.message("site/hand/twist").twist
    speed = jacobian @ moving.simulation.sample.qvel
    assert [*_xyz(twist.linear), *_xyz(twist.angular)] == pytest.approx(speed, rel=1e-6, abs=1e-9)
    assert list(moving.values("body/bob/jacobian")) == ["swivel", "swing", "root"]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_frames_momenta_and_energies_are_as_sensors_measure_them(
    tmp_path: Path, integrator: str
) -> None:
    entries = "site hand in trunk", "geom rod", "subtree_*", "energy", "ten_*"
    moving = Published(tmp_path, MODEL.format(integrator=integrator), *entries)
    model, sensed = moving.simulation.model, moving.simulation.sample.sensordata

    def sensor(name: str) -> Any:
        start, size = model.sensor(name).adr[0], model.sensor(name).dim[0]
        return pytest.approx(sensed[start : start + size].tolist(), rel=1e-6, abs=1e-9)

    pose, twist = moving.message("site/hand/trunk/pose"), moving.message("site/hand/trunk/twist")
    assert isinstance(pose, PoseStamped)
    assert isinstance(twist, TwistStamped)
    assert pose.header.frame_id == twist.header.frame_id == "trunk"
    assert (pose.header.stamp.sec, pose.header.stamp.nanosec) == (3, 4)
    assert _xyz(pose.pose.position) == sensor("pos")
    assert [pose.pose.orientation.w, *_xyz(pose.pose.orientation)] == sensor("quat")
    assert _xyz(twist.twist.linear) == sensor("lin")
    assert _xyz(twist.twist.angular) == sensor("ang")
    assert _xyz(moving.message("geom/rod/twist").twist.linear) == sensor("rod")
    accel = moving.message("geom/rod/accel")
    assert isinstance(accel, AccelStamped)
    assert _xyz(accel.accel.linear) == sensor("rod_lin")
    assert _xyz(accel.accel.angular) == sensor("rod_ang")
    assert moving.message("geom/rod/pose").header.frame_id == "world"
    trunk = moving.values("bodies")["trunk"]
    assert [trunk[f"subtree_linvel.{axis}"] for axis in "xyz"] == sensor("velocity")
    assert [trunk[f"subtree_angmom.{axis}"] for axis in "xyz"] == sensor("momentum")
    energies = moving.values("scene")["scene"]
    assert [energies["potential_energy"]] == sensor("potential")
    assert [energies["kinetic_energy"]] == sensor("kinetic")
    assert [moving.values("tendons")["cable"]["ten_actuatorfrc"]] == sensor("cable")


def _xyz(vector: Any) -> list[float]:
    return [vector.x, vector.y, vector.z]


def test_reading_what_is_computed_on_request_changes_no_step(tmp_path: Path) -> None:
    text = WITHOUT_SENSORS.format(integrator="implicitfast")
    read, unread = (Published(tmp_path, text, "*", steps=1) for _ in range(2))
    for _ in range(50):
        for name in ("bodies", "scene", "joints"):
            read.message(name)
        for each in (read, unread):
            each.simulation.step()
    assert read.simulation.sample.state.tobytes() == unread.simulation.sample.state.tobytes()


_SLEEPING = """
<mujoco>
  <option integrator="{integrator}"><flag sleep="enable"/></option>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="resting" pos="0 0 0.099"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="falling" pos="0 2 9"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="wheel" pos="0 4 9"><joint name="turn"/><geom size=".1"/></body>
  </worldbody>
  <equality>
    <joint name="off" joint1="turn" active="false"/><joint name="on" joint1="turn"/>
  </equality>
</mujoco>"""


@pytest.mark.parametrize(("integrator", "rests"), [("Euler", {1.0, 0.0}), ("RK4", {1.0})])
def test_sleep_islands_and_constraints_are_published_as_numbers(
    tmp_path: Path, integrator: str, rests: set[float]
) -> None:
    text, names = _SLEEPING.format(integrator=integrator), ("body_awake", "eq_active", "dof_island")
    moving = Published(tmp_path, text, *names, steps=0)
    moving.simulation.data.qvel[:] = 0.0
    seen, islands = set(), set()
    for _ in range(400):
        moving.simulation.step()
        awake = {name: each["body_awake"] for name, each in moving.values("bodies").items()}
        assert awake["falling"] == 1.0
        seen.add(awake["resting"])
        islands.add(moving.values("joints")["turn"]["dof_island"])
    assert seen == rests, "the engine puts no body to sleep with RK4"
    assert islands & {0.0, 1.0}
    assert moving.values("equalities") == {"off": {"eq_active": 0.0}, "on": {"eq_active": 1.0}}


def test_every_array_of_the_engine_has_finite_numbers(tmp_path: Path) -> None:
    moving = Published(tmp_path, WITHOUT_SENSORS.format(integrator="Euler"), "*")
    found: set[str] = set()
    for name in ("joints", "actuators", "tendons", "bodies", "geoms", "sites", "scene"):
        for values in moving.values(name).values():
            assert np.isfinite(list(values.values())).all()
            found |= {label.partition(".")[0] for label in values}
    lacking = ("camera", "light", "equality")
    others = {name for name, array in engine_arrays().items() if array.kind in lacking}
    assert found | others | {"energy"} == {*engine_arrays(), "potential_energy", "kinetic_energy"}


def test_robots_have_their_own_topics_and_objects_the_topics_of_the_scene() -> None:
    plant = Simulation(load_scene("handover")).plant
    topics = {it.name: it for it in engine_topics(plant, ["qacc", "body *"]).topics}
    assert {"left_arm/engine/joints", "right_arm/engine/joints", "engine/joints"} <= topics.keys()
    joints = topics["left_arm/engine/joints"]
    assert joints.message.joint_names[0] == plant.layout.robots[0].joints.names[0]
    assert joints.robot == 0
    assert topics["engine/joints"].robot is None
    assert "left_arm/engine/body/base_link/pose" in topics
    assert not any("/world/" in name for name in topics)


def test_elements_have_their_names_in_the_model_and_in_the_file_of_their_robot() -> None:
    plant = Simulation(load_scene("handover")).plant
    entries = ["body base_link", "body left_arm/base_link"]
    short, full = ([it.name for it in engine_topics(plant, [each]).topics] for each in entries)
    assert full == [name for name in short if name.startswith("left_arm/")]
    assert len(short) == 2 * len(full) > 0
    with pytest.raises(UserInputError, match="did you mean 'base_link'"):
        engine_topics(plant, ["body base_lnk"])


def test_an_element_with_brackets_in_its_name_has_topics(tmp_path: Path) -> None:
    body = "<body><joint/><geom name='pad[0]' size='.1'/></body>"
    text = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    assert Published(tmp_path, text, "geom pad[0]", steps=0).message("geom/pad_0_/pose")


def test_an_element_of_two_entries_has_one_topic(tmp_path: Path) -> None:
    text = WITHOUT_SENSORS.format(integrator="Euler")
    moving = Published(tmp_path, text, "site hand", "site *", "qacc", "q*", steps=1)
    assert moving.message("site/hand/pose").header.frame_id == "world"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("qfrc_bais", r"array 'qfrc_bais' not found \(did you mean 'qfrc_bias'\?\); there are"),
        ("site hnad", r"site 'hnad' not found \(did you mean 'hand'\?\); there are: hand"),
        ("joint swing", r"'joint swing': kind of element 'joint' not found.*body, geom, site"),
        ("site hand in truck", r"'site hand in truck': frame 'truck' not found.*'trunk'"),
    ],
)
def test_an_entry_that_matches_nothing_is_refused(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(UserInputError, match=message):
        Published(tmp_path, WITHOUT_SENSORS.format(integrator="Euler"), entry, steps=0)


def test_what_a_changed_model_lacks_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(WITHOUT_SENSORS.format(integrator="Euler"))
    plant = Simulation(load_scene(str(path))).plant
    topics = engine_topics(plant, ["site gone", "body trunk in gone", "ten_length"], strict=False)
    assert [topic.name for topic in topics.topics] == ["engine/tendons"]


def test_another_list_during_a_change_of_a_model_is_refused(ros_node: Node, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(WITHOUT_SENSORS.format(integrator="Euler"))
    models = SimpleNamespace(busy=False)
    context = make_context(ros_node, Simulation(load_scene(str(path))), models=models)
    publishers = Publishers(context, planned)
    publishers.check_parameters({"engine_topics": ("qacc",)})
    models.busy = True
    publishers.check_parameters({"engine_topics": ("",)})  # as it is, as in a saved parameter file
    with pytest.raises(UserInputError, match="'engine_topics': the model changes; try again"):
        publishers.check_parameters({"engine_topics": ("qacc",)})


def test_the_topics_of_a_list_that_waits_for_its_step_stay_open(
    ros_node: Node, tmp_path: Path
) -> None:
    path = tmp_path / "model.xml"
    path.write_text(WITHOUT_SENSORS.format(integrator="Euler"))
    models = SimpleNamespace(busy=False)
    context = make_context(ros_node, Simulation(load_scene(str(path))), models=models)
    publishers = Publishers(context, planned)
    values = {"engine_topics": ("qacc",)}
    publishers.check_parameters(values)
    command = publishers.apply_parameters(values)
    publishers._close_others()  # as after the step of another list
    assert command is not None
    command()
    topics = {topic.name: publisher for publisher, topic in publishers.topics.items()}
    assert topics["engine/joints"] in publishers._pool.publishers
    assert publishers._next is None


def test_topics_come_and_go_while_the_simulator_runs(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    path = tmp_path / "pendulum.xml"
    path.write_text(WITHOUT_SENSORS.format(integrator="implicitfast"))
    simulator = start.simulator(scene=path)
    simulator.wait_until_running()
    listener = start.listener(simulator)
    node = listener.node
    joints = listener.record(DynamicJointState, "/engine/joints")
    hand = listener.record(PoseStamped, "/engine/site/hand/pose")
    assert not node.count_publishers("/engine/joints")
    (result,) = listener.set_parameters({"engine_topics": ["qfrc_bias", "site hand"]})
    assert result.successful, result.reason
    assert listener.spin_until(lambda: len(joints) and len(hand)), simulator.log
    assert joints.latest.interface_values[1].interface_names == ["qfrc_bias"]
    assert hand.latest.header.frame_id == "world"
    (refused,) = listener.set_parameters({"engine_topics": ["qfrc_bais"]})
    assert "did you mean 'qfrc_bias'?" in refused.reason
    listener.set_parameters({"engine_topics": ["qacc"]})
    assert listener.spin_until(
        lambda: joints.latest.interface_values[1].interface_names == ["qacc"]
    )
    assert listener.spin_until(lambda: not node.count_publishers("/engine/site/hand/pose"))
    assert simulator.stop() == 0
