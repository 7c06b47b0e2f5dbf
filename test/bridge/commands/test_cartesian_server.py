"""Topics of the Cartesian controller: what they accept, and what is rejected and why."""

from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from stepped_node import SteppedNode

from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.events import CommandSource
from mujoco_ros.sim.cartesian.controller import CartesianController

_POSE, _TWIST, _WRENCH = (
    f"{CommandSource.CARTESIAN}/target_{kind}" for kind in ("pose", "twist", "wrench")
)


@pytest.fixture
def controller(stepped: SteppedNode) -> CartesianController:
    controller = stepped.control.cartesian
    assert isinstance(controller, CartesianController)
    controller.configure(CartesianSettings())
    return controller


def _send(stepped: SteppedNode, topic: str, message: Any) -> None:
    publisher = stepped.commander._publisher(type(message), topic)
    stepped.deliver(publisher.publish, message)
    stepped.step()


def _pose(position: Any, quat_wxyz: Any, frame: str = "base_link") -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    at, turn = message.pose.position, message.pose.orientation
    at.x, at.y, at.z = (float(number) for number in position)
    turn.w, turn.x, turn.y, turn.z = (float(number) for number in quat_wxyz)
    return message


def _where(controller: CartesianController) -> tuple[np.ndarray, np.ndarray]:
    chain = controller.chain
    assert chain is not None
    q, dq = np.zeros((2, len(chain.joints.names)))
    chain.read()
    chain.measure(q, dq)
    chain.locate(q)
    return chain.position.copy(), chain.quat.copy()


@pytest.mark.parametrize("frame", ["", "base_link", "world"])
def test_a_pose_is_reached(
    stepped: SteppedNode, controller: CartesianController, frame: str
) -> None:
    position, quat = _where(controller)
    _send(stepped, _POSE, _pose(position + np.array([0.0, 0.02, 0.03]), quat, frame))
    stepped.run(0.6)
    np.testing.assert_allclose(
        _where(controller)[0], position + np.array([0.0, 0.02, 0.03]), atol=1e-4
    )
    assert not stepped.warnings


def test_a_twist_moves_the_frame_until_its_timeout(
    stepped: SteppedNode, controller: CartesianController
) -> None:
    position, _ = _where(controller)
    message = TwistStamped()
    message.header.frame_id = "base_link"
    message.twist.linear.z = 0.1
    _send(stepped, _TWIST, message)
    stepped.run(1.0)
    np.testing.assert_allclose(_where(controller)[0] - position, (0, 0, 0.025), atol=2e-3)


@pytest.mark.parametrize(
    ("position", "quat", "frame", "text"),
    [
        ((np.nan, 0, 0), (1, 0, 0, 0), "base_link", "not finite"),
        ((0, np.inf, 0), (1, 0, 0, 0), "base_link", "not finite"),
        ((0.4, 0, 0.4), (0, 0, 0, 0), "base_link", "must have length 1, got 0"),
        ((0.4, 0, 0.4), (np.nan, 0, 0, 0), "base_link", "must have length 1"),
        ((0.4, 0, 0.4), (1, 0, 0, 0), "bas_link", "frame 'bas_link' not found (did you mean"),
    ],
)
def test_an_invalid_pose_is_rejected_and_changes_nothing(
    stepped: SteppedNode,
    controller: CartesianController,
    position: Any,
    quat: Any,
    frame: str,
    text: str,
) -> None:
    before = stepped.references
    _send(stepped, _POSE, _pose(position, quat, frame))
    (warning,) = stepped.warnings
    assert text in warning
    assert not controller.busy
    np.testing.assert_array_equal(stepped.references, before)


def test_a_wrench_in_pose_mode_and_a_nan_twist_are_rejected(
    stepped: SteppedNode, controller: CartesianController
) -> None:
    _send(stepped, _WRENCH, WrenchStamped())
    assert "a wrench needs cartesian_controller.mode impedance" in stepped.warnings[-1]
    twist = TwistStamped()
    twist.twist.angular.y = float("nan")
    _send(stepped, _TWIST, twist)
    assert "angular velocity (0, nan, 0)" in stepped.warnings[-1]
    assert not controller.busy


def test_a_disabled_controller_rejects_poses(
    stepped: SteppedNode, controller: CartesianController
) -> None:
    controller.configure(CartesianSettings(enabled=False))
    _send(stepped, _POSE, _pose(*_where(controller)))
    controller.configure(CartesianSettings())
    (warning,) = stepped.warnings
    assert "cartesian_controller.enabled is false" in warning


def test_a_trajectory_on_one_joint_ends_the_motion(
    stepped: SteppedNode, controller: CartesianController
) -> None:
    position, quat = _where(controller)
    _send(stepped, _POSE, _pose(position + np.array([0.0, 0.1, 0.0]), quat))
    stepped.run(0.05)
    stepped.deliver(stepped.commander.publish_joints, ["elbow_joint"], position=[1.3])
    stepped.step()
    assert not controller.busy
    stepped.pass_on()
    assert any("joint_commands took over" in warning for warning in stepped.warnings)
