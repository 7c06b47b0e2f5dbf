"""Magnetometers and rangefinders of a running simulator."""

import math
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import JointState, MagneticField, Range
from simulators import Simulator, SimulatorLauncher
from tf2_msgs.msg import TFMessage
from zoo_recording import LATCHED, subscription_qos

FIELD_T = (2.1e-5, 0.4e-5, -4.3e-5)
WALL_M = 2.0
CUTOFF_M = 0.5
CART = f"""
<mujoco>
  <option gravity="0 0 0" magnetic="{" ".join(map(str, FIELD_T))}"/>
  <worldbody>
    <geom type="box" size="0.1 1 1" pos="{WALL_M + 0.1} 0 0"/>
    <body name="cart">
      <joint name="rail" type="slide" axis="1 0 0" damping="1"/>
      <geom size="0.05" mass="1"/>
      <site name="front" pos="0.1 0 0" zaxis="1 0 0"/>
      <site name="back" zaxis="-1 0 0"/>
      <site name="mast" euler="0 0 90"/>
      <camera name="eye" resolution="2 2"/>
    </body>
  </worldbody>
  <sensor>
    <rangefinder name="ahead" site="front"/>
    <rangefinder name="astern" site="back"/>
    <rangefinder name="near" site="front" cutoff="{CUTOFF_M}"/>
    <rangefinder name="detailed" site="front" data="dist point normal" cutoff="3"/>
    <rangefinder name="pixels" camera="eye"/>
    <rangefinder name="spot" site="front" data="point"/>
    <magnetometer name="compass" site="mast"/>
  </sensor>
</mujoco>"""


@pytest.fixture
def cart(start: SimulatorLauncher, tmp_path: Path) -> Simulator:
    model = tmp_path / "cart.xml"
    model.write_text(CART)
    return start.simulator(scene=str(model))


def test_a_subscriber_receives_the_present_fields_and_distances(
    start: SimulatorLauncher, cart: Simulator
) -> None:
    listener = start.listener(cart)
    ranges = {
        name: listener.record(Range, f"/range/{name}")
        for name in ("ahead", "astern", "near", "detailed")
    }
    field = listener.record(MagneticField, "/magnetometer/compass")
    joints = listener.record(JointState, "/joint_states")
    frames = listener.record(TFMessage, "/tf_static", qos=subscription_qos(LATCHED))
    everything = (*ranges.values(), field, joints, frames)
    assert listener.spin_until(lambda: all(len(recording) for recording in everything))

    (message,) = {str(message.magnetic_field): message for message in field.messages}.values()
    measured = message.magnetic_field
    # The mast's x axis is the world's y axis.
    assert (measured.x, measured.y, measured.z) == pytest.approx(
        (FIELD_T[1], -FIELD_T[0], FIELD_T[2]), abs=1e-15
    )
    assert message.header.frame_id == "mast"
    assert not message.magnetic_field_covariance.any()

    position = joints.messages[0].position[0]
    distance = WALL_M - 0.1 - position
    expected = {
        "ahead": (distance, math.inf),
        "astern": (math.inf, math.inf),
        "near": (math.inf, CUTOFF_M),
        "detailed": (distance, 3.0),
    }
    for name, (value, farthest) in expected.items():
        message = ranges[name].messages[0]
        assert (message.range, message.max_range) == pytest.approx((value, farthest), abs=1e-6)
        assert (message.min_range, message.radiation_type) == (0.0, Range.INFRARED)
        assert message.field_of_view > 0
        assert message.header.frame_id in ("front_beam", "back_beam")
    (beam,) = (
        transform
        for message in frames.messages
        for transform in message.transforms
        if transform.child_frame_id == "back_beam"
    )
    assert beam.header.frame_id == "cart"
    turn = beam.transform.rotation
    x_axis = (
        1 - 2 * (turn.y**2 + turn.z**2),
        2 * (turn.x * turn.y + turn.z * turn.w),
        2 * (turn.x * turn.z - turn.y * turn.w),
    )
    np.testing.assert_allclose(x_axis, (-1.0, 0.0, 0.0), atol=1e-12)


def test_the_log_counts_the_sensors(start: SimulatorLauncher, cart: Simulator) -> None:
    listener = start.listener(cart)
    assert listener.spin_until(lambda: "4 rangefinders" in cart.log)
    assert "1 magnetometer" in cart.log
    assert "3 sensor arrays" in cart.log
    assert "no topic for sensors" not in cart.log
