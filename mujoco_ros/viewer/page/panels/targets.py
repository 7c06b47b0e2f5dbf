"""The panel "Targets": named frames that are dragged in the scene and published."""

from collections.abc import Hashable
from functools import partial

import numpy as np

from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.pose_fields import PoseFields
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session


class TargetsPanel(Panel):
    """The targets of all pages; their handles are in the scene."""

    title = "Targets"
    area = Area.LEFT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._targets = session.shared.targets
        self._name = "target"

    def structure(self) -> Hashable:
        return tuple(self._targets.poses)

    def build(self) -> None:
        with widgets.row():
            set_name = partial(setattr, self, "_name")
            self._field = widgets.text_field(
                "Name of the target", set_name, value=self._name, eager=True
            )
            self._add = widgets.button("Add target", self._add_target)
        self._conflict = widgets.text(tone="warning", tag="p")
        self._fields: dict[str, PoseFields] = {}
        if not self._targets.poses:
            words = "A target is a frame to drag; its pose is published on target/<name>/pose."
            widgets.text(words, "muted", tag="p")
        for name in self._targets.poses:
            with widgets.section(name):
                self._build_target(name)
        self._result = RequestResult()

    def refresh(self) -> None:
        name = self._name.strip()
        other = self._targets.same_topic(name) if name else ""
        self._add.enable(bool(name) and not other)
        tips = {"": "At the selected body, or where the camera looks"}
        self._add.set(tip=tips.get(other, f"'{other}' exists") if name else "It needs a name")
        topic = f"target/{topic_token(name)}/pose" if other else ""
        words = f"'{other}' has the topic of '{name}', {topic}."
        self._conflict.set(text=words, hidden=other in ("", name))
        for each, fields in self._fields.items():
            if (pose := self._targets.poses.get(each)) is not None:
                fields.show(pose.position.tolist())
        if self._targets.poses:
            self._result.show(self._targets.request)

    def _build_target(self, name: str) -> None:
        move = partial(self._move, name)
        self._fields[name] = PoseFields(move, name=name, has_angles=False)
        with widgets.row():
            widgets.button(
                "Upright",
                partial(self._align, name),
                tip="Align it with the world",
                name=f"{name} upright",
            )
            widgets.button(
                "Remove", partial(self._targets.remove, name), name=f"Remove {name}", look="danger"
            )

    def _add_target(self) -> None:
        name = self._name.strip()
        if not name or self._targets.same_topic(name):
            return
        self._targets.put(name, self._initial_pose())
        self._name = self._targets.next_name(name)

    def _initial_pose(self) -> Pose:
        """Return the pose of the selected body, or of the point that the camera looks at."""
        scene, data = self.session.scene, self.state.data
        body = scene.selected
        if 0 < body < self.state.model.nbody:
            return Pose(position=data.xpos[body].copy(), quat_wxyz=data.xquat[body].copy())
        return Pose(position=np.array(scene.pose.get("lookat", (0.0, 0.0, 0.0))))

    def _move(self, name: str, index: int, value: float) -> None:
        if (pose := self._targets.poses.get(name)) is not None:
            position = pose.position.copy()
            position[index] = value
            self._targets.put(name, Pose(position=position, quat_wxyz=pose.quat_wxyz))

    def _align(self, name: str) -> None:
        if (pose := self._targets.poses.get(name)) is not None:
            self._targets.put(name, Pose(position=pose.position))
