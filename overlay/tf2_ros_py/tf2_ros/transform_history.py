"""The transforms of one frame to its parent over time."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from tf2_ros.exceptions import ExtrapolationException


@dataclass(frozen=True, kw_only=True, eq=False)
class Rigid:
    """A rigid transform.

    Attributes:
        translation: [m]  # (3,)
        rotation: Unit quaternion x, y, z, w.  # (4,)
    """

    translation: np.ndarray
    rotation: np.ndarray

    def __matmul__(self, other: "Rigid") -> "Rigid":
        """Return this transform after another one."""
        translation = self.translation + rotated(self.rotation, other.translation)
        return Rigid(translation=translation, rotation=product(self.rotation, other.rotation))

    def inverse(self) -> "Rigid":
        """Return the inverse transform."""
        rotation = self.rotation * (-1.0, -1.0, -1.0, 1.0)
        return Rigid(translation=-rotated(rotation, self.translation), rotation=rotation)


IDENTITY = Rigid(translation=np.zeros(3), rotation=np.array([0.0, 0.0, 0.0, 1.0]))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of two quaternions x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def rotated(rotation: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return a vector turned by a quaternion x, y, z, w."""
    twice = 2.0 * np.cross(rotation[:3], vector)
    turned: np.ndarray = vector + rotation[3] * twice + np.cross(rotation[:3], twice)
    return turned


def interpolated(a: Rigid, b: Rigid, part: float) -> Rigid:
    """Return the transform between two: linear in position, along the great arc in rotation."""
    end, cosine = b.rotation, float(a.rotation @ b.rotation)
    if cosine < 0.0:
        end, cosine = -end, -cosine
    angle = np.arccos(min(cosine, 1.0))
    weights = (1.0 - part, part)
    if angle > 1e-6:
        weights = (np.sin(weights[0] * angle) / np.sin(angle), np.sin(part * angle) / np.sin(angle))
    rotation = weights[0] * a.rotation + weights[1] * end
    return Rigid(
        translation=(1.0 - part) * a.translation + part * b.translation,
        rotation=rotation / np.linalg.norm(rotation),
    )


class TransformHistory:
    """The transforms of a frame to its parent within the cache time, or the only one if static.

    Attributes:
        parent: Name of the parent frame at the newest time.
    """

    def __init__(self, cache_ns: int, *, is_static: bool) -> None:
        """Keep the transforms of `cache_ns` nanoseconds."""
        self.is_static, self.parent = is_static, ""
        self._cache_ns = cache_ns
        self._times: list[int] = []
        self._entries: list[tuple[str, Rigid]] = []

    @property
    def newest(self) -> int:
        """Newest time [ns]; 0 if static."""
        return 0 if self.is_static else self._times[-1]

    def add(self, time: int, parent: str, transform: Rigid) -> bool:
        """Add a transform; return False if it is older than the cache time."""
        if self.is_static:
            self._times, self._entries = [], []
        elif self._times and time < self._times[-1] - self._cache_ns:
            return False
        at = bisect_right(self._times, time)
        if at and self._times[at - 1] == time:
            self._entries[at - 1] = parent, transform
        else:
            self._times.insert(at, time)
            self._entries.insert(at, (parent, transform))
        expired = bisect_right(self._times, self._times[-1] - self._cache_ns - 1)
        del self._times[:expired], self._entries[:expired]
        self.parent = self._entries[-1][0]
        return True

    def at(self, time: int) -> tuple[str, Rigid]:
        """Return parent and transform at a time [ns]; 0 is the newest time.

        Raises:
            ExtrapolationException: The time is outside of the known transforms.
        """
        times, entries = self._times, self._entries
        if self.is_static or time == 0:
            return entries[-1]
        if not times[0] <= time <= times[-1]:
            if len(times) == 1:
                only = f"but only time {1e-9 * times[0]:.6f} is in the buffer"
                raise ExtrapolationException(
                    f"Lookup would require extrapolation at time {1e-9 * time:.6f}, {only}"
                )
            where, side = ("past", "earliest") if time < times[0] else ("future", "latest")
            limit = times[0] if time < times[0] else times[-1]
            raise ExtrapolationException(
                f"Lookup would require extrapolation into the {where}.  Requested time "
                f"{1e-9 * time:.6f} but the {side} data is at time {1e-9 * limit:.6f}"
            )
        after = bisect_right(times, time)
        before = after - 1
        if times[before] == time or entries[before][0] != entries[after][0]:
            return entries[before]
        part = (time - times[before]) / (times[after] - times[before])
        return entries[before][0], interpolated(entries[before][1], entries[after][1], part)
