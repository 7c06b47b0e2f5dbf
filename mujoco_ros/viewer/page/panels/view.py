"""The panel "View": the camera, how the scene is drawn, and MuJoCo's visual flags, of this page."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.details import group
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.scene_view import AUTO, PICTURES, THREE, default_options
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.scene.options import choices

_FREE, _NONE = "free", "nothing"
_DRAWINGS = {
    "by measuring": AUTO,
    "in the browser (three.js)": THREE,
    "as pictures of the viewer": PICTURES,
}
_GROUPS = 6


class ViewPanel(Panel):
    """What only this page shows: other pages and the simulation do not change."""

    title = "View"
    area = Area.LEFT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._choices = choices()

    def settings(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, and how the scene is drawn."""
        scene = self.session.scene
        return {"options": dict(scene.options), "drawing": scene.drawing}

    def restore(self, settings: Mapping[str, Any]) -> None:
        options = settings.get("options")
        drawing = str(settings.get("drawing"))
        self.session.scene.restore(options if isinstance(options, dict) else {}, drawing)

    def structure(self) -> Hashable:
        model: Hashable = self.state.model
        return model

    def build(self) -> None:
        with widgets.section("Camera"):
            self._build_camera()
        with widgets.section("Drawing"):
            with widgets.line("Drawn"):
                tip = "By measuring: a page that draws less than 10 frames a second gets pictures"
                items, draw = list(_DRAWINGS), self._set_drawing
                self._drawing = widgets.choice("Drawing", items, "", draw, tip=tip, watch=True)
            self._choosers: dict[str, widgets.Widget] = {}
            for kind, names in (("label", "labels"), ("frame", "frames")):
                with widgets.line(kind.capitalize() + "s"):
                    items, words = self._choices[names], kind.capitalize() + "s"
                    change = partial(self._set, kind)
                    control = widgets.choice(words, items, items[0], change, watch=True)
                    self._choosers[kind] = control
        self._flags: dict[tuple[str, str], widgets.Widget] = {}
        for title, kind in (("Visual flags", "flags"), ("Rendering", "render")):
            with group(title):
                self._build_flags(kind)
        with group("Groups"):
            self._build_groups()
        with widgets.row():
            tip = "Flags, groups, labels and frames as at first"
            reset = partial(self.session.scene.set_option, **default_options())
            widgets.button("Default options", reset, tip=tip, watch=True)

    def refresh(self) -> None:
        scene = self.session.scene
        options = scene.options
        self._camera.set(value=self._cameras[scene.fixed + 1])
        names = {root: name for name, root in self._roots.items()}
        self._follow.set(value=names.get(scene.followed, _NONE))
        drawing = next(words for words, each in _DRAWINGS.items() if each == scene.drawing)
        self._drawing.set(value=drawing)
        present = "pictures of the viewer" if scene.shows_pictures else "drawn in the browser"
        self._drawing.set(tip=f"Now: {present}")
        for kind, chooser in self._choosers.items():
            chooser.set(value=options[kind])
        for (kind, name), check in self._flags.items():
            check.set(value=bool(options[kind][name]))
        for kind, row in self._groups.items():
            for check, shown in zip(row, options["groups"][kind], strict=True):
                check.set(value=bool(shown))

    def _build_camera(self) -> None:
        model, scene = self.state.model, self.session.scene
        names = [model.camera(camera).name or f"camera {camera}" for camera in range(model.ncam)]
        self._cameras = [_FREE, *names]
        entities = self.session.shared.displays.entities.values()
        self._roots = {_NONE: 0} | {each.name: each.root for each in entities if each.root > 0}
        with widgets.line("Camera"):
            self._camera = widgets.choice(
                "Camera", self._cameras, _FREE, self._set_camera, tip="Keys: [ and ]", watch=True
            )
        with widgets.line("Follow"):
            items = list(self._roots)
            tip = "The camera moves with it"
            self._follow = widgets.choice(
                "Follow", items, _NONE, self._set_follow, tip=tip, watch=True
            )
        with widgets.row():
            widgets.button("Frame all", scene.frame, tip="Show all bodies", watch=True)
            widgets.button("Reset view", scene.reset_camera, tip="The initial view", watch=True)

    def _build_flags(self, kind: str) -> None:
        with Element("div").classes("grid-checks"):
            for name, key, *_default in self._choices[kind]:
                tip = f"Key: {key}" if key.strip() else ""
                change = partial(self._set_flag, kind, name)
                self._flags[kind, name] = widgets.check(name, False, change, tip=tip, watch=True)

    def _build_groups(self) -> None:
        columns = [widgets.Column("Kind"), *(widgets.Column(str(at)) for at in range(_GROUPS))]
        table = widgets.WidgetTable("Groups", columns)
        self._groups: dict[str, list[widgets.Widget]] = {}
        for kind in self._choices["groups"]:
            self._groups[kind] = []
            with table.row(kind):
                for at in range(_GROUPS):
                    with table.cell():
                        check = widgets.check(
                            "",
                            False,
                            partial(self._set_group, kind, at),
                            name=f"{kind} group {at}",
                            watch=True,
                        )
                        self._groups[kind].append(check)

    def _set_camera(self, name: str) -> None:
        fixed = self._cameras.index(name) - 1
        self.session.scene.set_camera(fixed=fixed, followed=0)

    def _set_follow(self, name: str) -> None:
        self.session.scene.set_camera(followed=self._roots[name], fixed=-1)

    def _set_drawing(self, words: str) -> None:
        self.session.scene.set_drawing(_DRAWINGS[words])

    def _set(self, kind: str, value: str) -> None:
        self.session.scene.set_option(**{kind: value})

    def _set_flag(self, kind: str, name: str, shown: bool) -> None:
        self.session.scene.set_option(**{kind: {name: shown}})

    def _set_group(self, kind: str, at: int, shown: bool) -> None:
        row = list(self.session.scene.options["groups"][kind])
        row[at] = shown
        self.session.scene.set_option(groups={kind: row})
