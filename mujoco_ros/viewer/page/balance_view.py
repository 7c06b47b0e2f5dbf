"""The balance of a robot from above, drawn with x of the world to the right."""

import math
from typing import Any

import numpy as np

from mujoco_ros.viewer.overlays.balance import Balance
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session

_LEAST_M = 0.3  # width of the view [m]
_MARGIN = 1.25  # width of the view in widths of what it shows
_POINT = 0.05  # radius of a point in half widths of the view


class BalanceView(LiveElement):
    """A drawing of the support polygon and of the points that have to be over it."""

    def __init__(self, robot: str) -> None:
        """Create the view of a robot in the container that is active."""
        super().__init__(current_session().feed, "content", tag="div")
        self._name = f"Balance of {robot} from above"
        self.classes("balance-view")

    def show(self, balance: Balance) -> None:
        """Show a balance."""
        named = (("com", balance.centre), ("dcm", balance.capture), ("zmp", balance.pressure))
        points = {name: point for name, point in named if point is not None}
        all_points = np.vstack([*balance.support, *points.values()])  # (n, 2)
        low, high = all_points.min(axis=0), all_points.max(axis=0)
        width = max(_LEAST_M, _MARGIN * float((high - low).max()))

        def place(point: np.ndarray) -> tuple[float, float]:
            x, y = 2.0 * (point - 0.5 * (low + high)) / width
            return round(float(x), 3), round(-float(y), 3)

        shapes: list[tuple[str, dict[str, Any]]] = []
        if len(balance.support) > 1:
            corners = " ".join("{},{}".format(*place(corner)) for corner in balance.support)
            look = "stable" if balance.is_stable else "unstable"
            shapes.append(("polygon", {"points": corners, "class": look}))
        for name, point in points.items():
            x, y = place(point)
            shapes.append(("circle", {"cx": x, "cy": y, "r": _POINT, "class": f"point {name}"}))
        scale = 10.0 ** math.floor(math.log10(0.5 * width))
        end = round(-0.95 + 2.0 * scale / width, 3)
        shapes.append(("line", {"x1": -0.95, "y1": 0.93, "x2": end, "y2": 0.93, "class": "scale"}))
        words = [
            (name, f"{name.upper()} {', '.join(format_decimals(v, 3) for v in point)} m")
            for name, point in points.items()
        ]
        legend = [
            ("span", {"class": name}, text) for name, text in [*words, ("", f"line: {scale:.2f} m")]
        ]
        drawn = "svg", {"viewBox": "-1 -1 2 2", "role": "img", "aria-label": self._name}, *shapes
        self.set(tree=[drawn, ("div", {"class": "legend-words"}, *legend)])
