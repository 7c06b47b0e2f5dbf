"""The table of a robot's gains, which are parameters of the simulator."""

from collections.abc import Sequence

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.clients import ParameterClient, ParameterInfo, Request, is_replay
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.robots.joint_rows import JointRow
from mujoco_ros.viewer.style import FILL

_COLUMNS = (("Joint", 0.0), ("kp [Nm/rad | N/m]", 1.0), ("kd [Nms/rad | Ns/m]", 1.0))
_GAINS = ("kp", "kd")


class GainsTable:
    """Shows gains and sets edited ones; the result is shown above the table."""

    def __init__(self, parameters: ParameterClient) -> None:
        self._parameters = parameters
        self._edited: dict[str, float] = {}
        self._request: Request | None = None

    def build(self, namespace: str, rows: Sequence[JointRow]) -> None:
        """Build the table of the robot with that namespace."""
        prefix = namespace.replace("/", ".") + "." if namespace else ""
        known = self._parameters.known
        names = {row.name: [f"{prefix}gains.{row.name}.{gain}" for gain in _GAINS] for row in rows}
        declared = {joint: gains for joint, gains in names.items() if gains[0] in known}
        if not declared:
            widgets.text(self._reason())
            return
        if self._request is not None:
            widgets.request_result(self._request)
        with widgets.table("gains", _COLUMNS, height=FILL) as is_open:
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
