"""Replacements of the executor's thread and the physics thread, run by the test."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from mujoco_ros.rclpy_ext.service import Responder
from mujoco_ros.sim.command_queue import CommandQueue


class TaskExecutor:
    """An executor that runs its tasks on request."""

    def __init__(self) -> None:
        self._tasks: list[Callable[[], object]] = []

    def create_task(self, call: Callable[..., object], *args: Any) -> None:
        self._tasks.append(lambda: call(*args))

    def run(self) -> bool:
        """Run the pending tasks; return whether there were any."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task()
        return bool(tasks)

    def add_node(self, _node: object) -> bool:
        return True

    def remove_node(self, _node: object) -> None:
        pass

    def wake(self) -> None:
        pass


class Threads:
    """Both threads; each runs its pending work on request.

    Attributes:
        commands: Queue of the physics thread.
        node: A node whose executor takes tasks.
    """

    def __init__(self, commands: CommandQueue) -> None:
        self.commands = commands
        self._executor = TaskExecutor()
        self.node: Any = SimpleNamespace(executor=self._executor)

    def physics(self) -> None:
        """Run the pending commands."""
        self.commands.drain()

    def executor(self) -> None:
        """Run the pending tasks."""
        self._executor.run()


class RecordingResponder(Responder):
    """A responder that keeps its response.

    Attributes:
        sent: The response, once it was sent.
    """

    def __init__(self, response: Any) -> None:
        self.sent: Any = None
        service: Any = SimpleNamespace(name="service", send=self._keep)
        super().__init__(service, response)
        self.address("client")

    @property
    def result(self) -> tuple[int, str]:
        """The result code and the error message that were sent."""
        assert self.sent is not None, "no response yet"
        return self.sent.result.result, self.sent.result.error_message

    def _keep(self, response: Any, _header: object) -> None:
        self.sent = response
