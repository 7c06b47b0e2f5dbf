"""How long a frame may take before it counts as hanging."""

from mujoco_ros.sim.shared_memory.reader import PATIENCE_S

FIRST_S = 60.0
"""How long a first frame may take: shaders are compiled, textures uploaded."""
_TIMES_THE_LONGEST = 4.0
_FADING = 0.9
"""What is left of the longest frame's length with each one that comes after it."""


class FrameTimeout:
    """Learns from the frames of one source how long its next one may take."""

    def __init__(self) -> None:
        """Know of no frame yet."""
        self._longest_s = 0.0
        self._is_first = self._was_first = False

    def allow(self, *, first: bool) -> float:
        """Return how long the frame that is taken now may take [s].

        Args:
            first: Whether it is the first of its kind, of which those before say nothing.
        """
        self._was_first, self._is_first = self._is_first, first
        return FIRST_S if first else max(PATIENCE_S, _TIMES_THE_LONGEST * self._longest_s)

    def note(self, seconds: float) -> None:
        """Note how long it took."""
        # A first frame says something about the next one only for want of others.
        kept = 0.0 if self._was_first else _FADING * self._longest_s
        self._longest_s = max(seconds, kept)
