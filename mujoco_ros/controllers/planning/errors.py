"""Why a motion cannot be had."""


class MotionError(Exception):
    """No motion does what was asked; the message says why, with the numbers."""


class IkError(MotionError):
    """No posture brings the tool there."""


class BlockedError(IkError):
    """Postures bring the tool there, but something touches in each of them."""


class CollisionError(MotionError):
    """Something touches at the start, at the goal or on a way that is fixed."""


class NoPathError(MotionError):
    """The planner found no way in the iterations it was given."""


class LineError(MotionError):
    """The joints cannot lead the tool along the straight line."""


class TimingError(MotionError):
    """The limits allow no way of passing the path."""


class PlannerDiedError(MotionError):
    """The process that was planning is gone."""
