import numpy as np
import pytest
from scipy.optimize import linprog

from mujoco_ros.controllers.planning.time_scaling import RateBound, fastest_rates


def shaken(seed, points=60, joints=3):
    """First and second derivatives of a wavy curve, limits, and a load on its joints."""
    random = np.random.default_rng(seed)
    where = np.cumsum(random.uniform(0.01, 0.05, points))
    waves = random.uniform(0.5, 4.0, joints)
    first = np.cos(np.outer(where, waves)) * random.uniform(0.1, 2.0, joints)
    second = -np.sin(np.outer(where, waves)) * random.uniform(0.1, 4.0, joints)
    load = 0.9 * np.sin(np.outer(where, waves[::-1]))
    bounded = RateBound(first, second, -1.0 - load, 1.0 - load)
    return where, random.uniform(0.3, 3.0, points), bounded


def rooms(where, rate, bounded):
    """Yield the distance from the bounds at both ends of each stretch."""
    u = np.diff(rate**2) / (2.0 * np.diff(where))
    for ends in (slice(None, -1), slice(1, None)):
        first, second, low, high = (it[ends] for it in bounded)
        value = first * u[:, None] + second * rate[ends, None] ** 2
        yield np.minimum(value - low, high - value).min(axis=1)


def fastest_of_all(where, most, bounded):
    """Return the rates of a linear program over all points at once."""
    count, rows, room = len(where), [], []
    for i, step in enumerate(2.0 * np.diff(where)):
        for at in (i, i + 1):
            for first, second, low, high in zip(*(it[at] for it in bounded), strict=True):
                row = np.zeros(count)
                row[[i, i + 1]] = -first / step, first / step
                row[at] += second
                rows += [row, -row]
                room += [high, -low]
    limits = [(0.0, 0.0), *((0.0, one**2) for one in most[1:-1]), (0.0, 0.0)]
    return np.sqrt(linprog(-np.ones(count), np.array(rows), np.array(room), bounds=limits).x)


def duration(where, rate):
    return (2.0 * np.diff(where) / (rate[:-1] + rate[1:])).sum()


@pytest.mark.parametrize("seed", range(8))
def test_all_bounds_are_kept_and_the_rates_are_optimal(seed):
    where, most, bounded = shaken(seed)
    rate = fastest_rates(where, most, bounded)
    assert rate[0] == rate[-1] == 0.0
    assert (rate[1:-1] > 0.0).all()
    assert (rate <= most + 1e-9).all()
    assert min(room.min() for room in rooms(where, rate, bounded)) > -1e-6
    took, least = (duration(where, it) for it in (rate, fastest_of_all(where, most, bounded)))
    assert took == pytest.approx(least, rel=1e-3)


def test_two_bounds_are_both_kept():
    where, most, bounded = shaken(3)
    free = fastest_rates(where, most, bounded)
    one = np.ones((len(where), 1))
    slow = fastest_rates(where, most, bounded, RateBound(one, 0.0 * one, -0.2 * one, 0.1 * one))
    bend = np.diff(slow**2) / (2.0 * np.diff(where))
    assert bend.max() <= 0.1 + 1e-6
    assert bend.min() >= -0.2 - 1e-6
    assert (slow <= free + 1e-6).all()


def test_a_bound_of_the_square_alone_limits_the_rate():
    """A point where acceleration moves no joint, as in the middle of a turn."""
    where = np.linspace(0.0, 2.0, 41)
    bend = np.exp(-(((where - 1.0) / 0.1) ** 2))[:, None]
    along = np.where(np.abs(where - 1.0) < 0.2, 0.0, 1.0)[:, None]
    one = np.ones_like(bend)
    rate = fastest_rates(where, np.full(41, 9.0), RateBound(along, 4.0 * bend, -one, one))
    assert rate[20] == pytest.approx(0.5)


def test_bounds_that_exclude_rest_have_no_solution():
    where = np.linspace(0.0, 1.0, 11)
    one = np.ones((11, 1))
    stuck = RateBound(0.0 * one, one, np.where(where[:, None] == 0.5, 1.0, -1.0), 2.0 * one)
    slow = np.full(11, 0.5)
    assert fastest_rates(where, slow, stuck) is None
