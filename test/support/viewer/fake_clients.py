"""Clients for tests of panels; tests set their state, calls are recorded."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.clients import (
    PLAYING,
    ControllerInfo,
    FieldKey,
    FieldSample,
    ImageKey,
    LogLine,
    OfferedModel,
    ParameterInfo,
    Request,
    Thumbnail,
    Vector,
)
from mujoco_ros.viewer.marker_descriptions import MarkerKey, MarkerServerInfo
from mujoco_ros.viewer.message_shapes import JointPath, Shape, TfFrame
from mujoco_ros.viewer.panel_descriptions import PanelInfo

Record = Callable[..., Request]


@dataclass
class FakeSimulation:
    record: Record
    status: str = PLAYING

    def play(self) -> Request:
        return self.record("play")

    def pause(self) -> Request:
        return self.record("pause")

    def step(self, steps: int = 1) -> Request:
        return self.record("step", steps)

    def reset(self, *scopes: str) -> Request:
        return self.record("reset", *scopes)

    def save_keyframe(self, name: str) -> Request:
        return self.record("save_keyframe", name)

    def load_keyframe(self, name: str) -> Request:
        return self.record("load_keyframe", name)

    def delete_keyframe(self, name: str) -> Request:
        return self.record("delete_keyframe", name)

    def save_model(self, file: str) -> Request:
        return self.record("save_model", file)

    def load_past(self, time: float) -> Request:
        return self.record("load_past", time)

    def set_speed(self, factor: float) -> Request:
        return self.record("set_speed", factor)


@dataclass
class FakeParameters:
    record: Record
    simulator: str = "/mujoco"
    known: dict[str, ParameterInfo] = field(default_factory=dict)

    def set(self, values: Mapping[str, Any]) -> Request:
        return self.record("set_parameters", dict(values))


@dataclass
class FakeCommands:
    record: Record

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        self.record("command_joints", namespace, dict(positions))

    def command_actuators(self, namespace: str, controls: Mapping[str, float]) -> None:
        self.record("command_actuators", namespace, dict(controls))

    def command_velocities(self, namespace: str, velocities: Mapping[str, float]) -> None:
        self.record("command_velocities", namespace, dict(velocities))

    def pull(self, frame: str, pull: Pull) -> None:
        self.record("pull", frame, pull)

    def release(self) -> None:
        self.record("release")

    def push(self, frame: str, force: np.ndarray, torque: np.ndarray) -> Request:
        return self.record("push", frame, force.tolist(), torque.tolist())

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> None:
        self.record("move_mocap", namespace, name, position.copy(), quat_wxyz.copy())

    def set_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        self.record("set_joints", namespace, dict(positions))

    def set_pose(self, frame: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        self.record("set_pose", frame, position.copy(), quat_wxyz.copy())

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        self.record("publish_target", name, position.copy(), quat_wxyz.copy())

    def remove_target(self, name: str) -> None:
        self.record("remove_target", name)


@dataclass
class FakeControllers:
    record: Record
    known: dict[str, ControllerInfo] = field(default_factory=dict)

    def change_state(self, controller: str, transition: str) -> Request:
        return self.record("change_state", controller, transition)


@dataclass
class FakeEntities:
    record: Record
    spawnables: tuple[OfferedModel, ...] = ()
    worlds: tuple[OfferedModel, ...] = ()

    def prepare(self) -> None:
        self.record("prepare")

    def list_worlds(self) -> Request:
        return self.record("list_worlds")

    def place(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        return self.record("place", name, position.tolist(), quat_wxyz.tolist())

    def reset(self, name: str, values: Mapping[str, Any]) -> Request:
        return self.record("reset_entity", name, dict(values))

    def load_world(self, uri: str, text: str = "") -> Request:
        return self.record("load_world", uri, *([text] if text else []))

    def list_spawnables(self) -> Request:
        return self.record("list_spawnables")

    def spawn(self, name: str, uri: str, position: Sequence[float]) -> Request:
        return self.record("spawn", name, uri, tuple(position))

    def delete(self, name: str) -> Request:
        return self.record("delete", name)


@dataclass
class FakeImages:
    newest: dict[ImageKey, Thumbnail] = field(default_factory=dict)
    subscribed: set[ImageKey] = field(default_factory=set)

    def subscribe(self, key: ImageKey) -> None:
        self.subscribed.add(key)

    def unsubscribe(self, key: ImageKey) -> None:
        self.subscribed.discard(key)


@dataclass
class FakeDrawings:
    topics: dict[str, str] = field(default_factory=dict)
    frames: dict[str, TfFrame] = field(default_factory=dict)
    newest: dict[str, list[Shape]] = field(default_factory=dict)
    chosen: dict[str, bool] = field(default_factory=dict)
    paths: dict[str, JointPath] = field(default_factory=dict)
    needed: set[str] | None = field(default_factory=set)

    def is_shown(self, topic: str) -> bool:
        return self.chosen.get(topic, False)

    def show(self, topic: str, shown: bool) -> None:
        self.chosen[topic] = shown

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        return dict(self.newest)

    def joint_paths(self) -> Mapping[str, JointPath]:
        return dict(self.paths)

    def need_frames(self, names: Collection[str] | None) -> None:
        self.needed = None if names is None else set(names)


@dataclass
class FakeMarkers:
    record: Record
    known: dict[str, MarkerServerInfo] = field(default_factory=dict)
    left_out: int = 0

    def drag(self, key: MarkerKey, control: str, pose: Pose) -> None:
        self.record("drag_marker", key, control, pose)

    def release(self) -> None:
        self.record("release_marker")

    def place(self, key: MarkerKey, control: str, pose: Pose) -> None:
        self.record("place_marker", key, control, pose)

    def click(self, key: MarkerKey, control: str) -> None:
        self.record("click_marker", key, control)

    def select(self, key: MarkerKey, control: str, entry: int) -> None:
        self.record("select_entry", key, control, entry)


@dataclass
class FakeVelocities:
    record: Record
    topics: tuple[str, ...] = ()
    tool_topics: tuple[str, ...] = ()

    def command(self, topic: str, linear: Vector, angular: Vector) -> None:
        self.record("drive", topic, linear, angular)

    def stop(self, topic: str) -> None:
        self.record("stop", topic)


@dataclass
class FakeFields:
    topics: tuple[str, ...] = ()
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    samples: list[FieldSample] = field(default_factory=list)
    watched: tuple[FieldKey, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)

    def of_type(self, kind: str) -> Sequence[str]:
        return [topic for topic, each in self.kinds.items() if each == kind]

    def inspect(self, topic: str, _now: float) -> Sequence[str] | None:
        return self.paths.get(topic)

    def watch(self, keys: Collection[FieldKey]) -> None:
        self.watched = tuple(keys)

    def take_samples(self) -> Sequence[FieldSample]:
        taken, self.samples = self.samples, []
        return taken


@dataclass
class FakePanels:
    record: Record
    known: dict[str, PanelInfo] = field(default_factory=dict)
    settings: dict[tuple[str, str], ParameterInfo] = field(default_factory=dict)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    watched: tuple[str, ...] = ()

    def setting(self, node: str, parameter: str) -> ParameterInfo | None:
        return self.settings.get((node, parameter))

    def set(self, node: str, parameter: str, value: Any) -> Request:
        return self.record("set_setting", node, parameter, value)

    def send_form(self, label: str, node: str, values: Mapping[str, Any], service: str) -> Request:
        return self.record("send_form", label, node, dict(values), service)

    def press(self, label: str, service: str) -> Request:
        return self.record("press", label, service)

    def watch(self, tables: Collection[str]) -> None:
        self.watched = tuple(tables)

    def rows(self, table: str) -> Sequence[Sequence[str]]:
        return self.tables.get(table, ())


class FakeClients:
    """Has the clients of `ViewerNode`; tests complete the `requests`.

    Attributes:
        requests: All requests, oldest first.
        lines: The log.
        calls: Name and arguments of each call, oldest first.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.lines: list[LogLine] = []
        self.calls: list[tuple[Any, ...]] = []
        self.diagnostics = SimpleNamespace(profile={}, temperatures={})
        self.simulation = FakeSimulation(self._request)
        self.parameters = FakeParameters(self._request)
        self.commands = FakeCommands(lambda *call: self.calls.append(call))
        self.controllers = FakeControllers(self._request)
        self.entities = FakeEntities(self._request)
        self.images = FakeImages()
        self.drawings = FakeDrawings()
        self.markers = FakeMarkers(lambda *call: self.calls.append(call))
        self.fields, self.panel_fields = FakeFields(), FakeFields()
        self.panels = FakePanels(self._request)
        self.velocities = FakeVelocities(lambda *call: self.calls.append(call))

    def called(self, name: str) -> list[tuple[Any, ...]]:
        """Return the arguments of every call of a method."""
        return [call[1:] for call in self.calls if call[0] == name]

    def log(self, after: int) -> Sequence[LogLine]:
        return [line for line in self.lines if line.number > after]

    def latest_request(self) -> Request | None:
        return self.requests[-1] if self.requests else None

    def _request(self, name: str, *arguments: Any) -> Request:
        self.calls.append((name, *arguments))
        self.requests.append(Request(name))
        return self.requests[-1]
