"""The filter of three axes in one equals a Kalman filter of the whole state."""

import numpy as np
import pytest

from mujoco_ros.controllers.estimation.base_estimator import ContactKalmanFilter, EstimatorConfig

PERIOD = 0.01
DEVIATIONS = {"acceleration": 0.5, "slip": 0.01, "kinematics": 0.003, "contact": 0.02}


class WholeFilter:
    """A Kalman filter by the book, of the states of all axes, with Joseph's form."""

    def __init__(self, position: np.ndarray) -> None:
        self.x = np.concatenate((position, np.zeros(9)))
        self.p = np.diag([0.0] * 6 + [1e4] * 6)

    def predict(self, acceleration: np.ndarray) -> None:
        f, eye = np.eye(12), np.eye(3)
        f[:3, 3:6] = PERIOD * eye
        self.x = f @ self.x
        self.x[:3] += 0.5 * PERIOD**2 * acceleration
        self.x[3:6] += PERIOD * acceleration
        noise = np.repeat((0.0, DEVIATIONS["acceleration"], *[DEVIATIONS["slip"]] * 2), 3) ** 2
        self.p = f @ self.p @ f.T + np.diag(noise * PERIOD)

    def measure(self, foot: int, offset: np.ndarray, velocity: np.ndarray, trust: float) -> None:
        h = np.zeros((6, 12))
        h[:3, 6 + 3 * foot : 9 + 3 * foot] = np.eye(3)
        h[:3, :3] = -np.eye(3)
        h[3:, 3:6] = np.eye(3)
        r = np.repeat((DEVIATIONS["kinematics"], DEVIATIONS["contact"]), 3) ** 2 / trust**2
        k = self.p @ h.T @ np.linalg.inv(h @ self.p @ h.T + np.diag(r))
        self.x = self.x + k @ (np.concatenate((offset, -velocity)) - h @ self.x)
        i = np.eye(12) - k @ h
        self.p = i @ self.p @ i.T + k @ np.diag(r) @ k.T


def test_it_equals_a_filter_of_the_whole_state():
    random = np.random.default_rng(3)
    start = np.array([0.1, -0.2, 0.8])
    shared, whole = ContactKalmanFilter(2, EstimatorConfig(**DEVIATIONS)), WholeFilter(start)
    shared.reset(start)
    for _ in range(200):
        acceleration = random.normal(size=3)
        shared.predict(acceleration, PERIOD)
        whole.predict(acceleration)
        for foot in range(2):
            offset, velocity = random.normal(size=3), 0.1 * random.normal(size=3)
            trust = float(random.uniform(0.1, 1.0))
            shared.measure(foot, offset, velocity, trust)
            whole.measure(foot, offset, velocity, trust)
    np.testing.assert_allclose(shared.states.ravel(), whole.x, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.kron(shared.covariance, np.eye(3)), whole.p, rtol=1e-5, atol=1e-9)


def test_a_lifted_foot_does_not_pull_the_base():
    kalman = ContactKalmanFilter(2, EstimatorConfig(**DEVIATIONS))
    kalman.reset(np.zeros(3))
    for _ in range(100):
        kalman.predict(np.zeros(3), PERIOD)
        for foot in range(2):
            kalman.measure(foot, np.array([0.0, 0.1, -0.8]), np.zeros(3), 1.0)
    kalman.lift(0)
    kalman.measure(0, np.array([0.5, 0.1, -0.8]), np.zeros(3), 1.0)
    np.testing.assert_allclose(kalman.states[0], np.zeros(3), atol=1e-6)
    assert kalman.states[2, 0] == pytest.approx(0.5, abs=1e-3)
