"""References between two commands of a stream."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.control.references import References
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.control.stream import Stream

STEP = 0.001
LINEAR, HOLD = StreamSettings(), StreamSettings(interpolation="hold")
LEAVE = np.nan


class Streamed:
    """A stream to `count` joints that is stepped."""

    def __init__(self, count: int = 1, *, row: int | None = None, how: StreamSettings = LINEAR):
        self.references = References.holding(np.zeros(count))
        self.stream = Stream(self.references, row)
        self.how = how
        self.index = 0

    def send(self, *joints: int, q=LEAVE, dq=LEAVE, tau=LEAVE) -> None:
        """Command joints, the first by default, before the next step."""
        chosen = np.array(joints or (0,))
        values = np.array([np.resize(x, len(chosen)) for x in (q, dq, tau)], dtype=float)
        self.stream.command(chosen, values, self.how, self.index * STEP, STEP)

    def steps(self, count: int = 1) -> np.ndarray:
        """Take steps and return the references of each (count, 3, n)."""
        rows = []
        for _ in range(count):
            if self.stream.moving:
                self.stream.update(self.index * STEP)
            rows.append(self.references.values.copy())
            self.index += 1
        return np.array(rows).reshape(count, *self.references.values.shape)


def sine(how: StreamSettings, *, every: int, steps: int = 2000) -> np.ndarray:
    """The references (steps, 3) of all three quantities following a sine of 1 Hz."""
    robot = Streamed(how=how)
    rows = []
    for k in range(steps):
        if k % every == 0:
            wave = np.sin(2 * np.pi * k * STEP)
            robot.send(q=wave, dq=3 * wave, tau=-wave)
        rows.append(robot.steps()[0, :, 0])
    return np.array(rows)


@pytest.mark.parametrize(
    "how", [LINEAR, StreamSettings(period=0.01)], ids=["measured", "configured"]
)
def test_a_sine_at_100_hz_is_piecewise_linear_at_1_khz(how):
    smooth, stepped = sine(how, every=10)[50:], sine(HOLD, every=10)[50:]
    bends = np.abs(np.diff(smooth, 2, axis=0))
    assert (bends.max(axis=0) * 10 <= np.abs(np.diff(stepped, 2, axis=0)).max(axis=0)).all()
    straight = bends.reshape(-1, 3)[np.arange(len(bends)) % 10 != 8]
    assert straight.max() < 1e-9, "between two commands it is a line"


def test_a_command_is_reached_exactly_in_the_step_before_the_next_is_due():
    found = sine(LINEAR, every=10)[:, 0]
    wave = np.sin(2 * np.pi * np.arange(0, 2000, 10) * STEP)
    np.testing.assert_array_equal(found[19::10], wave[1:])


def test_a_stream_as_fast_as_the_steps_takes_effect_in_its_own_step():
    for how in (LINEAR, HOLD):
        wave = np.sin(2 * np.pi * np.arange(2000) * STEP)
        np.testing.assert_array_equal(sine(how, every=1)[:, 0], wave)


def test_with_hold_every_command_takes_effect_at_once():
    wave = np.sin(2 * np.pi * np.arange(0, 2000, 10) * STEP)
    np.testing.assert_array_equal(sine(HOLD, every=10)[:, 0], np.repeat(wave, 10))


@pytest.mark.parametrize("index", [0, 123_457, 10_000_001])
def test_the_first_command_takes_effect_at_once_and_exactly(index):
    robot = Streamed()
    robot.index = index
    robot.send(q=0.1, dq=-0.3, tau=1e3)
    assert robot.steps()[0, :, 0].tolist() == [0.1, -0.3, 1e3]


def test_with_a_configured_period_the_first_command_takes_it_as_well():
    robot = Streamed(how=StreamSettings(period=0.004))
    robot.send(q=1.0)
    assert robot.steps(6)[:, 0, 0] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 1.0])


def test_zero_is_a_command():
    robot = Streamed()
    for value in (5.0, 0.0):
        robot.send(q=value, dq=value, tau=value)
        row = robot.steps(300)[-1]
        assert row.ravel().tolist() == [value] * 3


def test_nan_leaves_a_value_unchanged():
    robot = Streamed()
    robot.references.values[:, 0] = [0.5, 0.2, -1.0]
    robot.send(dq=3.0)
    assert robot.steps()[0, :, 0].tolist() == [0.5, 3.0, -1.0]
    robot.send(tau=0.0)
    assert robot.steps(500)[-1, :, 0].tolist() == [0.5, 3.0, 0.0]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 1), st.floats(-5, 5)), min_size=1, max_size=40
    ),
    st.sampled_from([LINEAR, HOLD, StreamSettings(period=0.01)]),
)
def test_references_never_exceed_the_newest_command_at_any_arrival_times(commands, how):
    robot = Streamed(count=2, how=how)
    targets = np.zeros(2)
    for gap, joint, value in commands:
        robot.send(joint, q=value)
        targets[joint] = value
        start = robot.references.q.copy()
        distance = np.concatenate([[start], robot.steps(gap)[:, 0]]) - targets
        assert (np.diff(np.abs(distance), axis=0) <= 1e-12).all(), "the distance does not increase"
        assert (distance * np.sign(distance[0]) >= -1e-12).all(), "it does not pass the command"
    assert robot.steps(300)[-1, 0].tolist() == targets.tolist()


def test_after_a_change_of_rate_references_become_linear_again():
    robot = Streamed()
    for gap, count in ((10, 40), (25, 40), (4, 60)):
        rows = []
        for _ in range(count):
            robot.send(q=robot.index * STEP)
            rows.append(robot.steps(gap)[:, 0, 0])
        slopes = np.diff(np.concatenate(rows[-6:]))
        np.testing.assert_allclose(slopes, STEP, rtol=0.05)


def test_jitter_leaves_references_far_smoother_than_steps():
    rng = np.random.default_rng(4)
    largest = {}
    for how in (LINEAR, HOLD):
        robot = Streamed(how=how)
        rows = []
        for k in range(300):
            robot.send(q=np.sin(2 * np.pi * 0.01 * k))
            rows.append(robot.steps(int(rng.integers(7, 14)))[:, 0, 0])
        largest[how] = np.abs(np.diff(np.concatenate(rows[5:]))).max()
    assert largest[LINEAR] * 5 < largest[HOLD]


def test_a_long_silence_restarts_the_stream():
    robot = Streamed()
    for value in (1.0, 2.0):
        robot.send(q=value)
        assert robot.steps(260)[0, 0, 0] == value
    robot.send(q=0.0)
    robot.steps(100)
    robot.send(q=1.0)
    assert robot.steps()[0, 0, 0] == pytest.approx(0.01)


def test_two_commands_within_a_step_are_one():
    robot = Streamed()
    rows = []
    for k in range(20):
        robot.send(q=50.0)
        robot.send(q=float(k))
        rows.append(robot.steps(10)[:, 0, 0])
    np.testing.assert_allclose(np.diff(np.concatenate(rows[2:])), 0.1, atol=1e-9)


# --- partial messages


def test_joints_commanded_in_turn_each_have_their_own_period():
    robot = Streamed(count=2)
    rows = []
    for k in range(400):
        if k % 10 == 0:
            robot.send(0, q=k * STEP)
        if k % 10 == 4:
            robot.send(1, q=-2 * k * STEP)
        rows.append(robot.steps()[0, 0])
    slopes = np.diff(rows[50:], axis=0)
    np.testing.assert_allclose(slopes, np.tile([STEP, -2 * STEP], (len(slopes), 1)), atol=1e-9)


def test_quantities_of_a_joint_commanded_in_turn_each_have_their_own_period():
    robot = Streamed()
    rows = []
    for k in range(400):
        if k % 10 == 0:
            robot.send(q=k * STEP)
        if k % 4 == 1:
            robot.send(tau=-2 * k * STEP)
        rows.append(robot.steps()[0, ::2, 0])
    slopes = np.diff(rows[50:], axis=0)
    np.testing.assert_allclose(slopes, np.tile([STEP, -2 * STEP], (len(slopes), 1)), atol=1e-9)


def test_each_value_has_its_own_ramp_independent_of_other_commands():
    random, period = np.random.default_rng(5), 0.008
    robot = Streamed(count=3, how=StreamSettings(period=period))
    robot.references.values[:] = random.normal(size=(3, 3))
    wanted, begin = robot.references.values.copy(), np.zeros((3, 3))
    target, distance = wanted.copy(), np.zeros((3, 3))
    for k in range(2000):
        # Mostly whole commands at a steady rate, and now and then a few values in between.
        whole = k % 8 == 0
        if whole or random.random() < 0.03:
            joints = np.arange(3) if whole else random.permutation(3)[: random.integers(1, 4)]
            values = random.normal(size=(3, len(joints)))
            values[random.random(values.shape) < (0.0 if whole else 0.5)] = np.nan
            robot.send(*joints, q=values[0], dq=values[1], tau=values[2])
            commanded = np.full((3, 3), np.nan)
            commanded[:, joints] = values
            new = ~np.isnan(commanded)
            target[new], begin[new] = commanded[new], (k - 1) * STEP
            distance[new] = commanded[new] - wanted[new]
        left = 1.0 - np.minimum((k * STEP - begin) / period, 1.0)
        wanted = target - left * distance
        np.testing.assert_allclose(robot.steps()[0], wanted, atol=1e-12)


def test_a_stream_of_one_quantity_writes_no_other():
    for row in range(3):
        robot = Streamed(row=row)
        robot.references.values[:] = -7.0
        robot.send(q=1.0, dq=2.0, tau=3.0)
        expected = [-7.0] * 3
        expected[row] = [1.0, 2.0, 3.0][row]
        assert robot.steps()[0, :, 0].tolist() == expected


def test_a_released_joint_is_unchanged_and_claimed_from_its_reference():
    robot = Streamed(count=2)
    for k in range(5):
        robot.send(0, 1, q=float(k))
        robot.steps(10)
    robot.send(0, 1, q=9.0)
    robot.stream.release(np.array([0]))
    robot.references.q[0] = -1.0
    assert robot.steps(20)[-1, 0].tolist() == [-1.0, 9.0]
    assert robot.stream.busy
    robot.send(0, dq=1.0)
    assert robot.steps(20)[-1, 0].tolist() == [-1.0, 9.0]
    assert not robot.stream.positioned[0]
    robot.stream.release(np.array([0, 1]))
    assert not robot.stream.busy


# --- silence


def test_silent_joints_are_returned():
    robot = Streamed(count=3)
    robot.send(0, 1, q=0.0)
    robot.steps(100)
    robot.send(1, 2, tau=0.0)
    robot.steps(50)

    def silent(timeout: float) -> list[int]:
        return robot.stream.silent(robot.index * STEP, timeout).tolist()

    assert silent(0.2) == []
    assert silent(0.1) == [0]
    assert silent(0.04) == [0, 1, 2]
    robot.stream.release(np.array([0, 1]))
    assert silent(0.1) == []
    assert silent(0.04) == [2]


def test_a_reset_stream_has_no_joints():
    robot = Streamed()
    robot.send(q=3.0)
    robot.stream.reset()
    robot.references.q[:] = 0.0
    assert not robot.stream.busy
    assert not robot.stream.moving
    assert robot.steps(10)[-1, 0, 0] == 0.0
    assert len(robot.stream.silent(1e9, 0.1)) == 0


def test_a_reset_drops_ramps_in_progress():
    robot = Streamed(how=StreamSettings(period=0.5))
    robot.index = 5000
    robot.send(q=3.0, dq=1.0)
    robot.steps(10)
    robot.stream.reset()
    robot.references.values[:] = 0.0
    robot.index = 0
    robot.send(dq=2.0)
    assert not robot.steps(100)[:, 0].any()
