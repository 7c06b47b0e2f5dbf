"""What the joints are told at this instant."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class References:
    """One reference per scalar joint; the PD law sums position, velocity and effort.

    Attributes:
        q: Position [rad or m].  # (n,)
        dq: Velocity [rad/s or m/s].  # (n,)
        tau: Feed-forward effort [Nm or N].  # (n,)
    """

    q: np.ndarray
    dq: np.ndarray
    tau: np.ndarray

    @classmethod
    def holding(cls, q: np.ndarray) -> "References":
        """Return references that hold `q` still."""
        return cls(q=q.copy(), dq=np.zeros_like(q), tau=np.zeros_like(q))

    def assign(self, other: "References") -> None:
        """Take over the values of `other`."""
        self.q[:], self.dq[:], self.tau[:] = other.q, other.dq, other.tau
