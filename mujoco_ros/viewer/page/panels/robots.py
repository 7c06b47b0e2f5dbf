"""The panel "Robots": joints with references, gains and actuators of the selected robot."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from statistics import mode

import numpy as np

from mujoco_ros.model.robot.actuators import actuator_kind
from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.joint_rows import FASTEST, JointRow, joint_rows
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.tabs import tabs
from mujoco_ros.viewer.page.widgets import Column
from mujoco_ros.viewer.ros.simulator_parameters import is_replay

_DEGREES = 180.0 / np.pi
_GAINS = ("kp", "kd")
_JOINTS_PAGE, _GAINS_PAGE, _ACTUATORS_PAGE = "Joints", "Gains", "Actuators"


class RobotsPanel(Panel):
    """Positions, references, efforts and gains; a slider commands, while paused it sets q."""

    title = "Robots"
    area = Area.RIGHT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._page, self._degrees = _JOINTS_PAGE, False
        self._rows: tuple[JointRow, ...] = ()
        self._sent: dict[str, Request] = {}  # by namespace
        self._refresh_page: Callable[[], None] = lambda: None
        self._found = ""  # a joint to scroll to
        self._headings: dict[str, LiveElement | None] = {}
        self._searches = 0

    @property
    def _selected(self) -> str:
        """Name of the selected robot, which other panels show too; empty without robots."""
        names = [robot.name for robot in self.state.layout.robots]
        return self.session.robot if self.session.robot in names else next(iter(names), "")

    @property
    def _robot(self) -> int | None:
        """Number of the selected robot; None without robots."""
        names = [robot.name for robot in self.state.layout.robots]
        return names.index(self._selected) if names else None

    @property
    def _namespace(self) -> str:
        robot = self._robot
        assert robot is not None
        return self.state.layout.robots[robot].namespace

    def structure(self) -> Hashable:
        state, is_replayed = self.state, is_replay(self.clients.parameters)
        shown = self._robot, self._page, tuple(self._controls)
        selected = state.model, state.edits, is_replayed, *shown
        if self._page == _JOINTS_PAGE:
            return *selected, self._degrees, state.paused
        return *selected, tuple(self._gain_names())

    def build(self) -> None:
        robots, robot = self.state.layout.robots, self._robot
        if robot is None:
            widgets.text("The scene has no robots.", "muted")
            self._refresh_page = lambda: None
            return
        self._rows = joint_rows(self.state.model, robots[robot].joints)
        self._headings = {}
        if len(robots) > 1:
            tabs("Robots", [each.name for each in robots], self._selected, self._select)
        with widgets.row():
            if len(robots) == 1:
                widgets.text(self._selected, strong=True)
            pages = (_JOINTS_PAGE, _GAINS_PAGE, *([_ACTUATORS_PAGE] if self._controls else []))
            for page in pages:
                control = widgets.button(page, partial(self._open, page), look="plain", watch=True)
                control.set(pressed=page == self._page)
        if self._page == _ACTUATORS_PAGE and self._controls:
            self._build_actuators()
        elif not self._rows:
            widgets.text(f"{self._selected} has no joints.", "muted")
            self._refresh_page = lambda: None
        elif self._page == _JOINTS_PAGE:
            self._build_joints()
        else:
            self._build_gains()
        self._result = RequestResult()

    def refresh(self) -> None:
        self._refresh_page()
        if self._robot is not None:
            self._result.show(self._sent.get(self._namespace))
        if (heading := self._headings.get(self._found)) is not None:
            self._searches += 1
            heading.set(found=self._searches)
        self._found = ""

    def find(self, kind: str, name: str) -> None:
        """Show the joints of a robot, and select the body of one."""
        self.session.robot, self._page, self._found = kind, _JOINTS_PAGE, name
        robots = {robot.name: robot for robot in self.state.layout.robots}
        if (robot := robots.get(kind)) is not None and name in robot.joints.names:
            joint = robot.joints.ids[robot.joints.names.index(name)]
            self.session.scene.select(int(self.state.model.jnt_bodyid[joint]))

    def _select(self, name: str) -> None:
        self.session.robot = name

    def _open(self, page: str) -> None:
        self._page = page

    def _set_degrees(self, degrees: bool) -> None:
        self._degrees = degrees

    def _build_joints(self) -> None:
        is_replayed = is_replay(self.clients.parameters)
        with widgets.row():
            hold = widgets.button("Hold here", self._hold, tip="Command the current positions")
            widgets.check("degrees", self._degrees, self._set_degrees, watch=True)
            if is_replayed:
                widgets.text("A replay accepts no references.", "muted")
        # The head has the units of most joints, and the rows of others have theirs
        units = [mode(each) for each in zip(*map(self._units, self._rows), strict=True)]
        command = "Set q" if self.state.paused else "Reference"
        table = widgets.WidgetTable(
            "Joints",
            [
                Column("Joint"),
                Column("q", units[0]),
                Column(command, units[1], wide=True),
                Column("Torque" if units[2] == "Nm" else "Force", units[2]),
            ],
        )
        rows = enumerate(self._rows)
        refreshes = [self._build_joint(table, index, row, units) for index, row in rows]

        def refresh() -> None:
            hold.enable(self._may_command)
            for each in refreshes:
                each()

        self._refresh_page = refresh

    def _is_speed(self, row: JointRow) -> bool:
        """Whether the slider of a joint sets a velocity."""
        return row.takes_velocities and not self.state.paused

    def _units(self, row: JointRow) -> tuple[str, str, str]:
        """Return the units of the position, the reference and the effort of a joint."""
        unit = "deg" if self._degrees and not row.is_prismatic else row.unit
        return unit, f"{unit}/s" if self._is_speed(row) else unit, row.effort_unit

    def _build_joint(
        self, table: widgets.WidgetTable, index: int, row: JointRow, head: Sequence[str]
    ) -> Callable[[], None]:
        """Build the row of a joint, with units that the head lacks; return what refreshes it."""
        units = self._units(row)
        q_unit, reference_unit, effort_unit = (
            "" if unit == usual else f" {unit}" for unit, usual in zip(units, head, strict=True)
        )
        scale = _DEGREES if self._degrees and not row.is_prismatic else 1.0
        digits = 1 if scale != 1.0 else 3
        is_paused, is_speed = self.state.paused, self._is_speed(row)
        low, high = (-FASTEST, FASTEST) if is_speed else (row.low, row.high)
        named = "velocity" if is_speed else "position" if is_paused else "reference"
        with table.row(row.name, _tip(row)) as self._headings[row.name]:
            with table.cell():
                position = widgets.figure()
            with table.cell():
                slider = widgets.slider(
                    f"{row.name} {named}",
                    0.0,
                    lambda value: self._move(row, float(value) / scale),
                    low=low * scale,
                    high=high * scale,
                    unit=units[1],
                    shown_unit=reference_unit,
                    digits=digits,
                    step=1.0 if scale != 1.0 else 0.01,
                )
            with table.cell():
                effort = widgets.Bar(f"{row.name} torque")

        def refresh() -> None:
            data, robot = self.state.data, self._robot
            assert robot is not None
            q, torque = float(data.qpos[row.qpos]), float(data.qfrc_actuator[row.dof])
            moved = float(data.qvel[row.dof]) if is_speed else q
            reference = moved
            if row.is_actuated and not is_paused:
                references = self.state.references.of_joints(self.state.layout.columns[robot])
                reference = float((references.dq if is_speed else references.q)[index])
            words = f"{format_decimals(q * scale, digits)}{q_unit}"
            position.set(text=words, tone="bad" if row.is_beyond(q) else "")
            slider.enable(self._may_command and (row.is_actuated or is_paused))
            slider.show(reference * scale, mark=moved * scale)
            effort.show(torque, row.effort, f"{format_decimals(torque, 2)}{effort_unit}")

        return refresh

    @property
    def _controls(self) -> Mapping[str, int]:
        """The controls of the selected robot that joint references do not drive."""
        found: dict[str, int] = self.state.metadata.get("controls", {}).get(self._selected, {})
        return found

    def _build_actuators(self) -> None:
        controls = self._controls
        with widgets.row():
            clear = widgets.button(
                "Clear",
                lambda: self._control(dict.fromkeys(controls, 0.0)),
                tip="Set the controls of these actuators to zero",
            )
        columns = [Column("Actuator"), Column("Control", wide=True), Column("Force")]
        table = widgets.WidgetTable("Actuators", columns)
        rows = [self._build_actuator(table, *each) for each in controls.items()]

        def refresh() -> None:
            clear.enable(self._may_command)
            for each in rows:
                each()

        self._refresh_page = refresh

    def _build_actuator(
        self, table: widgets.WidgetTable, name: str, slot: int
    ) -> Callable[[], None]:
        """Build the row of a control, of an actuator with any number of them."""
        model = self.state.model
        actuator = int(np.searchsorted(model.actuator_ctrladr, slot, side="right")) - 1
        output = int(model.actuator_outadr[actuator])
        low, high = (0.0 if actuator_kind(model, actuator) == "muscle" else -1.0), 1.0
        if model.actuator_ctrllimited[slot]:
            low, high = model.actuator_ctrlrange[slot].tolist()
        is_weak = bool(model.actuator_forcelimited[actuator])
        largest = float(abs(model.actuator_forcerange[actuator]).max()) if is_weak else 0.0
        with table.row(name, f"{name}\n{low:g} to {high:g}"):
            with table.cell():
                slider = widgets.slider(
                    f"{name} control",
                    0.0,
                    lambda value: self._control({name: float(value)}),
                    low=low,
                    high=high,
                    digits=3,
                    step=(high - low) / 100.0,
                )
            with table.cell():
                bar = widgets.Bar(f"{name} force")

        def refresh() -> None:
            force = float(self.state.data.actuator_force[output])
            slider.enable(self._may_command)
            slider.show(float(self.state.data.ctrl[slot]))
            bar.show(force, largest, format_decimals(force, 2))

        return refresh

    def _control(self, controls: Mapping[str, float]) -> None:
        namespace, commands = self._namespace, self.clients.commands
        self._sent[namespace] = commands.command_actuators(namespace, controls)

    @property
    def _may_command(self) -> bool:
        """Whether a command makes sense: the positions of a past state are of no use now."""
        return self.state.shown is None and not is_replay(self.clients.parameters)

    def _move(self, row: JointRow, value: float) -> None:
        if row.takes_velocities and not self.state.paused:
            self._command({}, {row.name: min(max(value, -FASTEST), FASTEST)})
            return
        value = min(max(value, row.low), row.high)
        if self.state.paused:
            self.clients.commands.set_joints(self._namespace, {row.name: value})
        else:
            self._command({row.name: value}, {})

    def _hold(self) -> None:
        qpos, held = self.state.data.qpos, [row for row in self._rows if row.is_actuated]
        self._command(
            {row.name: float(qpos[row.qpos]) for row in held if not row.takes_velocities},
            {row.name: 0.0 for row in held if row.takes_velocities},
        )

    def _command(self, positions: Mapping[str, float], velocities: Mapping[str, float]) -> None:
        namespace, commands = self._namespace, self.clients.commands
        if velocities:
            self._sent[namespace] = commands.command_velocities(namespace, velocities)
        if positions:
            self._sent[namespace] = commands.command_joints(namespace, positions)

    def _gain_names(self) -> dict[str, Sequence[str]]:
        """Return the parameters of the gains of each joint that has some."""
        if self._robot is None:
            return {}
        prefix = f"{self._namespace.replace('/', '.')}." if self._namespace else ""
        names = self.state.layout.robots[self._robot].joints.names
        found = {name: [f"{prefix}gains.{name}.{gain}" for gain in _GAINS] for name in names}
        known = self.clients.parameters.known
        return {joint: gains for joint, gains in found.items() if gains[0] in known}

    def _build_gains(self) -> None:
        declared = self._gain_names()
        if not declared:
            widgets.text(self._reason(), "muted")
            self._refresh_page = lambda: None
            return
        table = widgets.WidgetTable(
            "Gains",
            [
                Column("Joint"),
                Column("kp", "Nm/rad, N/m", wide=True),
                Column("kd", "Nms/rad, Ns/m", wide=True),
            ],
        )
        fields: dict[str, widgets.NumberField] = {}
        for joint, gains in declared.items():
            with table.row(joint):
                for kind, gain in zip(_GAINS, gains, strict=True):
                    with table.cell():
                        info = self.clients.parameters.known[gain]
                        fields[gain] = self._gain_field(f"{joint} {kind}", gain, info)

        def refresh() -> None:
            for gain, field in fields.items():
                if (info := self.clients.parameters.known.get(gain)) is not None:
                    field.show(float(info.value))

        self._refresh_page = refresh

    def _gain_field(self, name: str, gain: str, info: ParameterInfo) -> widgets.NumberField:
        def change(value: float) -> None:
            self._sent[self._namespace] = self.clients.parameters.set({gain: float(value)})

        tip = f"{info.description}\n{info.low:g} to {info.high:g}"
        step = 10.0 ** np.floor(np.log10(max(abs(float(info.value)), 1e-3)) - 1.0)
        value = float(info.value)
        return widgets.number_field(
            name, value, change, low=info.low, high=info.high, step=float(step), tip=tip
        )

    def _reason(self) -> str:
        if not self.clients.parameters.known:
            return f"{self.clients.parameters.simulator} does not respond"
        if is_replay(self.clients.parameters):
            return "A replay has no gains."
        return "No joint has gains."


def _tip(row: JointRow) -> str:
    limits = f"{row.low:g} to {row.high:g} {row.unit}" if row.is_limited else "no limits"
    effort = f"{row.effort:g} {row.effort_unit}" if np.isfinite(row.effort) else "unlimited effort"
    return f"{row.name}\n{limits}\n{effort if row.is_actuated else 'takes no references'}"
