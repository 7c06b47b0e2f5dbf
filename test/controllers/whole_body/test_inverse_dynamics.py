"""Torques and contact forces fulfil the equations of motion, the friction and the limits."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.planning.kinematics.sole import find_soles
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.controllers.whole_body.ground_contact import GroundContact
from mujoco_ros.controllers.whole_body.inverse_dynamics import InverseDynamicsControl
from mujoco_ros.controllers.whole_body.tasks import ComTask, FrameTask, JointTask
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation

PERIOD = 0.005
FEET = {
    "humanoid": ("left_foot", "right_foot"),
    "quadruped": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class Balance:
    """A robot over its feet, with tasks of trunk and centre of mass."""

    def __init__(self, robot, feet, friction: float = 0.6, **options) -> None:
        body_of = InverseDynamicsControl(robot, feet[0], [], [], period=PERIOD).body
        soles = find_soles(robot.model, body_of.data, robot.prefix, feet)
        self.com, self.rest = ComTask(weight=1e2), JointTask(robot.home, weight=1e-2)
        self.trunk = FrameTask(body_of.base, weight=np.repeat((0.0, 10.0), 3))
        for task in (self.com, self.rest, self.trunk):
            task.gain, task.rate = 5.0 * PERIOD, 20.0
        self.contacts = [GroundContact.of_sole(sole, friction=friction) for sole in soles]
        self.control = InverseDynamicsControl(
            *(robot, feet[0], [self.com, self.trunk, self.rest], self.contacts),
            period=PERIOD,
            **options,
        )

    def begin(self, position, quat, q, velocity) -> None:
        self.control.start()
        self.control.update(position, quat, q, velocity)
        self.com.hold(self.control.body)
        self.trunk.hold(self.control.body)

    def forces_in_world(self) -> np.ndarray:
        return np.concatenate([it.forces @ it.rotation.T for it in self.contacts])


@pytest.fixture(scope="module", params=sorted(FEET))
def named(request):
    scene = load_scene(request.param)
    return robot_model(Plant(assemble(scene), lambda _event: None), 0), FEET[request.param]


def moving(robot, balance: Balance, seed: int = 0) -> np.ndarray:
    """Begin in a configuration near the initial one, with velocities; return those.  # (6 + n,)"""
    random = np.random.default_rng(seed)
    q = np.clip(robot.home + random.normal(0.0, 0.05, len(robot.home)), robot.lower, robot.upper)
    velocity = random.normal(0.0, 0.1, 6 + len(q))
    balance.begin(np.array([0.1, 0.2, 0.5]), UPRIGHT, q, velocity)
    return velocity


def test_the_equations_of_motion_hold(named):
    robot, feet = named
    balance = Balance(robot, feet)
    moving(robot, balance)
    balance.com.position += 0.03, -0.02, 0.05
    balance.control.step()
    control, body = balance.control, balance.control.body
    data = mujoco.MjData(robot.model)
    data.qpos[:] = body.data.qpos
    data.qvel[body.dofs] = control.velocity
    mujoco.mj_forward(robot.model, data)
    data.qacc[:] = 0.0
    data.qacc[body.dofs] = control.acceleration
    data.ncon = data.nefc = 0
    mujoco.mj_rne(robot.model, data, 1, data.qfrc_inverse)
    needed = data.qfrc_inverse + robot.model.dof_armature * data.qacc
    needed += robot.model.dof_damping * data.qvel
    given = np.zeros(robot.model.nv)
    given[body.dofs[6:]] = control.torque
    torque = np.zeros(robot.model.nv)
    for contact in balance.contacts:
        axes = data.xmat[contact.task._body].reshape(3, 3)
        for point, force in zip(contact._points, contact.forces, strict=True):
            at = data.xpos[contact.task._body] + axes @ point
            mujoco.mj_applyFT(robot.model, data, force, np.zeros(3), at, contact.task._body, torque)
    given += torque
    np.testing.assert_allclose(given[body.dofs], needed[body.dofs], atol=1e-6)


def test_forces_stay_in_the_friction_cones_where_a_task_demands_too_much(named):
    robot, feet = named
    balance = Balance(robot, feet, friction=0.4)
    for seed, aside in enumerate((0.0, 0.3, -1.0, 3.0)):
        moving(robot, balance, seed)
        balance.com.position[1] += aside
        balance.control.step()
        x, y, z = balance.forces_in_world().T
        assert (z >= -1e-6).all()
        assert (np.hypot(x, y) <= 0.4 * z + 1e-6).all()
    weight = balance.control.body.mass * 9.81
    assert abs(y.sum()) > 0.2 * weight, "the demand is large"


def test_torques_stay_within_their_limits_where_a_task_demands_too_much(named):
    robot, feet = named
    balance = Balance(robot, feet, torque_share=0.5)
    moving(robot, balance)
    balance.com.position[2] += 3.0
    balance.control.step()
    limit = 0.5 * robot.effort
    assert (np.abs(balance.control.torque) <= limit + 1e-6).all()
    assert (np.abs(balance.control.torque) > limit - 1e-6).any(), "a limit is reached"


def test_a_foot_in_the_air_has_no_force_and_may_move(named):
    robot, feet = named
    balance = Balance(robot, feet)
    balance.begin(np.zeros(3), UPRIGHT, robot.home, np.zeros(6 + len(robot.home)))
    control, raised = balance.control, balance.contacts[0]
    raised.is_active = False
    raise_it = FrameTask(raised.task._body, weight=[0, 0, 100, 0, 0, 0], gain=0.0)
    raise_it.hold(control.body)
    raise_it.acceleration[2] = 2.0
    control.tasks = (*control.tasks, raise_it)
    control.step()
    np.testing.assert_allclose(raised.forces, 0.0, atol=1e-6)
    assert raise_it.jacobian[2] @ control.acceleration == pytest.approx(2.0, abs=0.3)
    standing = balance.contacts[1].task
    accelerations = standing.jacobian[:3] @ control.acceleration
    np.testing.assert_allclose(accelerations, 0.0, atol=0.02)
    raised.is_active = True
    control.step()
    assert raised.forces[:, 2].sum() > 10.0


def test_normal_forces_are_within_their_range(named):
    robot, feet = named
    balance = Balance(robot, feet)
    balance.contacts[0].least = balance.contacts[0].most = 7.0
    balance.begin(np.zeros(3), UPRIGHT, robot.home, np.zeros(6 + len(robot.home)))
    balance.control.step()
    np.testing.assert_allclose(balance.contacts[0].forces[:, 2], 7.0, atol=1e-6)


def test_a_joint_does_not_accelerate_beyond_its_limits(named):
    robot, feet = named
    balance = Balance(robot, feet)
    joint = 2
    q, velocity = robot.home.copy(), np.zeros(6 + len(robot.home))
    q[joint] = robot.upper[joint] - 0.001
    velocity[6 + joint] = 1.0
    balance.begin(np.zeros(3), UPRIGHT, q, velocity)
    for contact in balance.contacts:
        contact.is_active = False
    balance.control.step()
    assert balance.control.acceleration[6 + joint] < -15.0
    assert (balance.control.q <= robot.upper).all()


class StandByTorques(State):
    """Stands by inverse dynamics, with the true base."""

    Config = None
    lean = 0.0

    def start(self, context: StateContext) -> None:
        robot = context.robot
        feet = FEET[robot.name]
        self.balance = Balance(robot, feet)
        self.begun = False
        self.most = 0.0

    def run(self, context: StateContext) -> str | None:
        seen, control = context.observation, self.balance.control
        base = seen.base
        linear = base.pose.matrix[:3, :3] @ base.linear
        state = (*(base.pose.position, base.pose.quat_wxyz, seen.q),)
        velocity = np.concatenate((linear, base.angular, seen.dq))
        if not self.begun:
            self.balance.begin(*state, velocity)
            self.begun = True
        control.update(*state, velocity)
        self.balance.com.position[2] -= 0.02 * context.period if context.time < 2.0 else 0.0
        control.step()
        x, y, z = self.balance.forces_in_world().T
        self.most = max(self.most, float((np.hypot(x, y) - 0.6 * z).max()))
        references = context.references
        references.q, references.dq, references.tau = control.q, control.dq, control.torque
        return None


@pytest.mark.parametrize("name", sorted(FEET))
def test_a_robot_stands_crouches_and_withstands_a_push_by_its_torques(name):
    def run(steps: int) -> np.ndarray:
        table = table_from_dict(
            {
                "rate": 200,
                "initial": "S",
                "states": {"S": {"class": "StandByTorques", "outcome": "never"}},
            },
            {"StandByTorques": StandByTorques},
            name="torques",
            where="test",
        )
        simulation = Simulation(load_scene(name))
        controller = FsmController(table)
        host = ControllerHost(simulation, controller)
        base = simulation.layout.robots[0].bases[0].body
        places = []
        mass = float(simulation.model.body_subtreemass[base])
        for step in range(steps):
            is_pushed = 2500 <= step < 2600
            simulation.data.xfrc_applied[base, 1] = mass if is_pushed else 0.0  # 0.1 m/s
            assert host.step()
            places.append(simulation.data.xpos[base].copy())
        assert host.supervised.error == ""
        return np.array(places)

    places = run(4000)
    assert places[2400, 2] - places[0, 2] == pytest.approx(-0.04, abs=0.01)
    assert np.abs(places[-1, :2] - places[2400, :2]).max() < 0.01
    assert 0.002 < np.abs(places[2500:, 1] - places[2400, 1]).max() < 0.1
    np.testing.assert_array_equal(run(1000), places[:1000])


def test_the_same_state_gives_the_same_bits(named):
    robot, feet = named

    def last() -> bytes:
        balance = Balance(robot, feet)
        for seed in range(20):
            moving(robot, balance, seed)
            balance.control.step()
        return balance.control.torque.tobytes()

    assert last() == last()


def test_a_target_that_is_not_a_number_is_an_error(named):
    robot, feet = named
    balance = Balance(robot, feet)
    moving(robot, balance)
    balance.com.position[0] = np.nan
    with pytest.raises(ArithmeticError, match="not a finite number"):
        balance.control.step()
    balance.com.hold(balance.control.body)
    balance.control.step()
    assert np.isfinite(balance.control.torque).all()


def test_wrong_arguments_are_rejected(named):
    robot, feet = named
    with pytest.raises(UserInputError, match="friction must be positive, got 0"):
        Balance(robot, feet, friction=0.0)
    with pytest.raises(UserInputError, match="torque_share must be above 0, at most 1, got 2"):
        Balance(robot, feet, torque_share=2.0)
    with pytest.raises(UserInputError, match=r"velocity_leak must be at least the period 0\.005"):
        Balance(robot, feet, velocity_leak=0.0)
    with pytest.raises(UserInputError, match="normal force of a contact"):
        GroundContact(1, np.zeros((1, 3)), least=2.0, most=1.0)
    assert replace(robot).joints == robot.joints
