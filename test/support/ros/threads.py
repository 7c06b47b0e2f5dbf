"""Both threads of a simulator, played by a test."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from mujoco_ros.sim.command_queue import CommandQueue


class Threads:
    """The executor's thread and the physics thread, each of which does something when told to.

    Attributes:
        commands: The way into the physics thread.
        node: A node whose executor takes tasks, and no more.
    """

    def __init__(self, commands: CommandQueue) -> None:
        self.commands = commands
        self.node: Any = SimpleNamespace(executor=SimpleNamespace(create_task=self._later))
        self._tasks: list[Callable[[], object]] = []

    def _later(self, call: Callable[..., object], *args: Any) -> None:
        self._tasks.append(lambda: call(*args))

    def physics(self) -> None:
        """Run the commands that wait."""
        self.commands.drain()

    def executor(self) -> None:
        """Run the tasks that wait."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task()


class Given:
    """An answer that is noted, and sent to nobody.

    Attributes:
        response: What is filled in.
        given: Whether it was answered.
    """

    def __init__(self, response: Any) -> None:
        self.response = response
        self.given = False

    def __call__(self) -> None:
        self.given = True

    def fail(self, message: str) -> None:
        self.response.result.error_message = message
        self()
