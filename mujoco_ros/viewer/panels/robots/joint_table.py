"""The table of a robot's joints: where they are, where they should be, and what they give."""

from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.link import SimulatorLink, is_replay
from mujoco_ros.viewer.panels.robots.joint_rows import JointRow
from mujoco_ros.viewer.panels.widgets import (
    FILL,
    WARNING,
    Column,
    bar,
    button,
    cell,
    disabled,
    number,
    table,
    text,
)

_DEGREES = 180.0 / np.pi
_TICK = 6.0


class JointTable:
    """Shows positions, references and efforts; a slider sends a reference.

    Attributes:
        degrees: Whether angles are shown in degrees.
    """

    def __init__(self, link: SimulatorLink) -> None:
        """Send references through `link`."""
        self._link = link
        self.degrees = False

    def build(
        self,
        namespace: str,
        rows: Sequence[JointRow],
        data: mujoco.MjData,
        references: np.ndarray,
    ) -> None:
        """Build the table of one robot.

        Args:
            namespace: That of its topics.
            rows: Its joints.
            data: The present state.
            references: Where its joints should be [rad or m].  # (n,)
        """
        replayed = is_replay(self._link)
        tip = "Let the present positions\nbe the references"
        if button("Hold here", enabled=not replayed, tip=tip):
            self._link.command_joints(
                namespace, {row.name: float(data.qpos[row.qpos]) for row in rows if row.is_driven}
            )
        imgui.SameLine()
        _, self.degrees = imgui.Checkbox("degrees", self.degrees)
        if replayed:
            text("A replay takes no references.")
        unit = "deg" if self.degrees else "rad"
        columns = (
            Column("Joint"),
            Column(f"q [{unit}]"),
            Column(f"Reference [{unit}]", 1.2),
            Column("Torque [Nm]", 1.0),
        )
        with table("joints", columns, height=FILL) as is_open:
            for row, reference in zip(rows, references, strict=True) if is_open else ():
                imgui.TableNextRow()
                self._build_row(namespace, row, data, float(reference))

    def _build_row(
        self, namespace: str, row: JointRow, data: mujoco.MjData, reference: float
    ) -> None:
        position, effort = float(data.qpos[row.qpos]), float(data.qfrc_actuator[row.dof])
        scale = _DEGREES if self.degrees and not row.slides else 1.0
        unit = " m" if row.slides else ""
        digits = 1 if scale != 1.0 else 3
        cell(row.name)
        imgui.SetItemTooltip(_about(row))
        number(f"{_decimals(position * scale, digits)}{unit}")
        cell()
        with disabled(not row.is_driven or is_replay(self._link)):
            imgui.SetNextItemWidth(FILL)
            changed, value = imgui.SliderFloat(
                f"##{row.name} reference",
                reference * scale,
                row.low * scale,
                row.high * scale,
                f"%.{digits}f{unit}",
                int(imgui.SliderFlags.AlwaysClamp),
            )
        _mark((position - row.low) / (row.high - row.low))
        if changed:
            self._link.command_joints(namespace, {row.name: value / scale})
        cell()
        bar(effort, row.effort, f"{_decimals(effort, 2)}{' N' if row.slides else ''}")


def _mark(share: float) -> None:
    """Draw a tick at the lower rim of the item before, at a share of its width."""
    low, high = imgui.GetItemRectMin(), imgui.GetItemRectMax()
    x = low.x + min(1.0, max(0.0, share)) * (high.x - low.x)
    colour = imgui.GetColorU32(imgui.Vec4(*WARNING))
    draw = imgui.GetWindowDrawList()
    draw.AddLine(imgui.Vec2(x, high.y - _TICK), imgui.Vec2(x, high.y), colour, 3.0)


def _about(row: JointRow) -> str:
    """Return a joint's limits in words."""
    limits = f"{row.low:g} to {row.high:g} {row.unit}" if row.is_limited else "no limits"
    most = f"{row.effort:g} {row.effort_unit}" if np.isfinite(row.effort) else "any effort"
    return f"{row.name}\n{limits}\n{most if row.is_driven else 'no actuator'}"


def _decimals(value: float, digits: int) -> str:
    """Return a number with so many digits behind the point, and no sign if they are all zeros."""
    return f"{round(value, digits) + 0.0:.{digits}f}"
