"""The topic /diagnostics."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial

from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.diagnostic_publisher import PERIOD_S, DiagnosticPublisher, Row
from mujoco_ros.bridge.diagnostics.limits import limit_parameters
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.diagnostics.rows import ROWS, DiagnosticSnapshot, world
from mujoco_ros.control.errors import QueueFullError
from mujoco_ros.rclpy_ext.tasks import create_wall_timer, guarded, later
from mujoco_ros.sim.stepping.status import Status

_POLL_S = 0.1
_ANSWER_S = 0.5


class Diagnostics(Component):
    """Publishes /diagnostics once a second, and at once when something goes wrong or is paused.

    Engine messages are logged as they come, repeated ones at a limited rate. Runs in the executor's
    thread and never waits for the physics thread.
    """

    parameters = limit_parameters()

    def __init__(self, context: NodeContext, components: Iterable[Component]) -> None:
        """Open the topic.

        Args:
            context: The node.
            components: Those that report a row, in the executor's thread.

        Raises:
            ValueError: A row has no name, or that of another.
        """
        self._node = context.node
        self._simulation, self._status = context.simulation, context.status
        self._rejections = context.rejections.counts
        self._rows: dict[str, Row] = {"world": world(lambda: context.models.holds)}
        self._further: list[Callable[[], Mapping[str, DiagnosticReport] | None]] = []
        for component in components:
            kind = type(component)
            if kind.report is not Component.report:
                self._add_row(component)
            if kind.reports is not Component.reports:
                failed = f"{kind.__name__} failed to report"
                self._further.append(guarded(component.reports, failed))
        self._publisher = DiagnosticPublisher(context.node, limits=context.values)
        log = context.node.get_logger()
        # rclpy requires one call site for each severity.
        self._warnings = RejectionLog(lambda text: log.warning(text))
        self._errors = RejectionLog(lambda text: log.error(text))
        self._reported = self._state()
        self._polls = 0
        self._request: Future[Status] | None = None

    def start(self) -> None:
        """Start the timer."""
        self._before = self._snapshot(self._status())
        self._timer = create_wall_timer(self._node, _POLL_S, self._poll)

    def close(self) -> None:
        """Publish the last changes, after the physics thread has ended."""
        self._log_engine_messages()
        if self._state() != self._reported:
            self._publish(self._status())

    def _add_row(self, component: Component) -> None:
        name = component.name
        if not name:
            raise ValueError(f"{type(component).__name__} has a report, and needs a name")
        if name in self._rows or name in ROWS:
            raise ValueError(f"/diagnostics has a row '{name}' already")
        self._rows[name] = component.report

    def _further_rows(self) -> dict[str, Row]:
        """Return the rows that may change while the node runs."""
        return {
            name: partial(_same, report)
            for reports in self._further
            for name, report in (reports() or {}).items()
        }

    def _state(self) -> tuple[int, bool]:
        return self._simulation.divergences, self._simulation.paused

    def _poll(self) -> None:
        self._log_engine_messages()
        self._polls += 1
        if self._request is not None:
            self._receive()
        elif self._state() != self._reported or self._polls >= PERIOD_S / _POLL_S:
            self._polls = 0
            with contextlib.suppress(QueueFullError):  # it has ended, and the node will
                self._request = self._simulation.commands.submit(self._status, urgent=True)
                self._request.add_done_callback(lambda _request: later(self._node, self._receive))

    def _receive(self) -> None:
        """Publish the status from the physics thread, if it has answered."""
        request = self._request
        if request is None:
            return
        if request.done():
            self._request = None
            if not request.cancelled():
                self._publish(request.result())
            return
        overdue = self._polls - round(_ANSWER_S / _POLL_S)
        if overdue == 0:
            self._errors.report("physics thread", "timeouts", f"no answer for {_ANSWER_S:g} s")
        if overdue > 0 and overdue % round(PERIOD_S / _POLL_S) == 0:
            # The rows of the components may name what the physics thread waits for.
            self._publisher.publish(self._before.status.sim_time, self._rows)

    def _log_engine_messages(self) -> None:
        messages = self._simulation.engine_messages
        while messages:
            text, when, time = messages.popleft().partition(" Time = ")
            self._warnings.report("MuJoCo", "warnings", text, detail=f"{when}{time}")

    def _snapshot(self, status: Status) -> DiagnosticSnapshot:
        return DiagnosticSnapshot(status, dict(self._rejections))

    def _publish(self, status: Status) -> None:
        before, now = self._before, self._snapshot(status)
        self._before, self._reported = now, (status.engine.divergences, status.paused)
        if status.engine.divergences != before.status.engine.divergences:
            self._errors.report(
                "engine",
                "divergences",
                f"the simulation diverged; on_divergence: {self._simulation.on_divergence}",
                detail=f" (before {status.sim_time:.3f} s)",
            )
        own: dict[str, Row] = {name: partial(row, now, before) for name, row in ROWS.items()}
        self._publisher.publish(status.sim_time, own | self._rows | self._further_rows())


def _same(report: DiagnosticReport) -> DiagnosticReport:
    return report
