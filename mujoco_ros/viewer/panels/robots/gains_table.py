"""The table of a robot's gains, which are parameters of the simulator."""

from collections.abc import Sequence

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.link import ParameterInfo, Request, SimulatorLink, is_replay
from mujoco_ros.viewer.panels.robots.joint_rows import JointRow
from mujoco_ros.viewer.panels.widgets import FILL, Column, answer, cell, table, text

_COLUMNS = (
    Column("Joint"),
    Column("kp [Nm/rad | N/m]", 1.0),
    Column("kd [Nms/rad | Ns/m]", 1.0),
)
_GAINS = ("kp", "kd")


class GainsTable:
    """Shows gains; one that is typed in is set, and the answer is shown above."""

    def __init__(self, link: SimulatorLink) -> None:
        """Set gains through `link`."""
        self._link = link
        self._drafts: dict[str, float] = {}
        self._request: Request | None = None

    def build(self, namespace: str, rows: Sequence[JointRow]) -> None:
        """Build the table of the robot with that namespace."""
        prefix = namespace.replace("/", ".") + "." if namespace else ""
        known = self._link.parameters
        names = {row.name: [f"{prefix}gains.{row.name}.{gain}" for gain in _GAINS] for row in rows}
        served = {joint: gains for joint, gains in names.items() if gains[0] in known}
        if not served:
            text(_why_none(self._link))
            return
        if self._request is not None:
            answer(self._request)
        with table("gains", _COLUMNS, height=FILL) as is_open:
            for joint, gains in served.items() if is_open else ():
                imgui.TableNextRow()
                cell(joint)
                for gain in gains:
                    cell()
                    self._build_gain(gain, known[gain])

    def _build_gain(self, name: str, info: ParameterInfo) -> None:
        imgui.SetNextItemWidth(FILL)
        shown = self._drafts.get(name, float(info.value))
        changed, value = imgui.InputDouble(f"##{name}", shown, 0.0, 0.0, "%.6g")
        imgui.SetItemTooltip(f"{info.description}\n{info.low:g} to {info.high:g}")
        if changed:
            self._drafts[name] = value
        if imgui.IsItemDeactivatedAfterEdit():
            wanted = self._drafts.pop(name, value)
            self._request = self._link.set_parameters({name: wanted})
        elif not imgui.IsItemActive():
            self._drafts.pop(name, None)


def _why_none(link: SimulatorLink) -> str:
    if not link.parameters:
        return f"{link.simulator} does not answer"
    return "A replay has no gains." if is_replay(link) else "no joint has gains"
