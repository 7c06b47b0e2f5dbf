"""A panel per robot: its joints with references, and its gains."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import mujoco
import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import (
    CommandClient,
    ParameterClient,
    ParameterInfo,
    Request,
    is_replay,
)
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.joint_rows import JointRow, joint_rows
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import format_decimals, tab, tabs, text
from mujoco_ros.viewer.style import FILL

_GAIN_COLUMNS = (("Joint", 0.0), ("kp [Nm/rad | N/m]", 1.0), ("kd [Nms/rad | Ns/m]", 1.0))
_GAINS = ("kp", "kd")


class GainsTable:
    """Shows gains and sets edited ones; the result is shown above the table."""

    def __init__(self, parameters: ParameterClient) -> None:
        self._parameters = parameters
        self._edited: dict[str, float] = {}
        self._request: Request | None = None

    def build(self, namespace: str, rows: Sequence[JointRow]) -> None:
        prefix = namespace.replace("/", ".") + "." if namespace else ""
        known = self._parameters.known
        names = {row.name: [f"{prefix}gains.{row.name}.{gain}" for gain in _GAINS] for row in rows}
        declared = {joint: gains for joint, gains in names.items() if gains[0] in known}
        if not declared:
            widgets.text(self._reason())
            return
        if self._request is not None:
            widgets.request_result(self._request)
        with widgets.table("gains", _GAIN_COLUMNS, height=FILL) as is_open:
            for joint, gains in declared.items() if is_open else ():
                imgui.TableNextRow()
                widgets.cell(joint)
                for gain in gains:
                    widgets.cell()
                    self._build_gain(gain, known[gain])

    def _build_gain(self, name: str, info: ParameterInfo) -> None:
        imgui.SetNextItemWidth(FILL)
        shown = self._edited.get(name, float(info.value))
        changed, value = imgui.InputDouble(f"##{name}", shown, 0.0, 0.0, "%.6g")
        imgui.SetItemTooltip(f"{info.description}\n{info.low:g} to {info.high:g}")
        if changed:
            self._edited[name] = value
        if imgui.IsItemDeactivatedAfterEdit():
            self._request = self._parameters.set({name: self._edited.pop(name, value)})
        elif not imgui.IsItemActive():
            self._edited.pop(name, None)

    def _reason(self) -> str:
        if not self._parameters.known:
            return f"{self._parameters.simulator} does not respond"
        return "A replay has no gains." if is_replay(self._parameters) else "no joint has gains"


_DEGREES = 180.0 / np.pi


class JointTable:
    """Shows positions, references and efforts; a slider commands a reference, while paused q."""

    def __init__(self, parameters: ParameterClient, commands: CommandClient) -> None:
        self._parameters, self._commands = parameters, commands
        self.degrees = False  # whether angles are shown in degrees
        self._sent: dict[str, Request] = {}  # by namespace

    def build(
        self,
        namespace: str,
        rows: Sequence[JointRow],
        data: mujoco.MjData,
        references: np.ndarray,
        *,
        paused: bool,
    ) -> None:
        """Build the table of one robot with its position references [rad or m].  # (n,)"""
        replayed = is_replay(self._parameters)
        tip = "Command the current positions"
        if widgets.button("Hold here", enabled=not replayed, tip=tip):
            self._command(
                namespace, {row.name: float(data.qpos[row.qpos]) for row in rows if row.is_actuated}
            )
        imgui.SameLine()
        _, self.degrees = imgui.Checkbox("degrees", self.degrees)
        if replayed:
            widgets.text("A replay accepts no references.")
        unit = "deg" if self.degrees else "rad"
        columns = (
            ("Joint", 0.0),
            (f"q [{unit}]", 0.0),
            (f"{'Set q' if paused else 'Reference'} [{unit}]", 1.2),
            ("Torque [Nm]", 1.0),
        )
        sent = self._sent.get(namespace)
        height = style.FILL if sent is None else -style.SENT_HEIGHT
        with widgets.table("joints", columns, height=height) as is_open:
            for row, reference in zip(rows, references, strict=True) if is_open else ():
                imgui.TableNextRow()
                self._build_row(namespace, row, data, None if paused else float(reference))
        if sent is not None:
            with widgets.child("sent") as is_visible:
                if is_visible:
                    widgets.request_result(sent)

    def _command(self, namespace: str, positions: Mapping[str, float]) -> None:
        self._sent[namespace] = self._commands.command_joints(namespace, positions)

    def _build_row(
        self, namespace: str, row: JointRow, data: mujoco.MjData, reference: float | None
    ) -> None:
        """Build the row of a joint; without a reference the slider sets its position."""
        position, effort = float(data.qpos[row.qpos]), float(data.qfrc_actuator[row.dof])
        scale = _DEGREES if self.degrees and not row.is_prismatic else 1.0
        unit = " m" if row.is_prismatic else ""
        digits = 1 if scale != 1.0 else 3
        widgets.cell(row.name)
        imgui.SetItemTooltip(_tooltip(row))
        widgets.number_cell(f"{format_decimals(position * scale, digits)}{unit}")
        widgets.cell()
        has_slider = row.is_actuated or reference is None
        with widgets.disabled(not has_slider or is_replay(self._parameters)):
            imgui.SetNextItemWidth(style.FILL)
            changed, value = imgui.SliderFloat(
                f"##{row.name} reference",
                (position if reference is None else reference) * scale,
                row.low * scale,
                row.high * scale,
                f"%.{digits}f{unit}",
                int(imgui.SliderFlags.AlwaysClamp),
            )
        _draw_position_mark((position - row.low) / (row.high - row.low))
        if changed:
            send = self._commands.set_joints if reference is None else self._command
            send(namespace, {row.name: value / scale})
        widgets.cell()
        widgets.bar(
            effort, row.effort, f"{format_decimals(effort, 2)}{' N' if row.is_prismatic else ''}"
        )


def _draw_position_mark(share: float) -> None:
    low, high = imgui.GetItemRectMin(), imgui.GetItemRectMax()
    x = low.x + min(1.0, max(0.0, share)) * (high.x - low.x)
    start, end = imgui.Vec2(x, high.y - style.POSITION_MARK_HEIGHT), imgui.Vec2(x, high.y)
    imgui.GetWindowDrawList().AddLine(start, end, style.packed(style.WARNING), 3.0)


def _tooltip(row: JointRow) -> str:
    limits = f"{row.low:g} to {row.high:g} {row.unit}" if row.is_limited else "no limits"
    effort = f"{row.effort:g} {row.effort_unit}" if np.isfinite(row.effort) else "unlimited effort"
    return f"{row.name}\n{limits}\n{effort if row.is_actuated else 'no actuator'}"


class RobotsPanel(Panel):
    """A window per robot, with a table of joints and one of gains."""

    title = "Robots"
    area = DockArea.RIGHT

    def __init__(
        self, state: SharedState, parameters: ParameterClient, commands: CommandClient
    ) -> None:
        super().__init__(state)
        self._joints = JointTable(parameters, commands)
        self._gains = GainsTable(parameters)
        self._model: object = None
        self._edits = 0
        self._rows: list[tuple[JointRow, ...]] = []

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        layout = self.state.layout
        self._update_rows()
        for robot, columns, rows in zip(layout.robots, layout.columns, self._rows, strict=True):
            yield (
                f"{robot.name}###robot {robot.name}",
                partial(self._build_robot, robot, columns, rows),
            )

    def build(self) -> None:
        """Build nothing: there is no window for all robots."""

    def _build_robot(self, robot: RobotLayout, columns: slice, rows: tuple[JointRow, ...]) -> None:
        if not rows:
            text(f"{robot.name} has no joints")
            return
        with tabs("robot") as is_open:
            if not is_open:
                return
            with tab("Joints") as is_selected:
                if is_selected:
                    state = self.state
                    references = state.references.of_joints(columns).q
                    self._joints.build(
                        robot.namespace, rows, state.data, references, paused=state.paused
                    )
            with tab("Gains") as is_selected:
                if is_selected:
                    self._gains.build(robot.namespace, rows)

    def _update_rows(self) -> None:
        state = self.state
        if state.model is not self._model or state.edits != self._edits:
            self._model, self._edits = state.model, state.edits
            self._rows = [joint_rows(state.model, robot.joints) for robot in state.layout.robots]
