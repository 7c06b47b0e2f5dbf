"""Odometry: the pose of a robot from the velocities of its wheels."""

from collections import deque
from math import cos, sin

from mujoco_ros.ros2_control.drive.kinematics import Twist

_STRAIGHT = 1e-6  # turn of a step below which the arc is replaced by its chord [rad]


class Odometry:
    """Integrates velocities along arcs, and averages them.

    The pose is of the base frame in the frame ``odom``, which is where the robot began.
    """

    def __init__(self, window: int = 1) -> None:
        """Begin at the origin; velocities are means of `window` steps."""
        self.x = self.y = self.heading = 0.0  # [m, m, rad]
        self._recent: deque[Twist] = deque(maxlen=max(1, window))
        self._sum = Twist()
        self.twist = Twist()  # the mean velocity

    def set_pose(self, x: float = 0.0, y: float = 0.0, heading: float = 0.0) -> None:
        """Continue from a pose [m, m, rad], at rest."""
        self.x, self.y, self.heading = x, y, heading
        self._recent.clear()
        self._sum = self.twist = Twist()

    def integrate(self, twist: Twist, dt: float) -> None:
        """Move along the arc of a constant velocity for `dt` [s]."""
        turn = twist.turn * dt
        middle = self.heading + 0.5 * turn
        # An arc is its chord at the mean heading, shortened by sin(turn/2)/(turn/2).
        chord = dt if abs(turn) < _STRAIGHT else dt * sin(0.5 * turn) / (0.5 * turn)
        ahead, left = twist.x * chord, twist.y * chord
        self.x += ahead * cos(middle) - left * sin(middle)
        self.y += ahead * sin(middle) + left * cos(middle)
        self.heading += turn

    def average(self, twist: Twist) -> None:
        """Add a velocity to the mean of the last ones."""
        recent = self._recent
        x, y, turn = self._sum
        if len(recent) == recent.maxlen:
            oldest = recent[0]
            x, y, turn = x - oldest[0], y - oldest[1], turn - oldest[2]
        recent.append(twist)
        x, y, turn = x + twist[0], y + twist[1], turn + twist[2]
        self._sum = Twist(x, y, turn)
        count = len(recent)
        self.twist = Twist(x / count, y / count, turn / count)
