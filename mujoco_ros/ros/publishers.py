"""Everything the simulation publishes at its own pace."""

from collections.abc import Callable

from rclpy.event_handler import PublisherEventCallbacks, QoSPublisherMatchedInfo
from rclpy.node import Node

from mujoco_ros.control.modes import POSITION
from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.scene import RatesConfig
from mujoco_ros.ros.frames import FramePlan
from mujoco_ros.ros.outbox import Batch, Outlet, Topic, split
from mujoco_ros.ros.topics import WrenchSign, clock_topic, robot_topics, transform_topic
from mujoco_ros.sim.kinematics import BaseMotion, RelativePoses
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.tracking import Tracking

# DDS allows 256 for a topic, of which the node's namespace and the "rt/" before it take some.
_LONGEST_NAME = 200


class Publishers:
    """Publishes the samples of a simulation: every topic at its own rate, /clock with them."""

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        frames: FramePlan,
        wrench_sign: WrenchSign,
        *,
        controllers: bool = True,
    ) -> None:
        """Create the publishers of every topic; `set_rates` decides when they are used.

        Args:
            node: The node.
            simulation: What is published.
            frames: The frames on /tf.
            wrench_sign: Whether wrenches say what the child does to the parent, or the reverse.
            controllers: Whether to publish the state of the robots' trajectory controllers.
        """
        self._simulation = simulation
        self._rates = [robot.publish_rate for robot in simulation.assembly.config.robots]
        layout, sample = simulation.layout, simulation.sample
        bases = [base for robot in layout.robots for base in robot.bases]
        self._base_motion = BaseMotion(bases, sample)
        parents = simulation.model.body_parentid[frames.linked_bodies].tolist()
        self._relative_poses = RelativePoses(frames.linked_bodies, parents, sample)
        references, self._tracking = simulation.references, Tracking(simulation)
        self._arrays = {
            "qpos": sample.qpos,
            "qvel": sample.qvel,
            "qacc": sample.qacc,
            "qfrc_actuator": sample.qfrc_actuator,
            "sensordata": sample.sensordata,
            "base_motion": self._base_motion.values,
            "relative_poses": self._relative_poses.values,
            "reference_position": references.q,
            "reference_velocity": references.dq,
            "reference_effort": references.tau,
            "reference_acceleration": self._tracking.acceleration,
            "position_error": self._tracking.error[0],
            "velocity_error": self._tracking.error[1],
            "elapsed": self._tracking.elapsed,
        }
        topics: list[Topic] = []
        first_base = first_joint = 0
        for index, robot in enumerate(layout.robots):
            joints = simulation.controls[index].joints.taking(POSITION) if controllers else ()
            controlled = [(joint, first_joint + joint) for joint in joints]
            topics += robot_topics(index, robot, first_base, wrench_sign, controlled)
            first_base += len(robot.bases)
            first_joint += len(robot.joints.names)
        if frames.moving:
            topics.append(transform_topic(frames.moving))
        check_names(topics)
        self._clock = _open(node, clock_topic())
        self._outlets = [_open(node, topic) for topic in topics]
        self._batches: list[tuple[int, list[Callable[[], None]], Batch]] = []
        self._clock_batch = Batch([self._clock], self._arrays)
        self._step = 0

    @property
    def names(self) -> list[str]:
        """Names of all topics, /clock first."""
        return [outlet.topic.name for outlet in (self._clock, *self._outlets)]

    def lost(self) -> dict[str, int]:
        """Return how many messages the middleware did not take, for each topic with any."""
        return {o.topic.name: o.lost for o in (self._clock, *self._outlets) if o.lost}

    def set_rates(self, rates: dict[str, float]) -> None:
        """Set the publish rates [Hz of simulated time], 0 for off; a robot's own go before."""
        timestep = self._simulation.model.opt.timestep
        groups: dict[tuple[int, bool], list[Outlet]] = {}
        for outlet in self._outlets:
            rate = self._rate(outlet.topic, rates)
            if rate:
                # Large, costly and seldom wanted: by itself it can be left out.
                apart = outlet.topic.rate == "controller_state"
                every = max(1, round(1 / (rate * timestep)))
                groups.setdefault((every, apart), []).append(outlet)
        self._batches = [
            (every, self._updates(outlets), Batch(outlets, self._arrays))
            for (every, _), outlets in sorted(groups.items())
        ]
        self._step = 0

    def publish(self) -> None:
        """Publish what is due at the present sample; called once per step."""
        step, self._step = self._step, self._step + 1
        stamp = None
        for every, updates, batch in self._batches:
            if step % every:
                continue
            if stamp is None:
                stamp = split(self._simulation.time)
                self._clock_batch.publish(*stamp)
            if batch.heard:
                for update in updates:
                    update()
                batch.publish(*stamp)

    def _rate(self, topic: Topic, rates: dict[str, float]) -> float:
        own: RatesConfig | None = None if topic.robot is None else self._rates[topic.robot]
        rate = getattr(own, topic.rate, None)
        return rates[topic.rate] if rate is None else rate

    def _updates(self, outlets: list[Outlet]) -> list[Callable[[], None]]:
        """Return what must be computed before the numbers of `outlets` are gathered."""
        used = {number.array for o in outlets for number in o.topic.numbers.values()}
        derived = {
            "base_motion": self._base_motion.update,
            "relative_poses": self._relative_poses.update,
            "position_error": self._tracking.update,
        }
        return [update for name, update in derived.items() if name in used]


def check_names(topics: list[Topic]) -> None:
    """Refuse elements of a model whose names become the same, or no valid, topic name."""
    for index, topic in enumerate(topics):
        if topic.name in (other.name for other in topics[:index]):
            raise ModelError(
                f"two elements of the model would publish on '{topic.name}': letters, digits and "
                "underscores must tell their names apart"
            )
        if len(topic.name) > _LONGEST_NAME:
            raise ModelError(f"the topic name '{topic.name}' is longer than {_LONGEST_NAME}")


def _open(node: Node, topic: Topic) -> Outlet:
    """Create the publisher of a topic; the middleware reports how many subscriptions match it."""
    outlet = Outlet(topic)

    def matched(info: QoSPublisherMatchedInfo) -> None:
        outlet.listeners = info.current_count

    events = PublisherEventCallbacks(matched=matched)
    publisher = node.create_publisher(
        type(topic.message), topic.name, topic.qos, event_callbacks=events
    )
    # What Publisher.publish ends in for bytes; its checks would double the cost of a message.
    outlet.publish = publisher.handle.publish_raw
    return outlet
