"""The topics of a model, and the arrays with their numbers, measured and true."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mujoco_ros.bridge.publishing.contact_states import ContactStates
from mujoco_ros.bridge.publishing.engine_topics import ENGINE, engine_topics
from mujoco_ros.bridge.publishing.template_publisher import NumberSource, SerializedTopic, Topic
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.publishing.topics import (
    CARTESIAN_STATE,
    GROUND_TRUTH,
    robot_topics,
    transform_topic,
)
from mujoco_ros.bridge.tf.robot_frames import FramePlan
from mujoco_ros.control.joints import POSITION
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.kinematics import (
    BaseMotion,
    ControlledFrames,
    FrameMotions,
    MarkedDistances,
    MeasuredPoses,
    OpticalPoses,
    RelativePoses,
)
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.stepping.compiled_topics import Updates
from mujoco_ros.sim.tracking import PositionCommands, Tracking
from mujoco_ros.wire.parameter_spec import WrenchSign

_TRUE = {
    "measured_qpos": "qpos",
    "measured_qvel": "qvel",
    "measured_effort": "qfrc_actuator",
    "measured_base_motion": "base_motion",
    "sensordata": "true_sensordata",
    "distances": "true_distances",
    "relative_poses": "true_relative_poses",
    "optical_poses": "true_optical_poses",
}
"""Array with the true numbers by that with the measured ones."""
_STORED = {"distances": "sensordata"}  # array whose addresses another one has


def true_topics(
    topics: Iterable[Topic], layout: ModelLayout, measured: set[tuple[str, int]]
) -> Iterator[Topic]:
    """Yield a topic ``ground_truth/…`` for each topic with numbers that channels change.

    Args:
        layout: The robots.
        measured: Arrays and addresses of the numbers that channels change.
    """
    for topic in topics:
        sources = topic.numbers.values()
        if topic.robot is None or topic.rate == "controller_state":
            continue
        if any(
            (_STORED.get(source.array, source.array), source.address) in measured
            for source in sources
        ):
            namespace = layout.robots[topic.robot].namespace
            own = topic.name.removeprefix(f"{namespace}/") if namespace else topic.name
            yield replace(
                topic,
                name=in_namespace(namespace, GROUND_TRUTH, own),
                numbers={path: _true(source) for path, source in topic.numbers.items()},
            )


def true_transforms(transforms: Topic) -> Topic:
    """Return the topic ``ground_truth/tf``, for /tf with poses from measured positions."""
    return replace(
        transforms,
        name=f"/{in_namespace(GROUND_TRUTH, 'tf')}",
        numbers={path: _true(source) for path, source in transforms.numbers.items()},
    )


def _true(source: NumberSource) -> NumberSource:
    return source._replace(array=_TRUE.get(source.array, source.array))


# DDS allows 256 characters for a topic, including the node's namespace and "rt/" before it.
_LONGEST_NAME = 200
_MEASURED = {"qpos": "measured_qpos"}
"""Array with the measured poses of free bodies by that with the true ones."""


class Derived(NamedTuple):
    """Arrays that are computed for messages."""

    update: Callable[[], None]
    # Adds the update for compiled steps; None if Python alone can make it
    compile: Callable[[Updates], None] | None
    # Computes what compiled steps cannot, before a run of them that begins at a time [s]
    prepare: Callable[[float], None] | None = None

    def compiled(self) -> Updates:
        """Return the update for compiled steps."""
        updates = Updates()
        if self.compile is not None:
            self.compile(updates)
        return updates


class TopicPlan:
    """The topics that are published at a rate, and the arrays with their numbers."""

    def __init__(
        self,
        plant: Plant,
        now: Callable[[], float],
        frames: FramePlan,
        wrench_sign: WrenchSign,
        *,
        controllers: bool,
    ) -> None:
        """Plan the topics of a plant.

        Args:
            now: Returns the simulated time of the sample [s].
            frames: The frames on /tf.
            wrench_sign: Sign of wrenches.
            controllers: Whether to publish the state of the robots' trajectory controllers.

        Raises:
            UserInputError: Two topics would have the same name, or one a name that is too long.
        """
        layout, sample, references = plant.layout, plant.sample, plant.references
        self.plant = plant
        self._robots = plant.assembly.config.robots
        bases = [base for robot in layout.robots for base in robot.bases]
        motion = measured_motion = BaseMotion(bases, sample)
        if plant.realism is not None:
            measured_motion = BaseMotion(bases, sample, measured=True)
        parents = plant.model.body_parentid[frames.linked_bodies].tolist()
        true_poses = poses = RelativePoses(frames.linked_bodies, parents, sample)
        true_optical = optical = OpticalPoses(frames.following, sample)
        self._measured: MeasuredPoses | None = None
        if plant.realism is not None and plant.realism.moves_frames:
            self._measured = MeasuredPoses(plant)
            poses = RelativePoses(frames.linked_bodies, parents, self._measured.data)
            optical = OpticalPoses(frames.following, self._measured.data)
        tracking, moved = Tracking(plant), ControlledFrames(plant)
        motions = FrameMotions(plant, moved.count, moved.pairs)
        commands = PositionCommands(plant)
        distances = MarkedDistances(plant.model, sample.sensordata)
        true_distances = MarkedDistances(plant.model, plant.data.sensordata)
        # The arrays by name
        self.arrays: dict[str, np.ndarray] = {
            "qpos": sample.qpos,
            "qvel": sample.qvel,
            "qacc": sample.qacc,
            "qfrc_actuator": sample.qfrc_actuator,
            "measured_qpos": sample.measured_qpos,
            "measured_qvel": sample.measured_qvel,
            "measured_effort": sample.measured_effort,
            "sensordata": sample.sensordata,
            "distances": distances.values,
            "true_sensordata": plant.data.sensordata,
            "true_distances": true_distances.values,
            "base_motion": motion.values,
            "measured_base_motion": measured_motion.values,
            "relative_poses": poses.values,
            "optical_poses": optical.values,
            "true_relative_poses": true_poses.values,
            "true_optical_poses": true_optical.values,
            "reference_position": references.q,
            "position_commands": commands.values,
            "reference_velocity": references.dq,
            "reference_effort": references.tau,
            "reference_acceleration": tracking.acceleration,
            "position_error": tracking.error[0],
            "velocity_error": tracking.error[1],
            "elapsed": tracking.elapsed,
            "speed_scaling": tracking.speed_scaling,
            CARTESIAN_STATE: motions.values,
        }

        self._controlled = moved
        self._derived: dict[str, Derived] = {
            "distances": Derived(distances.update, distances.compile),
            "true_distances": Derived(true_distances.update, true_distances.compile),
            "base_motion": Derived(motion.update, motion.compile),
            "measured_base_motion": Derived(measured_motion.update, measured_motion.compile),
            "relative_poses": Derived(poses.update, poses.compile),
            "optical_poses": Derived(optical.update, optical.compile),
            "true_relative_poses": Derived(true_poses.update, true_poses.compile),
            "true_optical_poses": Derived(true_optical.update, true_optical.compile),
            CARTESIAN_STATE: Derived(motions.update, motions.compile),
            "position_error": Derived(
                lambda: tracking.update(now()), tracking.compile, tracking.prepare
            ),
            "position_commands": Derived(commands.update, commands.compile, commands.prepare),
        }
        topics: list[Topic] = []
        first_base = first_joint = 0
        for index, robot in enumerate(layout.robots):
            control, own = plant.controls[index], commands.addresses[index]
            has_default = controllers and control.has_default_controllers
            joints = control.joints.with_interface(POSITION) if has_default else ()
            controlled = [(joint, first_joint + joint) for joint in joints]
            base = moved.bases.get(index, "") if has_default else ""
            found = robot_topics(index, robot, first_base, wrench_sign, controlled, base, own)
            # The joint_state_broadcaster of a manager publishes these.
            left_out = "" if control.has_default_controllers else "joint_states"
            topics += [topic for topic in found if topic.rate != left_out]
            first_base += len(robot.bases)
            first_joint += len(robot.joints.names)
        if plant.realism is not None:
            topics += true_topics(topics, layout, plant.realism.addresses)
        if frames.moving:
            moving = frames.moving
            if self._measured is not None:
                moving = [
                    (*frame[:2], _MEASURED.get(frame[2], frame[2]), frame[3]) for frame in moving
                ]
            transforms = transform_topic(moving)
            topics.append(transforms)
            if self._measured is not None:
                topics.append(true_transforms(transforms))
        check_names(topics)
        self._base: TopicPlan | None = None  # without the topics of `extended`
        # The serialized topics, except /clock
        self.contents = [SerializedTopic(topic) for topic in topics]

    def extended(self, entries: Sequence[str], *, strict: bool = True) -> "TopicPlan":
        """Return the plan with the topics of the parameter ``engine_topics`` in addition.

        Raises:
            UserInputError: As of `engine_topics`, or two topics would have the same name.
        """
        base = self._base or self
        if not any(entries):
            return base
        plan, engine = copy(base), engine_topics(self.plant, entries, strict=strict)
        plan._base = base
        arrays = engine.arrays
        direct = Derived(arrays.update, arrays.compile)
        derived = {
            name: Derived(arrays.on_request[name], None) if name in arrays.on_request else direct
            for name in arrays.values
        }
        values = dict(arrays.values)
        for name, each in engine.computed.items():
            values[name], derived[name] = each.values, Derived(each.update, None)
        for row, motions in enumerate(engine.motions):
            values[f"frames.{row}"] = motions.values
            derived[f"frames.{row}"] = Derived(motions.update, motions.compile)
        plan.arrays = base.arrays | {f"{ENGINE}.{name}": each for name, each in values.items()}
        plan._derived = base._derived | {f"{ENGINE}.{name}": it for name, it in derived.items()}
        check_names([*(content.topic for content in base.contents), *engine.topics])
        plan.contents = [*base.contents, *map(SerializedTopic, engine.topics)]
        return plan

    def robot(self, topic: Topic) -> str:
        """Return the name of a topic's robot; empty for the scene."""
        return "" if topic.robot is None else self._robots[topic.robot].name

    def rate(self, topic: Topic, rates: dict[str, float]) -> float:
        """Return the rate of a topic [Hz]: its robot's own rate, or else the rate in `rates`."""
        own = {} if topic.robot is None else self._robots[topic.robot].publish_rate
        rate = own.get(topic.rate)
        return rates[topic.rate] if rate is None else rate

    def contact_states(self, topic: Topic, publisher: TopicPublisher) -> ContactStates:
        """Return what fills and publishes the contacts of the robot of a topic."""
        assert topic.robot is not None
        return ContactStates(self.plant, self.plant.layout.robots[topic.robot], publisher)

    @property
    def controlled_frames(self) -> tuple[object, ...]:
        """What compiled updates depend on, and settings replace."""
        return self._controlled.chains

    def derived(self, contents: Iterable[SerializedTopic]) -> list[Derived]:
        """Return the derived arrays that `contents` need."""
        used = {number.array for c in contents for number in c.topic.numbers.values()}
        found = [derived for name, derived in self._derived.items() if name in used]
        return list(dict.fromkeys(found))  # two names may be of one array

    def updates(self, contents: Iterable[SerializedTopic]) -> list[Callable[[], None]]:
        """Return the updates of the derived arrays that `contents` need."""
        used = {number.array for c in contents for number in c.topic.numbers.values()}
        found = [derived.update for derived in self.derived(contents)]
        if self._measured is not None and used & {"relative_poses", "optical_poses"}:
            found.insert(0, self._measured.update)
        return found


def check_names(topics: list[Topic]) -> None:
    """Reject repeated topic names, and names that are too long."""
    for index, topic in enumerate(topics):
        if topic.name in (other.name for other in topics[:index]):
            raise UserInputError(
                f"two elements of the model would publish on '{topic.name}': their names must "
                "differ in letters, digits or underscores"
            )
        if len(topic.name) > _LONGEST_NAME:
            raise UserInputError(f"the topic name '{topic.name}' is longer than {_LONGEST_NAME}")
