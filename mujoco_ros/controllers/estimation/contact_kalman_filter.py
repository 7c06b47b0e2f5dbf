"""Kalman filter of a point of the base and of the feet that stand."""

import numpy as np

_UNKNOWN = 1e4
"""Variance of a foot's position before it is measured [m²]."""


class ContactKalmanFilter:
    """Position and velocity of an IMU, and positions of the feet.

    The state is predicted with the acceleration of the IMU. A foot in contact measures its position
    relative to the IMU, and that it does not move. All covariances are equal along the three axes
    of ``world``, so that one covariance matrix serves all of them.

    Source: M. Bloesch et al., State Estimation for Legged Robots: Consistent Fusion of Leg
    Kinematics and IMU, Robotics: Science and Systems 2012, with the orientation known, as in
    G. Bledt et al., MIT Cheetah 3, IROS 2018.

    Attributes:
        states: Position and velocity of the IMU, then the position of each foot.  # (2 + k, 3)
        covariance: The same for each axis.  # (2 + k, 2 + k)
    """

    def __init__(
        self, feet: int, *, acceleration: float, slip: float, kinematics: float, contact: float
    ) -> None:
        """Set standard deviations.

        Args:
            feet: Number of feet.
            acceleration: Of the measured acceleration, per root of time [m/s² √s].
            slip: Of the position of a foot in contact, per root of time [m/√s].
            kinematics: Of the measured position of a foot [m].
            contact: Of the velocity of a foot in contact [m/s].
        """
        size = 2 + feet
        self.states, self.covariance = np.zeros((size, 3)), np.zeros((size, size))
        self._acceleration, self._slip = acceleration**2, slip**2
        self._kinematics, self._contact = kinematics**2, contact**2
        self._transition = np.eye(size)
        self._product = np.zeros((size, size))
        self._gain = np.zeros(size)

    def reset(self, position: np.ndarray) -> None:
        """Rest at a position; the feet are unknown."""
        self.states[:] = 0.0
        self.states[0] = position
        self.covariance[:] = 0.0
        np.fill_diagonal(self.covariance[2:, 2:], _UNKNOWN)

    def predict(self, acceleration: np.ndarray, period: float) -> None:
        """Move with an acceleration in ``world`` [m/s²] for `period` [s]."""
        states, covariance, transition = self.states, self.covariance, self._transition
        states[0] += period * (states[1] + 0.5 * period * acceleration)
        states[1] += period * acceleration
        transition[0, 1] = period
        np.matmul(transition, covariance, out=self._product)
        np.matmul(self._product, transition.T, out=covariance)
        covariance[1, 1] += self._acceleration * period
        covariance.flat[2 * len(states) + 2 :: len(states) + 1] += self._slip * period

    def lift(self, foot: int) -> None:
        """Forget where a foot is, as it may move."""
        row = 2 + foot
        self.covariance[row] = self.covariance[:, row] = 0.0
        self.covariance[row, row] = _UNKNOWN

    def measure(
        self, foot: int, offset: np.ndarray, velocity: np.ndarray, confidence: float
    ) -> None:
        """Use the kinematics of a foot in contact.

        Args:
            foot: Its number.
            offset: From the IMU to the foot in ``world`` [m].  # (3,)
            velocity: Of the foot relative to the IMU, in ``world`` [m/s].  # (3,)
            confidence: That it is in contact, above 0, at most 1.
        """
        scale = 1.0 / (confidence * confidence)
        self._correct(2 + foot, 0, offset, self._kinematics * scale)
        self._correct(1, -1, -velocity, self._contact * scale)

    def _correct(self, plus: int, minus: int, value: np.ndarray, variance: float) -> None:
        """Use the measured state `plus`, less the state `minus` if that is not -1."""
        states, covariance, gain = self.states, self.covariance, self._gain
        innovation = value - states[plus]
        gain[:] = covariance[:, plus]
        if minus >= 0:
            innovation += states[minus]
            gain -= covariance[:, minus]
        total = float(gain[plus]) - (float(gain[minus]) if minus >= 0 else 0.0) + variance
        share = gain / total
        np.multiply(gain[:, None], share, out=self._product)
        covariance -= self._product
        states += share[:, None] * innovation
