"""What the joints are told at this instant."""

import numpy as np


class References:
    """One reference per scalar joint; the PD law sums position, velocity and effort.

    Attributes:
        values: All of them; the rows are the three below.  # (3, n)
        q: Position [rad or m].  # (n,)
        dq: Velocity [rad/s or m/s].  # (n,)
        tau: Feed-forward effort [Nm or N].  # (n,)
    """

    def __init__(self, values: np.ndarray) -> None:
        """Take `values` as they are, not a copy of them."""
        self.rebind(values)

    @classmethod
    def holding(cls, q: np.ndarray) -> "References":
        """Return references that hold `q` still."""
        return cls(np.stack([q, np.zeros_like(q), np.zeros_like(q)]))

    def part(self, joints: slice) -> "References":
        """Return the references of some joints, which stay one with these."""
        return References(self.values[:, joints])

    def rebind(self, values: np.ndarray) -> None:
        """Take other `values` as they are from now on; whoever has views of the old ones asks anew.

        Args:
            values: The new ones, for the same joints.  # (3, n)
        """
        self.values = values
        self.q, self.dq, self.tau = values

    def assign(self, other: "References") -> None:
        """Take over the values of `other`."""
        self.values[:] = other.values
