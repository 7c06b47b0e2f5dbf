"""Topics of a scene, for processes that subscribe to all of them."""

from mujoco_ros.bridge.publishing.template_publisher import Topic
from mujoco_ros.bridge.publishing.topics import CONTACTS, clock_topic, robot_topics, transform_topic
from mujoco_ros.control.joints import POSITION
from mujoco_ros.model.scene.config import RATES, load_scene
from mujoco_ros.sim.simulation import Simulation

EVERY_STEP_HZ = 1000.0


def topics_of(scene: str) -> list[Topic]:
    """Return the topics of fixed layout of a scene, /clock first, /tf last.

    Contacts, whose number changes, are no template and not among them, nor are the states of
    Cartesian controllers, which the measured scene does not have.
    """
    simulation = Simulation(load_scene(scene))
    topics, first_base, first_joint = [clock_topic()], 0, 0
    for index, robot in enumerate(simulation.layout.robots):
        joints = simulation.controls[index].joints
        controlled = [(joint, first_joint + joint) for joint in joints.with_interface(POSITION)]
        topics += robot_topics(index, robot, first_base, "child_on_parent", controlled)
        first_base += len(robot.bases)
        first_joint += len(joints.names)
    return [*(topic for topic in topics if topic.rate != CONTACTS), transform_topic([])]


def all_rates(rate_hz: float) -> dict[str, float]:
    """Return the parameters that publish every topic, including /tf, at `rate_hz`."""
    return {f"publish_rate.{topic}": rate_hz for topic in RATES}
