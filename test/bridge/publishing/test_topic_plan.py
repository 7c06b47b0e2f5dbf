"""Odometry and frames that follow from measured positions, beside the true ones."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.bridge.publishing.topic_plan import TopicPlan, check_names
from mujoco_ros.bridge.publishing.topics import robot_topics
from mujoco_ros.bridge.tf.robot_frames import plan_frames
from mujoco_ros.controllers.runtime.observation_source import ObservationSource
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.simulation import Simulation

LATE = 7
DELAY = {"bus": {"delay": LATE * 0.001}}


def planned(realism: RealismConfig | None) -> tuple[Simulation, TopicPlan]:
    """Return a quadruped, and what it publishes."""
    simulation = Simulation(load_scene("quadruped"), realism=realism, seed=2)
    plant = simulation.plant
    frames = plan_frames(
        plant.model, plant.layout, "all", descriptions(plant.assembly, plant.layout)
    )
    return simulation, TopicPlan(plant, lambda: 0.0, frames, "child_on_parent", controllers=False)


def numbers(plan: TopicPlan, topic: str) -> np.ndarray:
    """Return the numbers of a topic, as they are published now."""
    (content,) = (it for it in plan.contents if it.topic.name == topic)
    for update in plan.updates([content]):
        update()
    found = content.topic.numbers.values()
    return np.array([plan.arrays[it.array].flat[it.address] * it.sign for it in found])


@pytest.mark.parametrize("topic", ["odom", "/tf"])
def test_what_is_published_is_as_late_as_the_measured_positions(topic: str) -> None:
    timestep = float(Simulation(load_scene("quadruped")).model.opt.timestep)
    late = {"bus": {"delay": LATE * timestep}}
    simulation, plan = planned(RealismConfig(joints=late, bases=late))
    truth = f"{'/' * topic.startswith('/')}ground_truth/{topic.removeprefix('/')}"
    true, measured = [], []
    for step in range(40):
        simulation.references.q[:] += 0.01 * np.sin(0.3 * step)
        assert simulation.step()
        true.append(numbers(plan, truth))
        measured.append(numbers(plan, topic))
    np.testing.assert_allclose(measured[LATE:], true[:-LATE], atol=1e-12)
    assert np.abs(true[-1] - measured[-1]).max() > 1e-4


def test_a_hosted_controller_observes_the_odometry(tmp_path: object) -> None:
    noisy = {"it": {"position_noise": 0.05, "orientation_noise": 0.05, "velocity_noise": 0.1}}
    simulation, plan = planned(RealismConfig(bases=noisy))
    simulation.step()
    base = ObservationSource(simulation.plant, 0).observe(0.0).base
    assert base is not None
    wxyz, published = base.pose.quat_wxyz, numbers(plan, "odom")
    expected = [*base.pose.position, *wxyz, *base.linear, *base.angular]
    assert published.tolist() == expected
    assert np.abs(numbers(plan, "ground_truth/odom") - published).max() > 1e-3


def test_without_measured_positions_there_is_no_second_topic() -> None:
    for realism in (None, RealismConfig(sensors={"all": {"delay": 0.01}})):
        simulation, plan = planned(realism)
        names = {it.topic.name for it in plan.contents}
        assert "/tf" in names
        assert not names & {"/ground_truth/tf", "ground_truth/odom", "ground_truth/joint_states"}
        simulation.step()
        updates = [content for content in plan.contents if content.topic.name == "odom"]
        assert len(plan.updates(updates)) == 1


SENSORS = {
    "imu": '<gyro site="{0}"/>',
    "wrench": '<force site="{0}"/><torque site="{0}"/>',
    "contact": '<touch name="{0}" site="{0}"/>',
}


def topics_of(kind, *names):
    sites = "".join(f'<site name="{name}"/>' for name in names)
    sensors = "".join(SENSORS[kind].format(name) for name in names)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><joint/><geom size='0.1'/>{sites}</body></worldbody>"
        f"<sensor>{sensors}</sensor></mujoco>"
    )
    robot = RobotConfig(name="bare", model="bare.xml")
    config = SceneConfig(robots=(robot,), merged=False)
    parts = (ScenePart(config=robot, spec=None, prefix=""),)
    layout = lay_out(Assembly(config=config, model=model, base=None, parts=parts))
    return list(robot_topics(0, layout.robots[0], 0, "child_on_parent"))


@pytest.mark.parametrize("kind", SENSORS)
@pytest.mark.parametrize("names", [("a b", "a-b"), ("ä", "ö"), ("1a", "_1a")])
def test_elements_with_equal_topic_names_are_refused(kind, names):
    with pytest.raises(
        UserInputError, match=f"two elements of the model would publish on '{kind}/"
    ):
        check_names(topics_of(kind, *names))


def test_a_name_that_is_too_long_for_a_topic_is_refused():
    with pytest.raises(UserInputError, match="is longer than 200"):
        check_names(topics_of("imu", "x" * 300))


def test_names_that_differ_are_accepted():
    check_names(topics_of("imu", "left", "right"))
