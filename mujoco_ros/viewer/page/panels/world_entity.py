"""What the panel "World" shows of an open entity: displays, pose, links and sensors."""

from collections.abc import Callable, Iterable
from functools import partial

from nicegui.element import Element

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.entity_parts import depth, initial_values, sensors_of, trail_body
from mujoco_ros.viewer.page import popups, widgets
from mujoco_ros.viewer.page.details import Details
from mujoco_ros.viewer.page.pose_fields import PoseFields, pose_numbers, pose_of
from mujoco_ros.viewer.page.session import Session

_SWITCHES = (
    ("Visual", "visual", "Its shapes, and its sites"),
    ("Collision", "collision", "Shapes that can collide"),
    ("Frames", "frames", "Frames of its links"),
)
_GHOST_TIP = "The robot at its joint references, as a ghost"
_TRAIL_TIP = "The path of the last 10 s: of the selected link, else of its base or last link"
_INDENT_EM = 0.9


class OpenEntity:
    """The content of an entity, in the container that is active."""

    def __init__(
        self, session: Session, entity: Entity, delete: Callable[[Entity], object], *, acts: bool
    ) -> None:
        """Create the content; without `acts` nothing of the simulation can be changed."""
        self.latest: Request | None = None  # the latest request
        self._session, self._entity = session, entity
        self._displays = session.shared.displays
        self._edited: list[float] | None = None  # entered position [m], roll, pitch, yaw [deg]
        self._fields: PoseFields | None = None
        self._buttons: list[tuple[widgets.Widget, int]] = []  # those that select a body
        self._build_switches()
        if acts and (entity.free is not None or entity.mocap is not None):
            self._build_pose()
        if acts:
            self._build_actions(delete)
        model, prefix = session.state.model, f"{entity.name}/"
        links = [
            (model.body(body).name.removeprefix(prefix) or f"body {body}", body)
            for body in entity.bodies
        ]
        self._build_list(f"Links ({len(links)})", links)
        self._build_list("Sensors", list(sensors_of(session.state, entity)))

    def refresh(self) -> None:
        """Show the present pose, and what is selected."""
        display = self._displays.display_of(self._entity.name)
        for check, switch in self._switches:
            check.set(value=bool(getattr(display, switch)))
        scene, root = self._session.scene, self._entity.root
        self._follow.set(value=0 < root == scene.followed)
        for button, body in self._buttons:
            button.set(pressed=scene.selected == body)
        if self._fields is not None:
            self._fields.show(self._edited or self._present())
            # What was not entered of the pose of a past state is of no use now.
            self._place.enable(self._edited is not None and self._session.state.shown is None)
            self._forget.enable(self._edited is not None)

    def _build_switches(self) -> None:
        entity, self._switches = self._entity, list[tuple[widgets.Widget, str]]()
        switches = list(_SWITCHES)
        if entity.kind is EntityKind.ROBOT:
            switches.append(("References", "references", _GHOST_TIP))
        with Element("div").classes("checks"):
            for label, switch, tip in switches:
                check = widgets.check(label, False, partial(self._set, switch), tip=tip)
                self._switches.append((check, switch))
            trail = widgets.check("Trail", False, self._set_trail, tip=_TRAIL_TIP)
            self._switches.append((trail, "trail"))
            self._follow = widgets.check(
                "Follow", False, self._set_follow, tip="The camera moves with it", watch=True
            )
            self._follow.enable(entity.root > 0)

    def _build_pose(self) -> None:
        self._fields = PoseFields(self._edit, name=self._entity.name)
        tip = "Set this pose in the world. While paused, drag it: double-click, Ctrl and drag"
        with widgets.row():
            self._place = widgets.button("Place", self._set_pose, tip=tip)
            forget = partial(setattr, self, "_edited", None)
            self._forget = widgets.button("Present", forget, tip="Show the present pose again")

    def _build_actions(self, delete: Callable[[Entity], object]) -> None:
        entity = self._entity
        tip = "Set its initial state; others, and the time, stay"
        with widgets.row():
            widgets.button("Reset", self._reset, tip=tip).enable(entity.moves)
            widgets.button(
                "Frame", lambda: self._session.scene.frame(entity.root), watch=True, tip="Show it"
            ).enable(entity.root > 0)
            if entity.kind is not EntityKind.BODY:
                question = popups.Question(
                    "Delete", lambda: delete(entity), answer=f"Delete {entity.name}", refuse="Keep"
                )
                undo = "Undo spawns it again."
                if entity.name not in self._session.shared.spawned:
                    undo = "It was not spawned on a page, so this cannot be undone here."
                question.set_words(f"{entity.name} and its topics disappear. {undo}")

    def _build_list(self, title: str, bodies: Iterable[tuple[str, int]]) -> None:
        bodies = list(bodies)
        if not bodies:
            return
        model, select = self._session.state.model, self._session.scene.select
        base = min(depth(model, body) for _, body in bodies)

        def fill() -> None:
            with Element("div").classes("list"):
                for label, body in bodies:
                    button = widgets.button(label, partial(select, body), look="plain", watch=True)
                    if title != "Sensors":
                        button.style(f"margin-left: {_INDENT_EM * (depth(model, body) - base)}em")
                    self._buttons.append((button, body))

        def forget(is_open: bool) -> None:
            if not is_open:
                self._buttons = [each for each in self._buttons if not each[0].is_deleted]

        Details(title, fill, forget)

    def _present(self) -> list[float]:
        """Return the present position [m] and roll, pitch and yaw [deg]."""
        data, root = self._session.state.data, self._entity.root
        return pose_numbers(Pose(position=data.xpos[root], quat_wxyz=data.xquat[root]))

    def _edit(self, index: int, value: float) -> None:
        self._edited = self._edited or self._present()
        self._edited[index] = value

    def _set_pose(self) -> None:
        if self._edited is None:
            return
        pose, self._edited = pose_of(self._edited), None
        place = self._session.clients.entities.place
        self.latest = place(self._entity.name, pose.position, pose.quat_wxyz)

    def _reset(self) -> None:
        state, entity = self._session.state, self._entity
        values = initial_values(state.assembly, state.layout, entity)
        self.latest = self._session.clients.entities.reset(entity.name, values)

    def _set(self, switch: str, value: bool) -> None:
        self._displays.set(self._entity.name, **{switch: value})

    def _set_trail(self, value: bool) -> None:
        selected, model = self._session.scene.selected, self._session.state.model
        body = trail_body(model, self._entity, selected) if value else ""
        self._displays.set(self._entity.name, trail=body)

    def _set_follow(self, value: bool) -> None:
        self._session.scene.set_camera(followed=self._entity.root if value else 0, fixed=-1)
