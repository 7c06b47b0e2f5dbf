"""A link for tests of panels: it knows what a test says, and records what it is told to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mujoco_ros.sim.perturbation.pulls import Pull
from mujoco_ros.viewer.link import (
    ControllerInfo,
    LogLine,
    ParameterInfo,
    Request,
    Thumbnail,
    ViewerRunState,
)


@dataclass
class FakeLink:
    """Implements `Link`; what is asked for is answered by whoever settles `requests`.

    Attributes:
        calls: Name and arguments of each call, oldest first.
    """

    simulator: str = "/mujoco"
    reachable: bool = True
    run_state: ViewerRunState = ViewerRunState.PLAYING
    requests: list[Request] = field(default_factory=list)
    parameters: dict[str, ParameterInfo] = field(default_factory=dict)
    controllers: dict[str, ControllerInfo] = field(default_factory=dict)
    lines: list[LogLine] = field(default_factory=list)
    pictures: dict[tuple[str, str], Thumbnail] = field(default_factory=dict)
    watched: set[tuple[str, str]] = field(default_factory=set)
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def called(self, name: str) -> list[tuple[Any, ...]]:
        """Return the arguments of every call of a method."""
        return [call[1:] for call in self.calls if call[0] == name]

    def log(self, after: int = 0) -> Sequence[LogLine]:
        return [line for line in self.lines if line.number > after]

    def play(self) -> Request:
        return self._ask("play")

    def pause(self) -> Request:
        return self._ask("pause")

    def step(self, steps: int = 1) -> Request:
        return self._ask("step", steps)

    def reset(self, *scopes: str) -> Request:
        return self._ask("reset", *scopes)

    def save_keyframe(self, name: str) -> Request:
        return self._ask("save_keyframe", name)

    def load_keyframe(self, name: str) -> Request:
        return self._ask("load_keyframe", name)

    def set_speed(self, factor: float) -> Request:
        return self._ask("set_speed", factor)

    def set_parameters(self, values: Mapping[str, Any]) -> Request:
        return self._ask("set_parameters", dict(values))

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        self.calls.append(("command_joints", namespace, dict(positions)))

    def pull(self, frame: str, pull: Pull) -> None:
        self.calls.append(("pull", frame, pull))

    def let_go(self) -> None:
        self.calls.append(("let_go",))

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> None:
        self.calls.append(("move_mocap", namespace, name, position.copy(), quat_wxyz.copy()))

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        self.calls.append(("publish_target", name, position.copy(), quat_wxyz.copy()))

    def remove_target(self, name: str) -> None:
        self.calls.append(("remove_target", name))

    def change_state(self, controller: str, transition: str) -> Request:
        return self._ask("change_state", controller, transition)

    def watch(self, namespace: str, camera: str) -> None:
        self.watched.add((namespace, camera))

    def unwatch(self, namespace: str, camera: str) -> None:
        self.watched.discard((namespace, camera))

    def picture(self, namespace: str, camera: str) -> Thumbnail | None:
        return self.pictures.get((namespace, camera))

    def _ask(self, name: str, *arguments: Any) -> Request:
        self.calls.append((name, *arguments))
        self.requests.append(Request(name))
        return self.requests[-1]
