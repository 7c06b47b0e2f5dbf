"""Topics of a scene, for processes that subscribe to all of them."""

from mujoco_ros.bridge.publishing.template_publisher import Topic
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topics import CONTACTS, clock_topic
from mujoco_ros.bridge.tf.robot_frames import FramePlan
from mujoco_ros.model.scene.config import RATES, load_scene
from mujoco_ros.sim.simulation import Simulation

EVERY_STEP_HZ = 1000.0


def topics_of(scene: str) -> list[Topic]:
    """Return the topics of fixed layout of a scene, /clock first, /tf last.

    Contacts, whose number changes, are no template and not among them.
    """
    plant = Simulation(load_scene(scene)).plant
    frames = FramePlan(
        moving=[("world", "base", "qpos", 0)], linked_bodies=[], following=[], static=[]
    )
    plan = TopicPlan(plant, lambda: 0.0, frames, "child_on_parent", controllers=True)
    topics = [clock_topic(), *(serialized.topic for serialized in plan.contents)]
    return [topic for topic in topics if topic.rate != CONTACTS]


def all_rates(rate_hz: float) -> dict[str, float]:
    """Return the parameters that publish every topic, including /tf, at `rate_hz`."""
    return {f"publish_rate.{topic}": rate_hz for topic in RATES}
