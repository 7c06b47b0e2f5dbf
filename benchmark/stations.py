"""Which topics a scene has, for processes that listen to all of them."""

from mujoco_ros.model.assembly import assemble
from mujoco_ros.model.layout import lay_out
from mujoco_ros.model.scene import load_scene
from mujoco_ros.ros.outbox import Topic
from mujoco_ros.ros.topics import RATES, clock_topic, robot_topics, transform_topic

EVERY_STEP_HZ = 1000.0


def topics_of(scene: str) -> list[Topic]:
    """Return every topic that samples of `scene` are published on, /clock first, /tf last."""
    layout = lay_out(assemble(load_scene(scene)))
    topics, first_base = [clock_topic()], 0
    for index, robot in enumerate(layout.robots):
        topics += robot_topics(index, robot, first_base, "child_on_parent")
        first_base += len(robot.bases)
    return [*topics, transform_topic([])]


def all_rates(rate_hz: float) -> dict[str, float]:
    """Return the parameters that publish every topic, /tf included, at `rate_hz`."""
    return {f"publish_rate.{topic}": rate_hz for topic in RATES}
