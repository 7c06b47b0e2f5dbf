"""The latest samples of a signal."""

import numpy as np
import pytest

from mujoco_ros.viewer.plots.history import History


def test_a_history_drops_samples_older_than_its_span():
    history = History(2, span_s=5.0, capacity=20)
    for time in range(53):
        history.add(float(time), np.array([time, -time]))
    assert history.times.size <= 20
    assert history.times.tolist() == list(np.arange(history.times[0], 53.0))
    assert history.times[0] <= 47.0
    np.testing.assert_array_equal(history.curve(1), -history.times)


def test_a_minute_at_the_highest_rate_keeps_every_sample():
    history = History(1, span_s=60.0)
    for time in np.arange(200_000) / 1000.0:
        history.add(time, np.zeros(1))
        if time >= 60.0:
            assert abs(history.times[-60_000] - (time - 59.999)) < 1e-9


def test_a_full_history_drops_every_second_sample():
    history = History(1, span_s=1e6, capacity=20)
    for time in range(1000):
        history.add(float(time), np.array([time]))
        assert history.times[-1] == time
        assert history.times.size <= 20
    assert history.times[0] == 0.0
    assert (np.diff(history.times) > 0.0).all()
    np.testing.assert_array_equal(history.curve(0), history.times)


def test_a_history_starts_again_when_the_time_goes_back_and_stores_each_time_once():
    history = History(1, span_s=60.0)
    for time in (1.0, 2.0, 2.0, 0.5):
        history.add(time, np.array([time]))
        if time == 2.0:
            assert history.times.tolist() == [1.0, 2.0]
    assert history.times.tolist() == [0.5]


def test_all_curves_of_a_part_share_their_times_and_keep_their_peaks():
    history = History(2, span_s=1e6, capacity=20_000)
    for sample in range(15_000):
        peak = 100.0 if sample == 7_777 else sample % 2
        history.add(0.001 * sample, np.array([peak, -2.0 * peak]))
    times, values = history.between(1.0, 14.0, 600)
    assert values.shape == (2, len(times))
    assert len(times) <= 620
    assert (times[0] > 1.0, times[-1]) == (True, pytest.approx(14.0))
    assert (np.diff(times) > 0.0).all()
    assert (values[0].max(), values[1].min(), values[0].min()) == (100.0, -200.0, 0.0)
    assert times[values[0].argmax()] == pytest.approx(7.777, abs=13.0 / 300.0)
    times, values = history.between(7.7705, 7.7805, 600)
    assert times.tolist() == pytest.approx(0.001 * np.arange(7771, 7781))
    assert values[0, 6] == 100.0


def test_replaced_samples_are_counted():
    history = History(1, span_s=60.0)
    for time in (1.0, 2.0, 3.0):
        history.drop_from(time)
        history.add(time, np.array([time]))
    assert history.cuts == 0
    history.drop_from(2.5)
    assert (history.cuts, history.times.tolist()) == (1, [1.0, 2.0])
    history.add(0.5, np.array([0.5]))
    assert history.cuts == 2
