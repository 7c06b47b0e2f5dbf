"""Broadcasters, GPIOs and PID controllers: interfaces, numbers and chains."""

import numpy as np
import pytest
from commanded_robot import CommandedRobot, some_joints
from managed_robot import FORWARD, Managed

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.broadcasters import (
    ForceTorqueSensorBroadcaster,
    GpsSensorBroadcaster,
    ImuSensorBroadcaster,
    JointStateBroadcaster,
)
from mujoco_ros.ros2_control.gpio import GpioCommandController, interface_values
from mujoco_ros.ros2_control.gripper import EffortGripperController
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces, StateInterfaces
from mujoco_ros.ros2_control.hardware_blocks import read_blocks
from mujoco_ros.ros2_control.parameters import ControllerParameters

PID = "pid_controller/PidController"
URDF = """
<robot name="r">
  <ros2_control name="Cell" type="actuator">
    <hardware><plugin>acme/Cell</plugin></hardware>
    <joint name="a">
      <command_interface name="position"/>
      <command_interface name="stiffness"/>
      <state_interface name="position"/>
    </joint>
    <gpio name="lamp">
      <command_interface name="on"/>
      <state_interface name="on"/>
      <state_interface name="broken"><param name="initial_value">1</param></state_interface>
    </gpio>
    <gpio name="valve"><command_interface name="open"/></gpio>
  </ros2_control>
</robot>
"""
LOAD = {
    f"load/{kind}.{axis}": index
    for index, (kind, axis) in enumerate(
        (kind, axis) for kind in ("force", "torque") for axis in "xyz"
    )
}


def hardware(sensors=None, urdf=URDF):
    control = CommandedRobot(some_joints(("a", "b")), q=(0.1, 0.2)).control
    return HardwareInterfaces(control, sensors or {}, read_blocks(urdf))


def made(kind, of, **parameters):
    controller = kind("c", ControllerParameters(parameters, "c"), of)
    controller.activate()
    return controller


def test_declared_hardware_has_its_components_and_interfaces():
    of = hardware()
    (block,) = of.blocks
    assert (block.name, block.type, block.plugin) == ("Cell", "actuator", "acme/Cell")
    assert block.commands == ("a/position", "a/stiffness", "lamp/on", "valve/open")
    assert set(of.memory) == {"a/stiffness", "lamp/on", "lamp/broken", "valve/open"}
    assert "valve/open" in of.command_interfaces
    assert "valve/open" not in of.state_interfaces
    assert "lamp/broken" not in of.command_interfaces
    assert "lamp/broken" in of.state_interfaces


def test_a_gpio_reports_what_was_commanded():
    of = hardware()
    parameters = {"gpios": ["lamp", "valve"], "command_interfaces.lamp.interfaces": ["on"]}
    gpio = made(GpioCommandController, of, **parameters)
    assert gpio.state_interfaces == ("lamp/on", "lamp/broken")
    gpio.update(0.0, 0.1)
    np.testing.assert_array_equal(gpio.states.values, [0.0, 1.0])
    gpio.command(gpio.check({"lamp/on": 1.0}))
    gpio.update(0.1, 0.1)
    np.testing.assert_array_equal(gpio.states.values, [1.0, 1.0])
    with pytest.raises(CommandError, match="'valve/open' not found"):
        gpio.check({"valve/open": 1.0})


def test_the_parts_of_a_gpio_message_must_fit():
    assert interface_values(["g"], [["x", "y"]], [[1.0, 2.0]]) == {"g/x": 1.0, "g/y": 2.0}
    with pytest.raises(CommandError, match="1 interface_values for 2 interface_groups"):
        interface_values(["g", "h"], [["x"]], [[1.0]])
    with pytest.raises(CommandError, match="'g' has 1 value for 2 interfaces"):
        interface_values(["g"], [["x", "y"]], [[1.0]])


def test_messages_of_gpios_and_pid_controllers_have_finite_numbers():
    lamp = made(
        GpioCommandController,
        hardware(),
        gpios=["a"],
        **{"command_interfaces.a.interfaces": ["effort"]},
    )
    with pytest.raises(CommandError, match="'a/effort' is inf"):
        lamp.check({"a/effort": np.inf})
    law = pid(Managed())
    with pytest.raises(CommandError, match="'a/position' is -inf"):
        law.check([], [-np.inf], [])
    assert np.isnan(law.check([], [np.nan], [])).all()


def test_states_of_chosen_joints_and_interfaces():
    of = hardware()
    chosen = made(JointStateBroadcaster, of, joints=["b", "a"], interfaces=["position"])
    assert chosen.state_interfaces == ("b/position", "a/position")
    every = made(JointStateBroadcaster, of)
    assert list(every.joints) == ["a", "b"]
    assert list(every.groups) == ["a", "b", "lamp"]
    assert every.joints["a"] == {"position": 0, "velocity": 1, "effort": 2}


def test_a_force_torque_sensor_has_offsets_and_factors():
    of = hardware({name: (lambda value=value: float(value)) for name, value in LOAD.items()})
    parameters = {"sensor_name": "load", "frame_id": "tip", "offset.force.y": 2.0}
    load = made(ForceTorqueSensorBroadcaster, of, **parameters, **{"multiplier.torque.z": -1.0})
    load.update(0.0, 0.1)
    np.testing.assert_array_equal(load.values, [0.0, 3.0, 2.0, 3.0, 4.0, -5.0])


def test_single_axes_of_a_force_torque_sensor():
    of = hardware({name: (lambda value=value: float(value)) for name, value in LOAD.items()})
    names = {"interface_names.torque.z": "load/torque.z", "frame_id": "tip"}
    load = made(ForceTorqueSensorBroadcaster, of, **names)
    assert load.paths == ("wrench.torque.z",)
    with pytest.raises(UserInputError, match="'sensor_name' is empty"):
        made(ForceTorqueSensorBroadcaster, of, frame_id="tip")


def test_an_imu_may_lack_the_orientation():
    names = [
        f"imu/{kind}.{axis}"
        for kind in ("angular_velocity", "linear_acceleration")
        for axis in "xyz"
    ]
    of = hardware({name: (lambda: 1.0) for name in names})
    imu = made(ImuSensorBroadcaster, of, sensor_name="imu", frame_id="base")
    assert not imu.has_orientation
    short = {"static_covariance_angular_velocity": [1.0, 2.0]}
    with pytest.raises(UserInputError, match="'static_covariance_angular_velocity' must have 9"):
        made(ImuSensorBroadcaster, of, sensor_name="imu", frame_id="base", **short)
    assert len(imu.paths) == 6
    with pytest.raises(
        UserInputError, match=r"state interface 'other/angular_velocity\.x' not found"
    ):
        made(ImuSensorBroadcaster, of, sensor_name="other", frame_id="base")


def pid(managed, *, interfaces=("position",), **parameters):
    given = {
        "dof_names": ["a"],
        "command_interface": "velocity",
        "reference_and_state_interfaces": list(interfaces),
        **{f"gains.a.{name}": value for name, value in parameters.items()},
    }
    return managed.add("pid", PID, **given)


def test_a_pid_controller_leads_to_the_reference_of_a_message():
    managed = Managed(update_rate=1000.0)
    managed.robot.measure = lambda _time: np.array([[0.5, 0, 0], [0.0, 0, 0]])
    managed.robot.step()
    controller = pid(managed, p=4.0, feedforward_gain=0.1)
    managed.start("pid")
    managed.robot.step()
    assert managed.references.dq[0] == pytest.approx(0.05)  # it begins at the state
    controller.command(controller.check(["a"], [1.0], []))
    managed.robot.step()
    assert managed.references.dq[0] == pytest.approx(4.0 * 0.5 + 0.1)
    with pytest.raises(CommandError, match="dof 'b' not found"):
        controller.check(["b"], [1.0], [])
    with pytest.raises(CommandError, match="2 values for 1 dof_names"):
        controller.check(["a"], [1.0, 2.0], [])


def test_a_second_interface_is_the_derivative():
    managed = Managed(update_rate=1000.0)
    managed.robot.measure = lambda _time: np.array([[0.5, 0, 0], [0.2, 0, 0]])
    managed.robot.step()
    controller = pid(managed, interfaces=("position", "velocity"), d=2.0, feedforward_gain=0.5)
    managed.start("pid")
    controller.command(controller.check([], [0.5], [1.0]))
    managed.robot.step()
    assert managed.references.dq[0] == pytest.approx(2.0 * 0.8 + 0.5 * 1.0)


def test_a_chained_pid_controller_takes_no_messages_and_exports_its_states():
    managed = Managed(update_rate=1000.0)
    managed.robot.measure = lambda _time: np.array([[0.5, 0, 0], [0.0, 0, 0]])
    managed.robot.step()
    controller = pid(managed, p=1.0)
    forward = managed.add("f", FORWARD, joints=["pid/a"], interface_name="position")
    states = StateInterfaces(managed.manager.hardware, ["pid/a/position"])
    managed.start("f", "pid")
    controller.command(controller.check([], [3.0], []))
    forward.command(forward.check([1.0]))
    managed.robot.step()
    assert managed.references.dq[0] == pytest.approx(0.5)
    assert states.read()[0] == 0.5


def test_an_update_follows_after_the_clock_was_set_back():
    managed = Managed(update_rate=10.0)
    doubling = managed.add("d", "test/Doubling")
    managed.start("d")
    managed.robot.index = 100_000
    managed.robot.step()
    managed.robot.index = 0
    managed.robot.step()
    assert [time for time, _ in doubling.updates] == [100.0, 0.0]
    assert doubling.updates[1][1] == pytest.approx(0.1)


GPS = """<robot name='r'><ros2_control name='g' type='sensor'><sensor name='gps'>
  <state_interface name='latitude'><param name='initial_value'>47.5</param></state_interface>
  <state_interface name='longitude'/><state_interface name='altitude'/>
  <state_interface name='latitude_covariance'>
    <param name='initial_value'>2.5</param></state_interface>
  <state_interface name='longitude_covariance'/><state_interface name='altitude_covariance'/>
</sensor></ros2_control></robot>"""


def test_a_gps_receiver_has_its_position_and_perhaps_its_covariance():
    of = hardware({"gps/latitude": lambda: 47.6, "gps/longitude": lambda: 8.5}, urdf=GPS)
    names = {"sensor_name": "gps", "frame_id": "antenna"}
    fix = made(GpsSensorBroadcaster, of, **names, read_covariance_from_interface=True)
    fix.update(0.0, 0.1)
    assert dict(zip(fix.paths, fix.states.values, strict=True)) == {
        "latitude": 47.6,
        "longitude": 8.5,
        "altitude": 0.0,
        "position_covariance.0": 2.5,
        "position_covariance.4": 0.0,
        "position_covariance.8": 0.0,
    }
    assert len(made(GpsSensorBroadcaster, of, **names).paths) == 3
    with pytest.raises(UserInputError, match="must have 9 numbers"):
        made(GpsSensorBroadcaster, of, **names, static_position_covariance=[1.0])


def test_a_joint_without_an_actuator_says_that_it_has_no_command_interfaces() -> None:
    joints = some_joints(("a", "passive"), interfaces={"passive": ()})
    found = HardwareInterfaces(CommandedRobot(joints).control)
    with pytest.raises(UserInputError, match="joint 'passive' has none, as no actuator moves it"):
        CommandInterfaces(found, ["passive/position"])


@pytest.mark.parametrize("given", ["47.5 N", ""])
def test_an_initial_value_that_is_no_number_is_refused(given: str) -> None:
    with pytest.raises(UserInputError, match=f"initial_value of 'gps/latitude' is '{given}'"):
        read_blocks(GPS.replace("47.5", given))
    assert read_blocks(GPS.replace("47.5", " True ")).initial["gps/latitude"] == 1.0
    of_joint = GPS.replace("47.5", given).replace("sensor", "joint")
    assert "gps/latitude" not in read_blocks(of_joint).initial


CHAIN = {"sensor_name": "load", "frame_id": "tip"}
LOW_PASS = {"sampling_frequency": 200.0, "damping_frequency": 10.0, "damping_intensity": 3.0}


def filter_chain(*filters):
    found = dict(CHAIN)
    for number, (kind, parameters) in enumerate(filters, 1):
        prefix = f"sensor_filter_chain.filter{number}"
        found |= {f"{prefix}.name": "f", f"{prefix}.type": f"control_filters/{kind}"}
        found |= {f"{prefix}.params.{name}": value for name, value in parameters.items()}
    return found


def test_unknown_filters_of_a_force_torque_sensor_are_named():
    of = hardware(dict.fromkeys(LOAD, float))
    load = made(ForceTorqueSensorBroadcaster, of, **filter_chain(("Mine", {})))
    (warning,) = load.warnings
    assert warning.endswith("control_filters/Mine")
    assert not load.filters


def test_a_low_pass_filter_of_a_wrench_has_the_recurrence_of_control_toolbox():
    force = [4.0]
    of = hardware({"load/force.z": lambda: force[0]})
    chain = filter_chain(("LowPassFilterWrench", LOW_PASS)) | {
        "sensor_name": "",
        "interface_names.force.z": "load/force.z",
    }
    load = made(ForceTorqueSensorBroadcaster, of, **chain)
    load.update(0.0, 0.005)
    assert load.filtered[2] == pytest.approx(4.0)  # it begins without a step
    assert np.isnan(load.filtered[[0, 1, 3, 4, 5]]).all()
    force[0] = 6.0
    kept = np.exp(-2.0 * np.pi * 10.0 / 200.0 / 10.0 ** (3.0 / -10.0))
    expected = [4.0, 4.0 + 2.0 * (1.0 - kept), 4.0 + 2.0 * (1.0 - kept**2)]
    for value in expected:
        load.update(0.0, 0.005)
        assert load.filtered[2] == pytest.approx(value)
    assert load.values[0] == 6.0  # the wrench itself is not filtered
    state = load.save_state()
    load.update(0.0, 0.005)
    after = load.filtered[2]
    load.reset("reset")
    load.update(0.0, 0.005)
    assert load.filtered[2] == pytest.approx(6.0)
    load.restore_state(state)
    load.update(0.0, 0.005)
    assert load.filtered[2] == after


def test_a_gravity_compensation_filter_subtracts_the_weight_at_its_centre():
    class Turned:
        """A sensor whose x axis points upwards, and a frame of messages turned against it."""

        in_sensor = {  # noqa: RUF012 - of a test
            "world": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
            "tip": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        }

        def locate(self, q):
            np.testing.assert_array_equal(q, (0.1, 0.2))

        def pose(self, frame):
            return np.zeros(3), self.in_sensor[frame]

    control = CommandedRobot(some_joints(("a", "b")), q=(0.1, 0.2)).control
    # At rest, the wrench is the weight of 5 N along -x of the sensor, which is +y of the tip.
    weight_of_tip = [0.0, 5.0, 0.0]
    # In the sensor: (0.1, 0.2, 0.3) x (-5, 0, 0) = (0, -1.5, 1.0); in the tip (-1.5, 0, 1.0)
    wrench = dict(zip(LOAD, [*weight_of_tip, -1.5, 0.0, 1.0], strict=True))
    sensors = {name: lambda value=value: value for name, value in wrench.items()}
    measured = [np.array([0.1, 0.2])] * 3
    of = HardwareInterfaces(
        control, sensors, measure=lambda: measured, kinematics=lambda *_: Turned()
    )
    gravity = {"world_frame": "world", "sensor_frame": "sensor"}
    gravity |= {"CoG.pos": [0.1, 0.2, 0.3], "CoG.force": [0.0, 0.0, -5.0]}
    chain = filter_chain(("GravityCompensationWrench", gravity), ("LowPassFilterWrench", LOW_PASS))
    load = made(ForceTorqueSensorBroadcaster, of, **chain)
    load.update(0.0, 0.005)
    np.testing.assert_allclose(load.filtered, 0.0, atol=1e-12)
    chain["sensor_filter_chain.filter1.params.CoG.pos"] = [0.1]
    with pytest.raises(UserInputError, match=r"filter1.params.CoG.pos' must have 3 numbers"):
        made(ForceTorqueSensorBroadcaster, of, **chain)


def test_states_that_nothing_measures_are_named():
    names = {"sensor_name": "gps", "frame_id": "antenna"}
    of = hardware({"gps/latitude": lambda: 47.6, "gps/longitude": lambda: 8.5}, urdf=GPS)
    (warning,) = made(GpsSensorBroadcaster, of, **names).warnings
    assert "nothing in the model measures gps/altitude:" in warning
    measured = {f"gps/{name}": float for name in ("latitude", "longitude", "altitude")}
    of = hardware(measured, urdf=GPS)
    assert made(GpsSensorBroadcaster, of, **names).warnings == []


@pytest.mark.parametrize("place", ["site", "body"])
def test_a_sensor_may_name_the_body_or_site_of_its_mujoco_sensors(place: str) -> None:
    declared = read_blocks(
        f"<robot name='r'><ros2_control name='c' type='system'><sensor name='tip_load'>"
        f"<param name='{place}'>tip</param></sensor></ros2_control></robot>"
    )
    assert declared.in_model == {"tip_load": "tip"}


EFFORT_GRIPPER = {"joint": "a", "gains.a.p": 100.0, "gains.a.d": 5.0, "gains.a.i_clamp": 1.0}


def test_an_effort_gripper_leads_its_joint_to_positions_by_a_law():
    of = hardware()
    robot = of.robot
    gripper = made(EffortGripperController, of, **EFFORT_GRIPPER, max_effort=8.0)
    assert gripper.command_interfaces == ("a/effort",)
    robot.q[0], robot.dq[0] = 0.2, 0.0
    gripper.update(0.0, 0.01)
    assert robot.references.tau[0] == 0.0  # it holds
    gripper.command(GripperCommand(position=0.25), 0.0)
    robot.dq[0] = 0.1
    gripper.update(0.01, 0.01)
    assert robot.references.tau[0] == pytest.approx(100.0 * 0.05 - 5.0 * 0.1)
    gripper.command(GripperCommand(position=0.9, effort=6.0), 0.0)
    gripper.update(0.02, 0.01)
    assert robot.references.tau[0] == 6.0
    gripper.command(GripperCommand(position=-0.9), 0.0)
    gripper.update(0.03, 0.01)
    assert robot.references.tau[0] == -8.0


def test_an_effort_gripper_holds_the_position_of_a_reset():
    of = hardware()
    gripper = made(EffortGripperController, of, **EFFORT_GRIPPER)
    gripper.command(GripperCommand(position=0.9), 0.0)
    gripper.update(0.0, 0.01)
    gripper.reset("the simulation was reset")
    of.robot.q[0], of.robot.dq[0] = 0.3, 0.0
    gripper.update(0.0, 0.01)
    assert of.robot.references.tau[0] == 0.0
