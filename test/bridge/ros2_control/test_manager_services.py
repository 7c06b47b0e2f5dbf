"""Requests to a controller_manager whose controllers change before they are answered."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from controller_manager_msgs.srv import ReloadControllerLibraries
from managed_robot import Managed
from rclpy.node import Node

from mujoco_ros.bridge.ros2_control.manager_services import ManagerServices
from mujoco_ros.ros2_control.loaded_controller import Lifecycle
from mujoco_ros.sim.command_queue import CommandQueue


class Reloading:
    """A manager of two controllers, one of them active, and a request to reload libraries."""

    def __init__(self, node: Node, spin_until: Callable[..., bool], *, force: bool) -> None:
        self.managed, self._spin_until = Managed(), spin_until
        self.manager, self.commands = self.managed.manager, CommandQueue()
        for name, joint in (("one", "a"), ("two", "b")):
            self.managed.forward(name, [joint])
        self.managed.start("one")
        change = SimpleNamespace(
            load=None, configure=None, cleanup=None, unload=self.manager.unload
        )
        robot: Any = SimpleNamespace(
            manager=self.manager, node=node, blocks=(), now=float, **vars(change)
        )
        self.services = ManagerServices(robot, self.commands)
        kind, name = ReloadControllerLibraries, "~/reload_controller_libraries"
        self._client = node.create_client(kind, name)
        assert spin_until(self._client.service_is_ready)
        self.future = self._client.call_async(kind.Request(force_kill=force))
        assert spin_until(lambda: bool(self.commands._waiting))

    def answer(self) -> bool:
        """Run the commands in place of the physics thread; return whether it was successful."""
        self.commands.drain()
        assert self._spin_until(self.future.done)
        return bool(self.future.result().ok)


@pytest.fixture
def reload(
    ros_node: Node, spin_until: Callable[..., bool]
) -> Iterator[Callable[[bool], Reloading]]:
    opened: list[Reloading] = []

    def request(force: bool) -> Reloading:
        opened.append(Reloading(ros_node, spin_until, force=force))
        return opened[-1]

    yield request
    for each in opened:
        each.services.close()


def test_a_controller_that_stops_before_the_libraries_are_reloaded_does_not_matter(
    reload: Callable[[bool], Reloading],
) -> None:
    request = reload(True)
    request.manager.switch((), ("one",))
    assert request.answer()
    assert not request.manager.loaded


def test_a_controller_that_starts_before_the_libraries_are_reloaded_is_stopped_too(
    reload: Callable[[bool], Reloading],
) -> None:
    request = reload(True)
    request.manager.switch(("two",), ())
    assert request.answer()
    assert not request.manager.loaded


def test_without_force_nothing_is_unloaded_while_a_controller_is_active(
    reload: Callable[[bool], Reloading],
) -> None:
    request = reload(False)
    assert not request.answer()
    states = {name: entry.state for name, entry in request.manager.loaded.items()}
    assert states == {"one": Lifecycle.ACTIVE, "two": Lifecycle.INACTIVE}


def test_nothing_is_activated_between_the_stop_and_the_unloading(
    reload: Callable[[bool], Reloading],
) -> None:
    request = reload(True)
    request.commands.submit(lambda: request.manager.switch(("two",), (), strict=False))
    assert request.answer()
    assert not request.manager.loaded
