"""Channels against their definitions."""

from dataclasses import asdict

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import Transport
from mujoco_ros.sim.realism.channel import ChannelPart, ImperfectChannel

STEP = 0.001


def stream(count: int, **settings: float) -> ChannelPart:
    names = asdict(Transport())
    errors = {
        name: (settings.get(name, 0.0),) * count
        for name in ("noise", "noise_density", "bias", "bias_walk", "quantisation")
    }
    timing = Transport(**{name: settings[name] for name in names if name in settings})
    return ChannelPart(count=count, transport=timing, **errors)


def channel(
    count: int = 1, *, seed: int = 0, key: str = "arm", timestep: float = STEP, **settings: float
) -> ImperfectChannel:
    made = ImperfectChannel(key, seed, count)
    made.configure([stream(count, **settings)], timestep)
    return made


def outputs(made: ImperfectChannel, truth: np.ndarray) -> np.ndarray:
    rows = np.zeros((len(truth), made.size))
    for row, numbers in zip(rows, truth, strict=True):
        made.update(np.atleast_1d(numbers))
        row[:] = made.output
    return rows


def ramp(steps: int) -> np.ndarray:
    """The number of the step as the truth: an output is the number of its sample."""
    return np.arange(steps, dtype=float)


def test_an_ideal_channel_changes_no_bit():
    truth = np.random.default_rng(0).standard_normal((50, 4))
    np.testing.assert_array_equal(outputs(channel(4), truth), truth)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_a_delay_is_exactly_its_number_of_steps(steps):
    seen = outputs(channel(delay=steps * STEP), ramp(40))[:, 0]
    np.testing.assert_array_equal(seen, np.maximum(ramp(40) - steps, 0.0))


def test_samples_are_held_for_the_interval():
    seen = outputs(channel(interval=0.004), ramp(41))[:, 0]
    np.testing.assert_array_equal(seen, 4.0 * (np.arange(41) // 4))


def test_a_delay_shifts_held_samples():
    seen = outputs(channel(interval=0.004, delay=0.003), ramp(41))[:, 0]
    np.testing.assert_array_equal(seen, 4.0 * (np.maximum(np.arange(41) - 3, 0) // 4))


def test_jitter_is_uniform_and_never_reverses_the_order():
    # Samples are rare enough that none overtakes another.
    made = channel(interval=0.010, delay=0.002, jitter=0.004)
    seen = outputs(made, ramp(20_000))[:, 0]
    assert (np.diff(seen) >= 0.0).all()
    arrivals = np.flatnonzero(np.diff(seen)) + 1
    delays = arrivals - seen[arrivals]
    values, counts = np.unique(delays, return_counts=True)
    np.testing.assert_array_equal(values, [2, 3, 4, 5, 6])
    # Each has the probability 1/5: four deviations of a binomial distribution.
    expected, deviation = len(delays) / 5, np.sqrt(len(delays) * 0.2 * 0.8)
    assert np.abs(counts - expected).max() < 4 * deviation


def test_a_sample_that_a_later_one_overtook_is_dropped():
    seen = outputs(channel(delay=0.001, jitter=0.006), ramp(5000))[:, 0]
    assert (np.diff(seen) >= 0.0).all()
    age = ramp(5000)[10:] - seen[10:]
    assert age.min() == 1
    assert age.max() <= 7


def test_lost_samples_have_the_probability_and_hold_the_last_one():
    made, steps = channel(dropout=0.2), 20_000
    seen = outputs(made, ramp(steps))[:, 0]
    new = np.diff(seen) > 0.0
    np.testing.assert_array_equal(seen[1:][new], np.arange(1, steps)[new])
    lost = (~new).sum()
    assert abs(lost - 0.2 * steps) < 4 * np.sqrt(steps * 0.2 * 0.8)
    assert made.lost in (lost, lost + 1)  # the first sample counts, but is the output anyway


def test_all_samples_can_be_lost():
    seen = outputs(channel(dropout=1.0), ramp(100))[:, 0]
    np.testing.assert_array_equal(seen, 0.0)


def test_numbers_of_a_stream_are_lost_together_and_those_of_others_are_not():
    made = ImperfectChannel("arm", 3, 4)
    made.configure([stream(2, dropout=0.5), stream(2)], STEP)
    seen = outputs(made, np.tile(ramp(200)[:, None], (1, 4)))
    np.testing.assert_array_equal(seen[:, 0], seen[:, 1])
    np.testing.assert_array_equal(seen[:, 2], ramp(200))
    assert (seen[:, 0] != ramp(200)).any()


def test_quantised_numbers_are_on_the_grid_with_a_uniform_error():
    quantum, truth = 0.01, np.random.default_rng(1).uniform(-5.0, 5.0, 20_000)
    seen = outputs(channel(quantisation=quantum), truth)[:, 0]
    np.testing.assert_array_equal(seen, np.rint(truth / quantum) * quantum)
    error = seen - truth
    assert np.abs(error).max() <= 0.5 * quantum * (1 + 1e-9)
    assert error.std() == pytest.approx(quantum / np.sqrt(12.0), rel=0.03)


def test_noise_has_its_deviation_and_density_that_of_the_interval():
    zeros = np.zeros((20_000, 1))
    assert outputs(channel(noise=0.3), zeros).std() == pytest.approx(0.3, rel=0.03)
    for timestep in (0.001, 0.004):
        seen = outputs(channel(noise_density=0.02, timestep=timestep), zeros)
        assert seen.std() == pytest.approx(0.02 / np.sqrt(timestep), rel=0.03)
    held = outputs(channel(noise_density=0.02, interval=0.005), zeros)[::5]
    assert held.std() == pytest.approx(0.02 / np.sqrt(0.005), rel=0.05)
    both = outputs(channel(noise=0.3, noise_density=0.02), zeros)
    assert both.std() == pytest.approx(np.hypot(0.3, 0.02 / np.sqrt(STEP)), rel=0.03)


@pytest.mark.parametrize("average", [1, 10, 100])
def test_the_allan_deviation_of_a_density_falls_with_the_root_of_time(average):
    density = 0.02
    seen = outputs(channel(noise_density=density), np.zeros((60_000, 1)))[:, 0]
    means = seen.reshape(-1, average).mean(axis=1)
    allan = np.sqrt(0.5 * np.mean(np.diff(means) ** 2))
    assert allan == pytest.approx(density / np.sqrt(average * STEP), rel=0.08)


def test_the_bias_is_constant_in_a_run_and_has_its_deviation_over_seeds():
    seen = np.array(
        [outputs(channel(50, seed=it, bias=2.0), np.zeros((3, 50))) for it in range(40)]
    )
    np.testing.assert_array_equal(seen[:, 0], seen[:, 2])
    assert seen[:, 0].std() == pytest.approx(2.0, rel=0.06)


def test_the_bias_walks_with_the_root_of_time_whatever_the_interval():
    for interval in (0.0, 0.01):
        seen = outputs(channel(4000, bias_walk=0.5, interval=interval), np.zeros((401, 4000)))
        for time in (0.1, 0.4):
            deviation = seen[round(time / STEP)].std()
            assert deviation == pytest.approx(0.5 * np.sqrt(time + max(interval, STEP)), rel=0.05)


ALL = {
    "interval": 0.002,
    "delay": 0.005,
    "jitter": 0.004,
    "dropout": 0.1,
    "noise": 0.1,
    "bias": 1.0,
    "bias_walk": 0.2,
    "quantisation": 0.001,
}


def test_the_seed_and_the_key_determine_all_and_a_reset_repeats_it():
    truth = np.random.default_rng(2).standard_normal((300, 3))
    made = channel(3, **ALL)
    first = outputs(made, truth)
    np.testing.assert_array_equal(outputs(channel(3, **ALL), truth), first)
    made.reset()
    np.testing.assert_array_equal(outputs(made, truth), first)
    assert (outputs(channel(3, seed=1, **ALL), truth) != first).any()
    assert (outputs(channel(3, key="other", **ALL), truth) != first).any()


def test_a_saved_state_continues_with_the_same_bits():
    truth = np.random.default_rng(2).standard_normal((300, 3))
    made = channel(3, **ALL)
    outputs(made, truth[:130])
    saved = made.save()
    rest = outputs(made, truth[130:])
    made.restore(saved)
    np.testing.assert_array_equal(outputs(made, truth[130:]), rest)
    other = channel(3, **ALL)
    other.restore(saved)
    np.testing.assert_array_equal(outputs(other, truth[130:]), rest)


def test_after_other_delays_a_saved_state_begins_without_what_was_in_flight():
    made = channel(delay=0.005)
    outputs(made, ramp(20))
    saved = made.save()
    made.configure([stream(1, delay=0.002)], STEP)
    made.restore(saved)
    np.testing.assert_array_equal(outputs(made, ramp(30)[20:])[:, 0], [20, 20, *range(20, 28)])


def test_a_change_of_noise_keeps_what_is_in_flight():
    made = channel(delay=0.003)
    outputs(made, ramp(10))
    made.configure([stream(1, delay=0.003, quantisation=10.0)], STEP)
    np.testing.assert_array_equal(outputs(made, ramp(15)[10:])[:, 0], [7, 8, 9, 10, 10])


def test_a_restart_forgets_what_is_in_flight():
    made = channel(delay=0.003)
    outputs(made, ramp(10))
    made.restart()
    np.testing.assert_array_equal(outputs(made, ramp(15)[10:])[:, 0], [10, 10, 10, 10, 11])


def test_samples_can_be_corrected():
    def correct(sample: np.ndarray, truth: np.ndarray) -> None:
        sample[:] = np.maximum(sample, truth)

    made = ImperfectChannel("arm", 0, 2, correct)
    made.configure([stream(2, noise=1.0)], STEP)
    assert (outputs(made, np.zeros((100, 2))) >= 0.0).all()


def test_samples_in_flight_have_a_limit():
    made, late = channel(5), Transport(delay=1.0, jitter=1.0)
    made.check(late, 1.1e-5, "here")
    with pytest.raises(UserInputError) as caught:
        made.check(late, 1e-5, "here")
    assert str(caught.value) == (
        "here: too large: 200001 samples in flight of 5 numbers (delay + jitter of 2 s, "
        "timestep of 1e-05 s), 1000005 numbers, limit 1000000"
    )
