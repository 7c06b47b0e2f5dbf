"""Errors of planning."""


class MotionError(Exception):
    """No motion satisfies a request; the message gives the reason with numbers."""


class IkError(MotionError):
    """No configuration brings the tool to the pose."""


class BlockedError(IkError):
    """All configurations that bring the tool to the pose are in collision."""


class CollisionError(MotionError):
    """There is a collision at the start, at the goal, or on a straight line."""


class NoPathError(MotionError):
    """The planner found no path within its iterations."""


class LineError(MotionError):
    """The joints cannot move the tool along the straight line."""


class TimingError(MotionError):
    """The limits allow no motion along the path."""


class PlannerDiedError(MotionError):
    """The planning process ended before it returned a plan."""
