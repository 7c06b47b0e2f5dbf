"""A spawner's requests, and the controllers of a parameter file on a live simulator."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from command_clients import follow, point
from control_msgs.action import FollowJointTrajectory, GripperCommand, ParallelGripperCommand
from control_msgs.msg import (
    AdmittanceControllerState,
    DynamicInterfaceGroupValues,
    DynamicJointState,
    InterfaceValue,
)
from controller_manager_msgs.msg import ControllerManagerActivity
from controller_manager_msgs.srv import (
    CleanupController,
    ConfigureController,
    ListControllerTypes,
    ListHardwareComponents,
    ListHardwareInterfaces,
    LoadController,
    ReloadControllerLibraries,
    SetHardwareComponentState,
    UnloadController,
)
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import State
from manager_client import BEST_EFFORT, Client
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from sensor_msgs.msg import NavSatFix, NavSatStatus
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import DeleteEntity, ResetSimulation, SpawnEntity
from simulators import DATA, SimulatorLauncher

from mujoco_ros.bridge.ros2_control.sensor_states import geodetic
from mujoco_ros.wire.names import write_resource
from mujoco_ros.wire.qos import LATCHED

CELL = DATA / "ros2_control" / "cell.urdf"
FILE = DATA / "ros2_control" / "cell.yaml"


def _client(start: SimulatorLauncher, **parameters: Any) -> Client:
    parameters = {"scene": CELL, "controllers_file": FILE, "viewer": "none"} | parameters
    simulator = start.simulator(**parameters)
    simulator.wait_until_running()
    return Client(simulator, start.listener(simulator))


@pytest.fixture(scope="module")
def started(start_shared: SimulatorLauncher) -> Client:
    """The cell, with the controllers that the simulator starts itself."""
    return _client(start_shared)


@pytest.fixture(scope="module")
def waiting(start_shared: SimulatorLauncher, tmp_path_factory: Any) -> Client:
    """The cell, whose controllers wait for a spawner, and a folder for clients."""
    folder = tmp_path_factory.mktemp("clients")
    client = _client(start_shared, start_controllers="none", client_folders=[str(folder)])
    client.folder = folder
    return client


def test_the_controllers_of_the_file_start_in_its_order(started: Client) -> None:
    assert started.states() == {
        "joint_state_broadcaster": "active",
        "arm_controller": "active",
        "arm_positions": "inactive",
        "hand": "active",
        "former_hand": "inactive",
        "wrist_broadcaster": "active",
        "gps": "active",
        "wrong": "unconfigured",
        "lamp_controller": "active",
    }
    log = started.simulator.log
    assert log.count("does not run in the simulator") == 1
    names = "controllers 'special', 'other_special'"
    assert f"{names}: type 'acme_controllers/SpecialController' does not run" in log
    (topics,) = [line for line in log.splitlines() if "topics: " in line]
    for topic in ("/clock", "/joint_states", "/arm_controller/controller_state", "/gps/gps/fix"):
        assert topic in topics.partition("topics: ")[2].split(", ")
    missing = "command interface 'shoulder/temperature' not found; joint 'shoulder' has: effort"
    assert f"{FILE}: wrong: {missing}, position, velocity" in log
    assert "'arm_positions' cannot claim 'elbow/position', which controller 'arm_controller'" in log
    assert "controller 'arm_controller' ignores parameters: colour" in log


def test_a_goal_moves_the_joints_in_the_order_of_the_message(started: Client) -> None:
    goal = follow(point(0.4, [0.5, -0.3], [0.0, 0.0]), joints=["elbow", "shoulder"])
    answer = started.goal(FollowJointTrajectory, "arm_controller/follow_joint_trajectory", goal)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert started.position("elbow") == pytest.approx(0.5, abs=0.06)
    assert started.position("shoulder") == pytest.approx(-0.3, abs=0.06)


def test_a_partial_goal_is_rejected_unless_the_file_allows_it(started: Client) -> None:
    goal = follow(point(0.4, [0.5], [0.0]), joints=["elbow"])
    action = "arm_controller/follow_joint_trajectory"
    assert started.goal(FollowJointTrajectory, action, goal) is None
    started.simulator.wait_for_log("the trajectory lacks the joints shoulder")


def test_a_goal_for_a_joint_of_another_controller_is_rejected(started: Client) -> None:
    goal = follow(point(0.4, [0.5, 0.0, 0.0]), joints=["elbow", "shoulder", "finger"])
    action = "arm_controller/follow_joint_trajectory"
    assert started.goal(FollowJointTrajectory, action, goal) is None
    started.simulator.wait_for_log("joint 'finger' does not belong to 'arm_controller'")


def test_the_gripper_reports_its_position(started: Client) -> None:
    goal = ParallelGripperCommand.Goal()
    goal.command.position = [0.03]
    answer = started.goal(ParallelGripperCommand, "hand/gripper_cmd", goal)
    assert answer.result.reached_goal
    assert list(answer.result.state.name) == ["finger"]
    assert answer.result.state.position[0] == pytest.approx(0.03, abs=0.01)


def test_states_have_sensors_and_gpios_beside_joints(started: Client) -> None:
    states = started.listener.record(DynamicJointState, "/dynamic_joint_states")
    assert started.listener.spin_until(lambda: bool(len(states)))
    message = states.latest
    by_name = dict(zip(message.joint_names, message.interface_values, strict=True))
    assert {"shoulder", "elbow", "finger", "wrist_load", "lamp"} <= by_name.keys()
    lamp = dict(zip(by_name["lamp"].interface_names, by_name["lamp"].values, strict=True))
    assert lamp == {"brightness": 0.0, "is_broken": 1.0}


def test_a_sensor_has_the_frame_and_the_factors_of_the_file(started: Client) -> None:
    wrenches = started.listener.record(WrenchStamped, "/wrist_broadcaster/wrench")
    assert started.listener.spin_until(lambda: bool(len(wrenches)))
    message = wrenches.latest
    assert message.header.frame_id == "tip"
    tip_kg, gravity = 0.05, 9.81
    assert message.wrench.force.z == pytest.approx(-2.0 * tip_kg * gravity, rel=0.01)


def test_a_gps_receiver_is_where_the_world_says(started: Client) -> None:
    fixes = started.listener.record(NavSatFix, "/gps/gps/fix")
    assert started.listener.spin_until(lambda: bool(len(fixes)))
    fix = fixes.latest
    assert (fix.latitude, fix.longitude, fix.altitude) == (47.5, 8.5, 400.0)
    assert (fix.header.frame_id, fix.status.service) == ("pedestal", NavSatStatus.SERVICE_GPS)


@pytest.mark.parametrize(
    ("latitude", "metres_a_degree"), [(0.0, (110574, 111319)), (60.0, (111412, 55800))]
)
def test_degrees_have_the_lengths_of_the_ellipsoid(
    latitude: float, metres_a_degree: tuple[float, float]
) -> None:
    # Lengths of a degree on WGS 84 to the north and to the east, from tables.
    north, east = metres_a_degree
    find_latitude, find_longitude, find_altitude = geodetic(latitude, 10.0, 5.0)
    place = np.array([east, north, 2.0])
    assert find_latitude(place) - latitude == pytest.approx(1.0, rel=1e-5)
    assert find_longitude(place) - 10.0 == pytest.approx(1.0, rel=1e-5)
    assert find_altitude(place) == 7.0


def test_a_gpio_command_is_its_state(started: Client) -> None:
    listener = started.listener
    states = listener.record(DynamicInterfaceGroupValues, "/lamp_controller/gpio_states")
    publisher = listener.node.create_publisher(
        DynamicInterfaceGroupValues, "/lamp_controller/commands", 10
    )
    assert listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(
        DynamicInterfaceGroupValues(
            interface_groups=["lamp"],
            interface_values=[InterfaceValue(interface_names=["brightness"], values=[0.7])],
        )
    )

    def is_on() -> bool:
        return bool(len(states)) and 0.7 in states.latest.interface_values[0].values

    assert listener.spin_until(is_on)


def test_a_spawner_remaps_topics_of_a_controller(waiting: Client) -> None:
    arguments = ["-r", "~/commands:=/lights"]
    parameter = Parameter("lamp_controller.node_options_args", value=arguments)
    parameters = [parameter.to_parameter_msg()]
    waiting.call(SetParameters, "set_parameters", parameters=parameters)
    assert waiting.spawn("lamp_controller")
    assert waiting.listener.spin_until(
        lambda: "/lights" in dict(waiting.listener.node.get_topic_names_and_types())
    )
    names = dict(waiting.listener.node.get_topic_names_and_types())
    assert "/lamp_controller/commands" not in names


def test_a_spawner_takes_over_what_the_simulator_started(start: SimulatorLauncher) -> None:
    client = _client(start)
    assert client.spawn("arm_positions")
    assert client.states()["arm_controller"] == "inactive"
    assert "'arm_controller', started by the simulator, gives way" in client.simulator.log
    assert client.spawn("joint_state_broadcaster")
    assert not client.switch(["joint_state_broadcaster"]).ok  # strict now
    client.publish("arm_positions/commands", [0.4, -0.2])
    assert client.settles("elbow", 0.4)
    assert client.settles("shoulder", -0.2)


def test_spawned_controllers_are_listed_with_their_claims(waiting: Client) -> None:
    assert "arm_controller" not in waiting.states()
    assert waiting.spawn("joint_state_broadcaster")
    assert waiting.spawn("arm_controller")
    arm = waiting.controllers()["arm_controller"]
    assert (arm.state, arm.type) == (
        "active",
        "joint_trajectory_controller/JointTrajectoryController",
    )
    assert list(arm.claimed_interfaces) == ["shoulder/position", "elbow/position"]
    assert arm.update_rate == 200
    names = waiting.call(ListHardwareInterfaces, "list_hardware_interfaces").command_interfaces
    claimed = {it.name for it in names if it.is_claimed}
    assert {"shoulder/position", "elbow/position"} == claimed - {"lamp/brightness"}
    assert "lamp/brightness" in {it.name for it in names}
    (component,) = waiting.call(ListHardwareComponents, "list_hardware_components").component
    assert (component.name, component.plugin_name) == ("CellSystem", "acme_hardware/CellSystem")
    types = waiting.call(ListControllerTypes, "list_controller_types").types
    assert "joint_trajectory_controller/JointTrajectoryController" in types


def test_strict_switches_change_all_or_nothing(waiting: Client) -> None:
    waiting.spawn("arm_controller")
    waiting.call(LoadController, "load_controller", name="arm_positions")
    assert waiting.call(ConfigureController, "configure_controller", name="arm_positions").ok
    answer = waiting.switch(["arm_positions"])
    assert not answer.ok
    assert "'arm_controller' has" in answer.message
    assert waiting.switch(["arm_positions", "nothing"], ["arm_controller"]).ok is False
    assert waiting.states()["arm_controller"] == "active"
    assert waiting.switch(["arm_positions", "nothing"], ["arm_controller"], BEST_EFFORT).ok
    assert waiting.states()["arm_controller"] == "inactive"
    assert waiting.switch(["arm_controller"], ["arm_positions"]).ok


def test_an_inactive_controller_takes_no_goal(waiting: Client) -> None:
    waiting.spawn("former_hand")
    assert waiting.switch(stop=["former_hand"]).ok
    goal = GripperCommand.Goal()
    goal.command.position = 0.02
    assert waiting.goal(GripperCommand, "former_hand/gripper_cmd", goal) is None
    waiting.simulator.wait_for_log("controller 'former_hand' is not active")
    assert waiting.switch(["former_hand"]).ok
    answer = waiting.goal(GripperCommand, "former_hand/gripper_cmd", goal)
    assert answer.result.reached_goal
    assert answer.result.position == pytest.approx(0.02, abs=0.003)
    assert waiting.switch(stop=["former_hand"]).ok


def test_what_cannot_be_loaded_or_configured_fails_with_its_reason(waiting: Client) -> None:
    assert not waiting.call(LoadController, "load_controller", name="nameless").ok
    waiting.simulator.wait_for_log("controller 'nameless' has no type: set the parameter")
    assert not waiting.call(LoadController, "load_controller", name="special").ok
    assert waiting.call(LoadController, "load_controller", name="wrong").ok
    assert not waiting.call(ConfigureController, "configure_controller", name="wrong").ok
    waiting.simulator.wait_for_log("'shoulder/temperature' not found")
    assert waiting.call(UnloadController, "unload_controller", name="wrong").ok
    assert not waiting.call(UnloadController, "unload_controller", name="wrong").ok


def test_a_controller_can_be_configured_again_after_its_cleanup(waiting: Client) -> None:
    waiting.spawn("hand")
    assert not waiting.call(CleanupController, "cleanup_controller", name="hand").ok
    assert waiting.switch(stop=["hand"]).ok
    assert waiting.call(CleanupController, "cleanup_controller", name="hand").ok
    assert waiting.states()["hand"] == "unconfigured"
    assert waiting.call(ConfigureController, "configure_controller", name="hand").ok
    assert waiting.call(UnloadController, "unload_controller", name="hand").ok


def test_a_client_gives_the_type_of_a_controller(waiting: Client) -> None:
    assert waiting.folder is not None
    file = waiting.folder / "own.yaml"
    file.write_text("/**/own: {ros__parameters: {joints: [finger]}}")
    kind = "position_controllers/JointGroupPositionController"
    parameters = [
        Parameter("own.type", value=kind).to_parameter_msg(),
        Parameter("own.params_file", value=[str(file)]).to_parameter_msg(),
    ]
    answer = waiting.call(SetParameters, "set_parameters", parameters=parameters)
    assert all(result.successful for result in answer.results)
    assert waiting.call(LoadController, "load_controller", name="own").ok
    configured = waiting.call(ConfigureController, "configure_controller", name="own")
    assert configured.ok, waiting.simulator.log
    own = waiting.controllers()["own"]
    assert list(own.required_command_interfaces) == ["finger/position"]
    assert waiting.call(UnloadController, "unload_controller", name="own").ok


def test_a_client_names_files_in_its_folders_only(waiting: Client, tmp_path: Path) -> None:
    file = tmp_path / "foreign.yaml"
    file.write_text("/**/foreign: {ros__parameters: {joints: [finger]}}")
    _set(waiting, "foreign.type", "position_controllers/JointGroupPositionController")
    _set(waiting, "foreign.params_file", [str(file)])
    assert not waiting.call(LoadController, "load_controller", name="foreign").ok
    waiting.simulator.wait_for_log("the parameter 'client_folders' adds others")
    assert "foreign" not in waiting.states()


def test_activity_follows_the_states(waiting: Client) -> None:
    waiting.spawn("arm_controller")
    activity = waiting.listener.record(
        ControllerManagerActivity, "/controller_manager/activity", qos=LATCHED
    )

    def state() -> str:
        if not len(activity):
            return ""
        found = {it.name: it.state.label for it in activity.latest.controllers}
        return str(found.get("arm_controller", ""))

    assert waiting.listener.spin_until(lambda: state() == "active")
    assert waiting.switch(stop=["arm_controller"]).ok
    assert waiting.listener.spin_until(lambda: state() == "inactive")
    assert waiting.switch(["arm_controller"]).ok


def test_inactive_hardware_ends_its_controllers(start: SimulatorLauncher) -> None:
    client = _client(start)
    inactive = State(id=State.PRIMARY_STATE_INACTIVE, label="inactive")
    kind, name = SetHardwareComponentState, "set_hardware_component_state"
    assert not client.call(kind, name, name="nothing", target_state=inactive).ok
    answer = client.call(kind, name, name="CellSystem", target_state=inactive)
    assert (answer.ok, answer.state.label) == (True, "inactive")
    states = client.states()
    assert states["arm_controller"] == states["hand"] == "inactive"
    assert states["joint_state_broadcaster"] == "active"
    refused = client.switch(["arm_controller"])
    assert (refused.ok, refused.message) == (False, "the hardware is inactive")
    active = State(id=State.PRIMARY_STATE_ACTIVE, label="active")
    assert client.call(kind, name, name="CellSystem", target_state=active).ok
    assert client.switch(["arm_controller"]).ok


def test_reloading_libraries_unloads_all_controllers(start: SimulatorLauncher) -> None:
    client = _client(start)
    kind, name = ReloadControllerLibraries, "reload_controller_libraries"
    assert not client.call(kind, name, force_kill=False).ok
    assert client.call(kind, name, force_kill=True).ok
    assert client.states() == {}


def test_a_reset_ends_the_goal_and_controllers_stay_active(start: SimulatorLauncher) -> None:
    client = _client(start)
    node, action = client.listener.node, "/arm_controller/follow_joint_trajectory"
    actions = ActionClient(node, FollowJointTrajectory, action)
    assert client.listener.spin_until(actions.server_is_ready)
    goal = follow(point(30.0, [1.0, 1.0], [0.0, 0.0]), joints=["shoulder", "elbow"])
    handle = client.listener.result(actions.send_goal_async(goal))
    result = handle.get_result_async()
    client.listener.call(ResetSimulation, "reset_simulation", ResetSimulation.Request())
    answer = client.listener.result(result)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert "reset" in answer.result.error_string
    assert client.states()["arm_controller"] == "active"
    again = follow(point(0.3, [0.2, 0.2], [0.0, 0.0]), joints=["shoulder", "elbow"])
    final = client.goal(FollowJointTrajectory, action[1:], again)
    assert final.status == GoalStatus.STATUS_SUCCEEDED
    actions.destroy()


def test_a_params_file_of_the_node_has_controllers_that_wait(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene=CELL, viewer="none", params_files=(FILE,))
    simulator.wait_until_running()
    client = Client(simulator, start.listener(simulator))
    assert client.states() == {}
    assert "controller_manager waits for spawners of its controllers: joint_st" in simulator.log
    assert client.spawn("joint_state_broadcaster")


_TWO = """
robots:
  - {name: left, model: %(cell)s}
  - {name: right, model: %(cell)s, pose: {xyz: [0.0, 2.0, 0.0]}}
"""
_GENERIC = """
/**/controller_manager:
  ros__parameters:
    joint_state_broadcaster: {type: joint_state_broadcaster/JointStateBroadcaster}
    positions: {type: position_controllers/JointGroupPositionController}
/left/positions: {ros__parameters: {joints: [shoulder]}}
/right/positions: {ros__parameters: {joints: [elbow]}}
"""


def test_each_namespace_has_its_own_manager(start: SimulatorLauncher, tmp_path: Path) -> None:
    scene, file = tmp_path / "two.yaml", tmp_path / "controllers.yaml"
    scene.write_text(_TWO % {"cell": CELL})
    file.write_text(_GENERIC)
    simulator = start.simulator(scene=scene, viewer="none", controllers_file=file)
    simulator.wait_until_running()
    listener = start.listener(simulator)
    left, right = Client(simulator, listener, "left"), Client(simulator, listener, "right")
    claims = [
        list(client.controllers()["positions"].claimed_interfaces) for client in (left, right)
    ]
    assert claims == [["shoulder/position"], ["elbow/position"]]
    right.publish("positions/commands", [0.3])
    assert right.settles("elbow", 0.3)
    assert left.position("elbow") == pytest.approx(0.0, abs=0.01)
    deleted = listener.call(DeleteEntity, "delete_entity", DeleteEntity.Request(entity="left"))
    assert deleted.result.result == Result.RESULT_OK
    assert listener.spin_until(
        lambda: ("controller_manager", "/left") not in listener.node.get_node_names_and_namespaces()
    )
    right.publish("positions/commands", [-0.3])
    assert right.settles("elbow", -0.3)
    assert right.states()["positions"] == "active"
    assert not any("failed" in line for line in simulator.warnings())


def test_a_spawned_robot_gets_the_controllers_of_its_namespace(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    scene, file = tmp_path / "one.yaml", tmp_path / "controllers.yaml"
    scene.write_text(f"robots: [{{name: left, model: {CELL}, namespace: left}}]")
    file.write_text(_GENERIC)
    simulator = start.simulator(
        scene=scene, viewer="none", controllers_file=file, client_folders=[str(DATA)]
    )
    simulator.wait_until_running()
    listener = start.listener(simulator)
    left, right = Client(simulator, listener, "left"), Client(simulator, listener, "right")
    request = SpawnEntity.Request(name="right", entity_namespace="right")
    write_resource(request, "entity_resource", str(CELL))
    request.initial_pose.pose.position.y = 2.0
    spawned = listener.call(SpawnEntity, "spawn_entity", request)
    assert spawned.result.result == Result.RESULT_OK, spawned.result.error_message
    assert right.states()["positions"] == "active"
    right.publish("positions/commands", [0.3])
    assert right.settles("elbow", 0.3)
    left.publish("positions/commands", [0.2])
    assert left.settles("shoulder", 0.2)


def _set(client: Client, name: str, value: Any) -> None:
    parameters = [Parameter(name, value=value).to_parameter_msg()]
    client.call(SetParameters, "set_parameters", parameters=parameters)


@pytest.mark.parametrize("name", ["bad name!", "", "/abs", "a/b", "1st", "x" * 300])
def test_a_name_that_no_node_can_have_is_refused(waiting: Client, name: str) -> None:
    _set(waiting, f"{name}.type", "joint_state_broadcaster/JointStateBroadcaster")
    assert not waiting.call(LoadController, "load_controller", name=name).ok
    waiting.simulator.wait_for_log(f"controller '{name[:40]}")
    waiting.simulator.wait_for_log("not a name of a node")
    assert name not in waiting.states()


def test_a_controller_whose_topics_cannot_be_opened_is_unconfigured(waiting: Client) -> None:
    _set(waiting, "renamed.type", "joint_state_broadcaster/JointStateBroadcaster")
    remappings = ["-r", "joint_states:=left_open", "-r", "dynamic_joint_states:=bad name!"]
    _set(waiting, "renamed.node_options_args", remappings)
    assert waiting.call(LoadController, "load_controller", name="renamed").ok
    assert not waiting.call(ConfigureController, "configure_controller", name="renamed").ok
    waiting.simulator.wait_for_log("renamed: InvalidTopicNameException")
    assert waiting.states()["renamed"] == "unconfigured"
    node = waiting.listener.node
    assert waiting.listener.spin_until(lambda: not node.get_publishers_info_by_topic("/left_open"))
    assert waiting.call(UnloadController, "unload_controller", name="renamed").ok


_ADMITTANCE = """
controller_manager:
  ros__parameters:
    update_rate: 500
    states: {type: joint_state_broadcaster/JointStateBroadcaster}
    arm: {type: joint_trajectory_controller/JointTrajectoryController}
    admittance: {type: admittance_controller/AdmittanceController}
arm:
  ros__parameters:
    joints: [shoulder, elbow]
    command_joints: [admittance/shoulder, admittance/elbow]
    command_interfaces: [position, velocity]
    state_interfaces: [position, velocity]
admittance:
  ros__parameters:
    joints: [shoulder, elbow]
    command_interfaces: [position, velocity]
    state_interfaces: [position, velocity]
    kinematics: {plugin_name: kdl, plugin_package: kinematics_interface, base: pedestal, tip: tip}
    ft_sensor: {name: wrist_load, frame: {id: tip}, filter_coefficient: 0.1}
    control: {frame: {id: tip}}
    fixed_world_frame: {frame: {id: world}}
    gravity_compensation: {frame: {id: tip}, CoG: {pos: [0.0, 0.0, 0.0], force: 0.4903}}
    admittance:
      selected_axes: [true, true, false, false, false, false]
      mass: [3.0, 3.0, 3.0, 0.5, 0.5, 0.5]
      damping_ratio: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
      stiffness: [100.0, 100.0, 100.0, 0.0, 0.0, 0.0]
"""


def test_an_admittance_controller_is_refused_with_the_other_sign_of_wrenches(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    scene, file = tmp_path / "cell.yaml", tmp_path / "controllers.yaml"
    scene.write_text(f"robots: [{{name: cell, model: {CELL}}}]\ncontrollers_file: controllers.yaml")
    file.write_text(_ADMITTANCE)
    simulator = start.simulator(scene=scene, viewer="none", wrench_sign="parent_on_child")
    simulator.wait_for_log("controller 'admittance' needs the parameter 'wrench_sign' to be")
    client = Client(simulator, start.listener(simulator))
    assert client.states() == {
        "states": "active",
        "arm": "unconfigured",
        "admittance": "unconfigured",
    }


def test_a_tool_yields_beside_a_trajectory(start: SimulatorLauncher, tmp_path: Path) -> None:
    scene, file = tmp_path / "cell.yaml", tmp_path / "controllers.yaml"
    scene.write_text(f"robots: [{{name: cell, model: {CELL}}}]\ncontrollers_file: controllers.yaml")
    file.write_text(_ADMITTANCE)
    simulator = start.simulator(scene=scene, viewer="none")
    simulator.wait_until_running()
    client = Client(simulator, start.listener(simulator))
    assert set(client.states().values()) == {"active"}, simulator.log
    goal = follow(point(0.5, [0.4, 0.6], [0.0, 0.0]), joints=["shoulder", "elbow"])
    answer = client.goal(FollowJointTrajectory, "arm/follow_joint_trajectory", goal)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert client.settles("elbow", 0.6)
    listener = client.listener
    states = listener.record(AdmittanceControllerState, "/admittance/status")
    publisher = listener.node.create_publisher(WrenchStamped, "/admittance/wrench_reference", 10)
    assert listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    push = WrenchStamped()
    push.wrench.force.y = 5.0
    publisher.publish(push)
    assert listener.spin_until(
        lambda: bool(len(states)) and abs(states.latest.wrench_base.wrench.force.y) > 1.0
    )
    # 5 N / (100 N/m) = 5 cm to the side of the tool, which is 0.3 m from the elbow
    assert client.settles("elbow", 0.6 + 0.05 / 0.3)
    assert client.settles("shoulder", 0.4)
    state = states.latest
    assert list(state.joint_state.name) == ["shoulder", "elbow"]
    moved = state.admittance_position
    assert (moved.header.frame_id, moved.child_frame_id) == ("pedestal", "admittance_offset")
    assert moved.transform.rotation.z == pytest.approx(np.sin(0.05 / 0.3 / 2.0), abs=0.01)
    at, turn = state.ref_trans_base_ft.transform, state.rot_base_control  # by 1 rad, and yielding
    assert state.ref_trans_base_ft.child_frame_id == "tip"
    assert at.rotation.z == pytest.approx(np.sin(0.5), abs=0.01)
    assert at.translation.x > 0.3
    assert turn.z == pytest.approx(np.sin(0.5 + 0.05 / 0.3 / 2.0), abs=0.01)

    parameters = AsyncParameterClient(listener.node, "/admittance")
    assert listener.spin_until(parameters.services_are_ready)

    def set_parameter(name: str, value: list[float] | list[bool]) -> Any:
        given = Parameter(f"admittance.{name}", value=value)
        return listener.result(parameters.set_parameters([given])).results[0]

    stiffer = [200.0] * 3 + [0.0] * 3
    assert set_parameter("stiffness", stiffer).successful
    assert client.settles("elbow", 0.6 + 0.025 / 0.3)
    assert listener.spin_until(lambda: list(states.latest.stiffness.data) == stiffer)
    refused = set_parameter("mass", [0.0] * 6)
    assert not refused.successful
    assert "parameter 'admittance.mass' must have 6 values from 0.0001" in refused.reason
    assert set_parameter("selected_axes", [False] * 6).successful
    assert client.settles("elbow", 0.6)
    assert list(states.latest.mass.data) == [3.0] * 3 + [0.5] * 3
