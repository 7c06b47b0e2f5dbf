"""Topics of what the engine computes, as the parameter ``engine_topics`` lists it."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import filter as matching
from functools import partial
from typing import NamedTuple

import mujoco
import numpy as np
from control_msgs.msg import DynamicJointState, InterfaceValue
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped

from mujoco_ros.bridge.publishing.template_publisher import NumberSource, Topic
from mujoco_ros.bridge.publishing.topics import frame_motion, vector
from mujoco_ros.control.cartesian import FixedFrame
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import in_namespace, matches, topic_token
from mujoco_ros.model.robot.body_frames import named_frames
from mujoco_ros.model.robot.layout import scopes
from mujoco_ros.model.robot.scope import NAMED_ELEMENTS, body_of
from mujoco_ros.model.sensors.sensor_arrays import LARGEST_ARRAY
from mujoco_ros.sim.engine_arrays import (
    SCENE,
    Accelerations,
    EngineArray,
    EngineArrays,
    Jacobians,
    engine_arrays,
    jacobian_columns,
)
from mujoco_ros.sim.kinematics import FrameMotions
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.qos import SENSOR

ENGINE = "engine"
"""Namespace of the topics, inside the robot's, and key of their rate."""
_POSES = {"body": "", "geom": "geom_", "site": "site_"}
"""Kinds of elements with a pose, and the beginning of its names in ``mjModel``."""
_COMPONENTS = tuple(f"{part}.{axis}" for part in ("linear", "angular") for axis in "xyz")
_TOPICS = {"body": "bodies", "equality": "equalities"}  # else the kind with an s


class EngineTopics(NamedTuple):
    """Topics, and the source of their numbers."""

    topics: list[Topic]
    arrays: EngineArrays
    motions: list[FrameMotions]  # of each frame, since a topic shall not compute the others
    computed: Mapping[str, Accelerations | Jacobians]  # on request, by the name of the source


class _Owner(NamedTuple):
    """What has an element: a robot, or the scene."""

    namespace: str
    robot: int | None
    name: str  # of the element, without the prefix of the robot


class _Frame(NamedTuple):
    kind: str
    element: int
    reference: FixedFrame


def engine_topics(plant: Plant, entries: Iterable[str], *, strict: bool = True) -> EngineTopics:
    """Return the topics of some entries: patterns of array names, or elements with a pose.

    Raises:
        UserInputError: An entry matches nothing, unless not `strict`.
    """
    arrays: dict[str, EngineArray] = {}
    frames: dict[tuple[str, int, str], _Frame] = {}
    known, elements = engine_arrays(), _Elements(plant)
    for entry in filter(None, map(str.strip, entries)):
        try:
            if " " in entry:
                found = _find_frames(plant, elements, entry)
                frames |= {(each.kind, each.element, each.reference.name): each for each in found}
            elif names := matching(known, entry):
                arrays |= {name: known[name] for name in names}
            else:
                raise unknown("array", entry, known)
        except UserInputError:
            if strict:
                raise
    topics = list(_array_topics(elements, arrays.values()))
    motions = []
    for row, frame in enumerate(frames.values()):
        pair = _fixed(plant.model, frame.kind, frame.element), frame.reference
        motions.append(FrameMotions(plant, 1, partial(dict, {0: pair})))
        topics += _frame_topics(elements, frame, row)
    objects = [(_object(frame.kind), frame.element) for frame in frames.values()]
    return EngineTopics(
        topics,
        EngineArrays(plant, arrays),
        motions,
        {"accelerations": Accelerations(plant, objects), "jacobians": Jacobians(plant, objects)},
    )


class _Elements:
    """The elements of a model, by their owners."""

    def __init__(self, plant: Plant) -> None:
        self.model = plant.model
        robots = zip(plant.layout.robots, scopes(plant.assembly), strict=True)
        self._robots = list(enumerate(robots))
        # The topics of the scene are the topics of a robot without a namespace, if there is one.
        self._of_scene = next((i for i, (robot, _) in self._robots if not robot.namespace), None)

    def owner(self, kind: str, element: int) -> _Owner:
        """Return what has an element."""
        if kind != SCENE:
            which = NAMED_ELEMENTS[kind][0]
            name = mujoco.mj_id2name(self.model, which, element) or f"{kind}{element}"
            for index, (robot, scope) in self._robots:
                if scope.owns(which, element):
                    return _Owner(robot.namespace, index, scope.short(name))
        return _Owner("", self._of_scene, SCENE if kind == SCENE else name)


def _array_topics(elements: _Elements, arrays: Iterable[EngineArray]) -> Iterator[Topic]:
    """Yield a topic for each kind of element and namespace."""
    model = elements.model
    by_kind: dict[str, list[EngineArray]] = {}
    for array in arrays:
        by_kind.setdefault(array.kind, []).append(array)
    for kind, own in by_kind.items():
        messages: dict[tuple[str, int | None], DynamicJointState] = {}
        sources: dict[tuple[str, int | None], dict[str, NumberSource]] = {}
        count = 1 if kind == SCENE else getattr(model, NAMED_ELEMENTS[kind][1])
        for element in range(count):
            namespace, robot, name = elements.owner(kind, element)
            found = [
                (label, NumberSource(f"{ENGINE}.{array.name}", address))
                for array in own
                for label, address in array.numbers(model, element)
            ]
            if not found:
                continue
            message = messages.setdefault((namespace, robot), DynamicJointState())
            message.header.frame_id = WORLD
            row = len(message.joint_names)
            labels = [label for label, _ in found]
            message.joint_names.append(name)
            message.interface_values.append(
                InterfaceValue(interface_names=labels, values=[0.0] * len(labels))
            )
            sources.setdefault((namespace, robot), {}).update(
                (f"interface_values.{row}.values.{column}", source)
                for column, (_, source) in enumerate(found)
            )
        for (namespace, robot), message in messages.items():
            topic = _TOPICS.get(kind, kind if kind == SCENE else f"{kind}s")
            numbers = sources[namespace, robot]
            if len(numbers) > LARGEST_ARRAY:
                raise UserInputError(
                    f"engine_topics: {len(numbers)} numbers of {topic}, but a topic has at most "
                    f"{LARGEST_ARRAY}; name fewer arrays"
                )
            name = in_namespace(namespace, ENGINE, topic)
            yield _topic(name, message, numbers, robot)


def _topic(
    name: str, message: object, numbers: Mapping[str, NumberSource], robot: int | None
) -> Topic:
    return Topic(
        name=name,
        rate=ENGINE,
        message=message,
        numbers=numbers,
        stamps=("header.stamp",),
        qos=SENSOR,
        robot=robot,
    )


def _find_frames(plant: Plant, elements: _Elements, entry: str) -> Iterator[_Frame]:
    """Yield the frames of an entry such as ``site hand`` or ``geom pad* in base_link``.

    The names are those in the model, or in the file of the robot.
    """
    model = plant.model
    kind, _, rest = entry.partition(" ")
    if kind not in _POSES:
        raise unknown("kind of element", kind, _POSES, where=f"'{entry}'")
    pattern, _, reference = (part.strip() for part in rest.partition(" in "))
    which, count = NAMED_ELEMENTS[kind]
    names: dict[int, tuple[str, str]] = {}  # in the model, and in the file of the robot
    for element in range(int(kind == "body"), getattr(model, count)):  # without the world
        if name := mujoco.mj_id2name(model, which, element):
            names[element] = name, elements.owner(kind, element).name
    found = [i for i, own in names.items() if any(matches(name, pattern) for name in own)]
    if not found:
        raise unknown(kind, pattern, [short for _, short in names.values()])
    base = FixedFrame(
        name=WORLD, body=0, position=np.zeros(3), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0])
    )
    if reference and reference != WORLD:
        known = named_frames(model, plant.layout)
        if reference not in known:
            raise unknown("frame", reference, (WORLD, *known), where=f"'{entry}'")
        at = known[reference]
        base = FixedFrame(
            name=reference, body=at.body, position=at.position, quat_wxyz=at.quat_wxyz
        )
    for element in found:
        yield _Frame(kind, element, base)


def _fixed(model: mujoco.MjModel, kind: str, element: int) -> FixedFrame:
    """Return the frame of a body, geom or site."""
    which, _ = NAMED_ELEMENTS[kind]
    position, quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if start := _POSES[kind]:
        position = getattr(model, f"{start}pos")[element].copy()
        quat = getattr(model, f"{start}quat")[element].copy()
    body = body_of(model, which, element)
    return FixedFrame(name="", body=body, position=position, quat_wxyz=quat)


def _object(kind: str) -> int:
    """Return the object type of the origin of an element; ``body`` is the inertial frame."""
    return int(mujoco.mjtObj.mjOBJ_XBODY if kind == "body" else NAMED_ELEMENTS[kind][0])


def _frame_topics(elements: _Elements, frame: _Frame, row: int) -> Iterator[Topic]:
    """Yield pose and twist of a frame in its reference; acceleration and Jacobian in the world."""
    namespace, robot, name = elements.owner(frame.kind, frame.element)
    reference = frame.reference.name
    pose, twist = PoseStamped(), TwistStamped()
    pose.header.frame_id = twist.header.frame_id = reference
    poses, twists = frame_motion(f"{ENGINE}.frames.{row}", 0)
    where = "" if reference == WORLD else topic_token(reference)
    found: list[tuple[str, object, dict[str, NumberSource]]]
    found = [("pose", pose, poses), ("twist", twist, twists)]
    if reference == WORLD:
        accel, source = AccelStamped(), f"{ENGINE}.accelerations"
        accel.header.frame_id = WORLD
        angular = vector("accel.angular", source, 6 * row)
        found.append(("accel", accel, angular | vector("accel.linear", source, 6 * row + 3)))
        found.append(("jacobian", *_jacobian(elements, frame, row)))
    for last, message, numbers in found:
        parts = (ENGINE, frame.kind, topic_token(name), where, last)
        yield _topic(in_namespace(namespace, *parts), message, numbers, robot)


def _jacobian(
    elements: _Elements, frame: _Frame, row: int
) -> tuple[DynamicJointState, dict[str, NumberSource]]:
    """Return the motion of a frame for a unit of each degree of freedom that moves it."""
    model, message = elements.model, DynamicJointState()
    message.header.frame_id, numbers = WORLD, {}
    body = _fixed(model, frame.kind, frame.element).body
    for at, (joint, axes, first) in enumerate(jacobian_columns(model, body)):
        labels: list[str] = []
        for dof, axis in enumerate(axes, first):
            for component, name in enumerate(_COMPONENTS):
                address = (6 * row + component) * model.nv + dof
                path = f"interface_values.{at}.values.{len(labels)}"
                numbers[path] = NumberSource(f"{ENGINE}.jacobians", address)
                labels.append(axis + name)
        message.joint_names.append(elements.owner("joint", joint).name)
        values = [0.0] * len(labels)
        message.interface_values.append(InterfaceValue(interface_names=labels, values=values))
    return message, numbers
