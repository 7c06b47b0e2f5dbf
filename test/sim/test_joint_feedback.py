import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import Clamped
from mujoco_ros.control.settings import StreamSettings

LINK = "<body><joint name='%s'/><geom size='.1' pos='.2 0 0'/></body>"
BALL = "<body pos='0 0 1'><joint type='ball'/><geom size='.1'/></body>"
ROBOT = """<mujoco><option timestep="0.01"/><worldbody><body name="base">%s</body></worldbody>
<actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""


@pytest.fixture(params=["", BALL], ids=["consecutive", "apart"])
def robot(request, simulate):
    bodies = LINK % "a" + request.param + LINK % "b"
    made = simulate(ROBOT % bodies, gains={"a": (1.0, 0.1), "b": (1.0, 0.1)})
    consecutive = not request.param
    (joints,) = (it.joints for it in made.layout.robots)
    assert (np.ptp(joints.qpos) == 1) == consecutive
    return made, joints


def test_a_control_has_the_state_that_was_set(robot):
    simulation, joints = robot
    (control,) = simulation.controls
    simulation.data.qpos[joints.qpos] = 0.3, -0.2
    simulation.data.qvel[joints.dof] = 0.5, 0.7
    simulation.set_current_sample(0.0)
    assert control.q.tolist() == [0.3, -0.2]
    assert control.dq.tolist() == [0.5, 0.7]


def test_a_stream_that_has_ended_damps_about_the_state_at_the_start_of_each_step(robot):
    simulation, joints = robot
    (control,) = simulation.controls
    stream = StreamSettings(timeout=0.03, on_timeout="damp")
    control.configure(stream, control.trajectory.settings, None)
    simulation.data.qvel[joints.dof] = 0.5, 0.7
    values = np.full((3, 2), np.nan)
    values[0] = 0.0
    command = JointCommand(joints=np.arange(2), values=values, clamped=Clamped())
    control.command(CommandSource.JOINT_COMMANDS, command, 0.0)
    for _ in range(20):
        before = simulation.data.qpos[joints.qpos].copy()
        assert simulation.step()
    assert (before != 0.0).all()
    assert control.references.q.tolist() == before.tolist()
