"""Make an arm compliant: low gains, and gravity compensation from its model at 200 Hz.

Run it in a second terminal while `make sim SCENE=arm` runs. Ctrl-C restores the gains.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm; its base must be fixed.
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic
from xml.etree import ElementTree

import mujoco
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String

RATE_HZ = 200.0
TOLERANCE_RAD = 0.005
ELBOW = "elbow_joint"
NOT_FOUND = "no robot found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", help=f"joint to push, default: {ELBOW}, or else that with the largest weight")
    add("--softer", type=float, default=100.0, help="divisor of kp, default: %(default)s")
    add("--push", type=float, default=5.0, help="Nm or N, default: %(default)s")
    add("--seconds", type=float, default=2.0, help="duration of each phase, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def gravity_model(urdf: str) -> mujoco.MjModel:
    """Return a model of a robot_description with masses and joints, without shapes."""
    robot = ElementTree.fromstring(urdf)
    for parent in list(robot.iter()):
        for shape in [*parent.findall("visual"), *parent.findall("collision")]:
            parent.remove(shape)
    for extension in robot.findall("mujoco"):
        robot.remove(extension)
    # MuJoCo rejects impossible inertias, which do not matter for gravity.
    settings = {"balanceinertia": "true", "boundmass": "1e-9", "boundinertia": "1e-9"}
    ElementTree.SubElement(ElementTree.SubElement(robot, "mujoco"), "compiler", settings)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(robot, encoding="unicode"))


class Impedance(Node):
    """Holds the joints of a robot with gravity as feed-forward.

    The torque of a joint is kp (q_ref - q) - kd dq + tau, evaluated by the simulator at every
    physics step. kp and kd are set once, tau is computed here.
    """

    def __init__(self) -> None:
        """Create the clients and subscriptions; `find` waits for the robot."""
        # In simulated time, the timer keeps its rate at any real-time factor.
        simulated = Parameter("use_sim_time", value=True)
        super().__init__("impedance_control", parameter_overrides=[simulated])
        self.parameters = AsyncParameterClient(self, "/mujoco")
        self.publisher = self.create_publisher(JointState, "joint_commands", 10)
        self.state, self.urdf = JointState(), ""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(JointState, "joint_states", self._receive, 1)
        self.create_subscription(String, "robot_description", self._describe, latched)

    def _receive(self, state: JointState) -> None:
        self.state = state

    def _describe(self, description: String) -> None:
        self.urdf = description.data

    def spin_until(self, condition: Callable[[], object], seconds: float = 10.0) -> bool:
        """Spin until a condition is met; return whether it was within `seconds` of wall time."""
        deadline = monotonic() + seconds
        while not condition() and monotonic() < deadline:
            rclpy.spin_once(self, timeout_sec=0.1)
            if interrupts and interrupts.pop():
                raise KeyboardInterrupt
        return bool(condition())

    def seconds(self) -> float:
        """Return the simulated time [s]."""
        return self.get_clock().now().nanoseconds * 1e-9

    def spin_for(self, seconds: float) -> None:
        """Spin for some simulated time."""
        end = self.seconds() + seconds
        self.spin_until(lambda: self.seconds() > end, 30.0 + 10.0 * seconds)

    def find(self) -> str:
        """Wait for the robot and prepare its control; return an error, empty without one."""
        if not self.spin_until(
            lambda: self.urdf and self.state.name and self.parameters.services_are_ready()
        ):
            return NOT_FOUND
        if self.count_publishers("odom"):
            return "this robot has a floating base: gravity torques depend on its contacts"
        namespace = self.get_namespace().strip("/").replace("/", ".")
        self.gains = self._read_gains(f"{namespace}.gains" if namespace else "gains")
        self.joints = [name.split(".")[-2] for name in self.gains if name.endswith(".kp")]
        self.model = gravity_model(self.urdf)
        self.data = mujoco.MjData(self.model)
        self.held = self.positions()
        self.push = np.zeros(len(self.joints))
        self.gravity = np.zeros(len(self.joints))
        self.cycles = 0
        self.weigh()
        return ""

    def _read_gains(self, prefix: str) -> dict[str, float]:
        """Return the robot's gains by parameter, for the joints that a torque motor drives."""
        listed = self.parameters.list_parameters([prefix])
        self.spin_until(listed.done)
        names = list(listed.result().result.names)
        got = self.parameters.get_parameters(names)
        self.spin_until(got.done)
        return dict(zip(names, map(parameter_value_to_python, got.result().values), strict=True))

    def set_gains(self, softer: float) -> str:
        """Divide kp, and kd by the root of that, which keeps the damping ratio.

        Return the reason of a rejection, empty without one.
        """
        divisors = {"kp": softer, "kd": abs(softer) ** 0.5}
        gains = {name: value / divisors[name[-2:]] for name, value in self.gains.items()}
        parameters = [Parameter(name, value=value) for name, value in gains.items()]
        answer = self.parameters.set_parameters_atomically(parameters)
        if not self.spin_until(answer.done):
            return "the simulator does not respond"
        return answer.result().result.reason

    def positions(self) -> np.ndarray:
        """Return the joint positions [rad or m]."""
        positions = dict(zip(self.state.name, self.state.position, strict=True))
        return np.array([positions[joint] for joint in self.joints])

    def heaviest(self) -> str:
        """Return the joint that the weight of the links turns most."""
        return self.joints[int(np.abs(self.gravity).argmax())]

    def weigh(self) -> None:
        """Compute the torques of gravity at the measured positions [Nm or N]."""
        for name, position in zip(self.state.name, self.state.position, strict=True):
            if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name) >= 0:
                self.data.joint(name).qpos[0] = position
        mujoco.mj_forward(self.model, self.data)
        # At zero velocity, the bias force is gravity.
        self.gravity[:] = [self.data.joint(name).qfrc_bias[0] for name in self.joints]

    def control(self) -> None:
        """Command the joints; called by the timer."""
        self.weigh()
        self.command(self.gravity + self.push)
        self.cycles += 1

    def command(self, effort: np.ndarray) -> None:
        """Publish the references of the PD law."""
        message = JointState(name=self.joints, position=self.held, effort=effort)
        message.velocity = [0.0] * len(self.joints)
        message.header.stamp = self.get_clock().now().to_msg()
        self.publisher.publish(message)


def show_compliance(robot: Impedance, args: argparse.Namespace) -> str:
    """Hold, push and release; return an error, empty if the joint deflects by push / kp."""
    if problem := robot.find():
        return problem
    if not robot.joints:
        return "no motor drives a joint of this robot"
    name = args.joint or (ELBOW if ELBOW in robot.joints else robot.heaviest())
    if name not in robot.joints:
        return f"no motor drives '{name}'; --joint is one of: {', '.join(robot.joints)}"
    joint = robot.joints.index(name)
    (kp,) = (v / args.softer for n, v in robot.gains.items() if n.endswith(f".{name}.kp"))
    print(f"{name}: kp {kp * args.softer:g} becomes {kp:g}")
    # Feed-forward before the low gains: in the other order, the arm would sag.
    timer = robot.create_timer(1.0 / RATE_HZ, robot.control)
    off = []
    try:
        robot.spin_for(0.2)
        if problem := robot.set_gains(args.softer):
            return f"gains refused: {problem}"
        first, begin = robot.cycles, robot.seconds()
        for phase, push in (("held", 0.0), ("pushed", args.push), ("released", 0.0)):
            robot.push[joint] = push
            robot.spin_for(args.seconds)
            off.append(robot.positions() - robot.held)
            print(f"{phase:>8}, {push:4.1f} Nm: off by {off[-1][joint]:7.4f} rad")
        rate = (robot.cycles - first) / (robot.seconds() - begin)
    finally:
        robot.set_gains(1.0)
        robot.destroy_timer(timer)
        robot.command(np.zeros(len(robot.joints)))
        robot.spin_for(0.1)
    deflection, expected = float(off[1][joint] - off[0][joint]), args.push / kp
    print(f"deflection {deflection:.4f} rad, push / kp {expected:.4f} rad")
    print(f"gravity would add {-robot.gravity[joint] / kp:.4f} rad; compensated at {rate:.0f} Hz")
    residual = max(float(np.abs(error).max()) for error in (off[0], off[2]))
    if residual > TOLERANCE_RAD or abs(deflection - expected) > TOLERANCE_RAD:
        return f"unexpected deflection; without a push, a joint is off by {residual:.4f} rad"
    return ""


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to restore the gains.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(show_compliance(Impedance(), args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
