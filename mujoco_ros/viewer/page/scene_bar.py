"""The buttons in the corner of the scene, which find the robot again."""

from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.panel import Panel


class SceneBar(Panel):
    """Frames the robot of the selected link, else of the panels, lets the camera follow it."""

    title = "Scene"

    @property
    def entity(self) -> Entity | None:
        """The entity of the selected link, else the robot that panels show, else the first one."""
        known, selected = self.session.shared.displays.entities, self.session.scene.selected
        chosen = [each for each in known.values() if selected and selected in each.bodies]
        shown = [known[self.session.robot]] if self.session.robot in known else []
        robots = [each for each in known.values() if each.kind is EntityKind.ROBOT]
        return next(iter([*chosen, *shown, *robots]), None)

    def build(self) -> None:
        with widgets.row():
            self._frame = widgets.button("Frame robot", self._frame_entity, watch=True)
            self._follow = widgets.button("Follow", self._follow_entity, watch=True)
            widgets.button(
                "Reset view",
                self.session.scene.reset_camera,
                tip="Return to the initial view",
                watch=True,
            )
        self._refusal = widgets.text(tone="warning").classes("badge")
        self._refusal._props["role"] = "status"

    def refresh(self) -> None:
        refusal = self.session.refusal
        self._refusal.set(text=refusal, hidden=not refusal)
        entity = self.entity
        name = "all" if entity is None else entity.name
        self._frame.set(text=f"Frame {name}", tip=f"Move the camera so that {name} fills the view")
        self._follow.enable(entity is not None and entity.root > 0)
        is_followed = entity is not None and 0 < entity.root == self.session.scene.followed
        self._follow.set(pressed=is_followed, tip=f"The camera moves with {name}")

    def _frame_entity(self) -> None:
        entity = self.entity
        self.session.scene.frame(0 if entity is None else entity.root)

    def _follow_entity(self) -> None:
        entity, scene = self.entity, self.session.scene
        if entity is not None:
            followed = 0 if scene.followed == entity.root else entity.root
            scene.set_camera(followed=followed, fixed=-1)
