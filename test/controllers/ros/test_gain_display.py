"""Parameters of gains that a controller sets."""

import time
from types import SimpleNamespace

import pytest
from contexts import make_context
from rclpy.node import Node

from mujoco_ros.controllers.ros.controller_settings import ControllerSettings
from mujoco_ros.controllers.ros.hosted_controller import GainDisplay, HostedController
from mujoco_ros.controllers.runtime.controller_set import ControllerSet
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.rclpy_ext.executor import Executor
from mujoco_ros.sim.simulation import Simulation


def test_parameters_are_updated_with_a_limited_rate():
    simulation, pauses, shown = Simulation(load_scene("quadruped")), [], []
    endpoints = SimpleNamespace(
        node=SimpleNamespace(
            executor=SimpleNamespace(create_task=lambda call, *given: call(*given))
        ),
        later=lambda _seconds, call: pauses.append(call),
    )
    display = GainDisplay(endpoints, simulation, lambda *given: shown.append(given))
    for _ in range(100):
        display.changed()
    (pause,) = pauses
    pauses.clear()
    pause()
    assert not shown, "only the physics thread reads gains"
    simulation.plant.gains.changes = 7
    simulation.drives.set_gains(simulation.drives.kp * 0.5, simulation.drives.kd)
    simulation.commands.drain()
    ((changes, present),) = shown
    (of_robot,) = present.values()
    assert changes == 7
    assert of_robot.kp == pytest.approx(simulation.drives.kp)
    display.changed()
    simulation.commands.close()
    pauses[0]()
    assert len(shown) == 1, "the simulation shuts down"


def test_gains_of_a_hosted_controller_update_the_parameters(ros_node: Node):
    simulation, shown = Simulation(load_scene("arm")), []
    values = {"rendering": "auto"}
    settings = ControllerSettings(
        name="pick_place", type="pick_place", robot="", seed=0, step_by_step=False, time_limit=2.0
    )
    soft = ["--ros-args", "-p", "pick_place:IDLE.gains:=lab"]
    context = make_context(ros_node, simulation, values, arguments=soft)
    hosted = HostedController(context, settings, ControllerSet(), lambda *it: shown.append(it))
    executor = Executor(context=ros_node.context)
    executor.add_node(hosted.node)
    try:
        hosted.host.step()
        limit = time.monotonic() + 30.0
        while not shown and time.monotonic() < limit:
            executor.spin_once(timeout_sec=0.05)
            simulation.commands.drain()
        ((_, present),) = shown
        (of_robot,) = present.values()
        assert of_robot.kp.max() == 200.0, "of the grasping lab"
    finally:
        hosted.close()
        executor.shutdown()
        hosted.node.destroy_node()


def test_the_end_of_a_wait_is_noted_when_the_controller_is_deactivated(ros_node: Node):
    simulation, controllers = Simulation(load_scene("arm")), ControllerSet()
    settings = ControllerSettings(
        name="pick_place", type="pick_place", robot="", seed=0, step_by_step=False, time_limit=2.0
    )
    context = make_context(ros_node, simulation, {"rendering": "auto"})
    hosted = HostedController(context, settings, controllers, lambda *_: None)
    try:
        hosted._wait.poll("IDLE", 0.0)
        hosted.host.deactivate()
        assert hosted.idle_steps() == 0
        assert hosted.wait(1.0) == 0.0
        assert hosted.idle_steps() > 1
    finally:
        hosted.close()
        hosted.node.destroy_node()
