import numpy as np

from benchmark.processes.probe import HELD, IDLE, STREAM, TRAJECTORY, activity
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.trajectory.trajectory import PointArrays, trajectory
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def test_the_activity_is_the_source_of_the_references():
    simulation = Simulation(load_scene("arm"))
    (control,) = simulation.controls
    joints, timestep = control.joints, simulation.model.opt.timestep

    def command() -> int:
        message = joint_command(joints, "clamp", ["elbow_joint"], [[1.3], [], []])
        control.command(CommandSource.JOINT_COMMANDS, message, simulation.data.time)
        return activity(control)

    assert activity(control) == IDLE
    one = np.array([True])
    path = trajectory(
        joints,
        control.trajectory.settings,
        "clamp",
        ["elbow_joint"],
        None,
        PointArrays(
            times=np.array([5.5 * timestep]),
            values=np.array([1.3, 0, 0, 0]).reshape(4, 1, 1),
            given=np.array([one, ~one, ~one, ~one]),
        ),
    )
    control.follow(path, simulation.data.time)
    found = []
    for _ in range(8):
        found.append(activity(control))
        simulation.step()
    assert found == [TRAJECTORY] * 7 + [IDLE]
    assert command() == STREAM
    for _ in range(3):
        simulation.step()
    assert activity(control) == HELD
