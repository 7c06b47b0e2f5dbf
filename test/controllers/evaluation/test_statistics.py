"""Wilson intervals, compared with published values."""

import pytest

from mujoco_ros.controllers.evaluation.report import success_interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # R. G. Newcombe, Two-sided confidence intervals for the single proportion (1998), table I.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_equal_published_ones(successes, trials, low, high):
    assert success_interval(successes, trials) == pytest.approx((low, high), abs=1e-4)


def test_no_trials_give_the_full_interval_and_all_successes_no_certainty():
    assert success_interval(0, 0) == (0.0, 1.0)
    assert success_interval(500, 500) == pytest.approx((0.99237, 1.0), abs=1e-5)
