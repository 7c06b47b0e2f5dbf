"""The table of a robot's joints: positions, references and efforts."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import CommandClient, ParameterClient, Request, is_replay
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.formats import format_decimals
from mujoco_ros.viewer.panels.robots.joint_rows import JointRow

_DEGREES = 180.0 / np.pi


class JointTable:
    """Shows positions, references and efforts; a slider commands a reference.

    While the simulation is paused, a slider sets the joint itself. The last command is shown below.

    Attributes:
        degrees: Whether angles are shown in degrees.
    """

    def __init__(self, parameters: ParameterClient, commands: CommandClient) -> None:
        self._parameters, self._commands = parameters, commands
        self.degrees = False
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
    """Draw a mark at the lower edge of the last item, at a share of its width."""
    low, high = imgui.GetItemRectMin(), imgui.GetItemRectMax()
    x = low.x + min(1.0, max(0.0, share)) * (high.x - low.x)
    start, end = imgui.Vec2(x, high.y - style.POSITION_MARK_HEIGHT), imgui.Vec2(x, high.y)
    imgui.GetWindowDrawList().AddLine(start, end, style.packed(style.WARNING), 3.0)


def _tooltip(row: JointRow) -> str:
    limits = f"{row.low:g} to {row.high:g} {row.unit}" if row.is_limited else "no limits"
    effort = f"{row.effort:g} {row.effort_unit}" if np.isfinite(row.effort) else "unlimited effort"
    return f"{row.name}\n{limits}\n{effort if row.is_actuated else 'no actuator'}"
