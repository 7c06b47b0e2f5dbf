"""A panel per robot: its joints with references, and its gains."""

from collections.abc import Callable, Iterator
from functools import partial

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CommandClient, ParameterClient
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.robots.gains_table import GainsTable
from mujoco_ros.viewer.panels.robots.joint_rows import JointRow, joint_rows
from mujoco_ros.viewer.panels.robots.joint_table import JointTable
from mujoco_ros.viewer.panels.widgets import tab, tabs, text


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
        """Yield a window per robot."""
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
                    references = self.state.references.part(columns)
                    self._joints.build(
                        robot.namespace,
                        rows,
                        self.state.data,
                        references.q,
                        paused=self.state.paused,
                    )
            with tab("Gains") as is_selected:
                if is_selected:
                    self._gains.build(robot.namespace, rows)

    def _update_rows(self) -> None:
        state = self.state
        if state.model is not self._model or state.edits != self._edits:
            self._model, self._edits = state.model, state.edits
            self._rows = [joint_rows(state.model, robot.joints) for robot in state.layout.robots]
