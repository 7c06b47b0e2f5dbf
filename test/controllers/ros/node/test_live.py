"""A controller node behaves as a hosted controller, also when it is killed."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from controller_process import ControllerProcess
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulator_client import SimulatorClient
from simulators import SimulatorLauncher

from mujoco_ros.controllers.catalogue import load, load_table
from mujoco_ros.controllers.library.pick_place.grasping import upright
from mujoco_ros.controllers.ros.node.host_requests import PlacementClient
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.service_caller import ServiceCaller

RATE_HZ = load_table("pick_place").rate
LOCKSTEP = {"mode": "lockstep", "lockstep_sources": f"joint_commands@{RATE_HZ:g}"}
TRAJECTORIES = f"joint_trajectory_controller/joint_trajectory@{RATE_HZ:g}"
TROUBLE = {"collision", "tracking", "saturated", "slip", "ik_failed", "no_path", "missed_place"}


def hosted() -> list[tuple[float, str, str, str]]:
    """Return the transitions of a hosted `pick_place`, up to its end."""
    host = ControllerHost(Simulation(load_scene("arm")), load("pick_place"))
    made = []
    while host.supervised.state != "DONE":
        assert host.step()
    for event in host.supervised.log.since(0):
        done = event.transition
        made.append((round(event.time, 3), done.start, done.goal, done.label))
    return made


def since_the_first(made: list[tuple]) -> list[tuple]:
    """Return transitions with times since the first one, which may be a tick later."""
    return [(round(time - made[0][0], 3), *step) for time, *step in made]


def set_box_pose(remote: SimulatorClient, pose: Pose) -> None:
    """Set the pose of the box as a state of a controller node does."""
    asker, failures = ServiceCaller(remote.listener.node), []
    placement = PlacementClient(asker, "/mujoco/set_entity_state", failed=failures.append)

    def there() -> bool:
        with contextlib.suppress(LookupError):  # the simulator may not be discovered yet
            placement.set_pose("box", pose)
        asker.tick(time.monotonic())
        at = remote.call("GetEntityState", entity="box").state.pose.position
        return np.hypot(at.x - pose.position[0], at.y - pose.position[1]) < 1e-3

    assert remote.listener.spin_until(there), failures


@pytest.fixture(scope="module")
def remote(start_shared: SimulatorLauncher) -> SimulatorClient:
    """The arm, in a simulator in lockstep with a controller."""
    return SimulatorClient(
        start_shared, scene="arm", real_time_factor=0.0, cameras="true", **LOCKSTEP
    )


@pytest.fixture
def beside(remote: SimulatorClient, tmp_path) -> Iterator:
    """A function that starts a controller node."""
    started: list[ControllerProcess] = []

    def start(controller: str, **parameters) -> ControllerProcess:
        log = tmp_path / f"controller{len(started)}.log"
        started.append(ControllerProcess(log, remote.simulator, controller, **parameters))
        return started[-1]

    yield start
    for controller in started:
        controller.close()


@pytest.mark.timeout(600)
def test_pick_place_on_a_node_equals_the_hosted_one_also_when_it_is_killed(remote, beside):
    slow_plan = {"PLAN_TRANSPORT.planning_time": 5.0}
    first = beside("pick_place", scene="arm", lockstep=True, **slow_plan)
    made = first.wait_for(goal="PLAN_TRANSPORT")
    first.kill()  # while the arm is at rest
    alone = hosted()
    assert since_the_first(made) == since_the_first(alone[: len(made)])
    remote.listener.set_parameters({"mode": "realtime", "real_time_factor": 1.0})
    states = remote.listener.record(JointState, "/joint_states", reliable=True)
    assert remote.listener.spin_until(lambda: len(states) > 60)
    held = np.array([message.position for message in states.messages])
    assert np.ptp(held, axis=0).max() < 2e-3, "the robot holds its position and the object"

    remote.listener.set_parameters({"real_time_factor": 0.0, **LOCKSTEP})
    second = beside("pick_place", scene="arm", lockstep=True)
    begun, *went = [step for _, *step in second.wait_for(goal="DONE")]
    assert begun == ["IDLE", "LIFT", "holding"]
    assert went == [step for _, *step in alone[len(made) - 1 :]]
    moved = np.array([message.position[:6] for message in states.messages])
    assert np.abs(np.diff(moved, axis=0)).max() < 0.03, "no joint jumps"
    diagnostics = remote.listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert remote.listener.spin_until(
        lambda: any(
            status.name == "pick_place: controller" and status.message == "in DONE"
            for message in diagnostics.messages
            for status in message.status
        )
    )
    client = remote.listener.node.create_client(ChangeState, "/pick_place/change_state")
    assert remote.listener.spin_until(client.service_is_ready)
    wrong = ChangeState.Request(transition=Transition(label="lift"))
    assert not remote.listener.result(client.call_async(wrong)).success
    assert "'lift' is not available in DONE; available: " in second.log
    assert second.stop() == 0


@pytest.mark.timeout(600)
def test_image_detection_gains_and_trajectories_work_over_ros(remote, beside):
    assert remote.call("ResetSimulation").result.result == Result.RESULT_OK
    remote.listener.set_parameters({"lockstep_sources": TRAJECTORIES, "real_time_factor": 1.0})
    set_box_pose(remote, upright(0.37, 0.18, 0.335, 0.3))
    settings = {"IDLE.object_pose": "depth", "IDLE.gains": "lab"}
    soft = beside("pick_place", scene="arm", lockstep=True, output="trajectory_effort", **settings)
    made = soft.wait_for(goal="PLAN_TRANSPORT")
    assert TROUBLE.isdisjoint(label for *_, label in made)
    assert remote.listener.get_parameter("gains.wrist_1_joint.kp") == 100.0
    assert remote.call("ResetSimulation").result.result == Result.RESULT_OK
    soft.wait_for(goal="EXEC_APPROACH", after=len(made))
    assert remote.listener.get_parameter("gains.wrist_1_joint.kp") == 100.0, "set again"
    assert soft.stop() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="SCHED_FIFO is Linux'")
def test_the_thread_with_the_ticks_has_a_real_time_priority_if_permitted(remote, beside):
    remote.listener.set_parameters({"mode": "realtime", "real_time_factor": 1.0})
    in_real_time = beside("grasp_reflex", scene="arm")
    in_real_time.wait_for_log("all inputs received")
    policy = os.sched_getscheduler(in_real_time.process.pid) & ~os.SCHED_RESET_ON_FORK
    is_refused = "the system permits no real-time priority" in in_real_time.log
    assert policy == (os.SCHED_OTHER if is_refused else os.SCHED_FIFO)
