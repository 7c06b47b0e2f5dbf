"""Plot of the committed curve of the training of `trot_policy`."""

from pathlib import Path

import numpy as np
from plot import Line, Panel, draw

_CURVE = Path(__file__).resolve().parents[1] / "training" / "results" / "trot_policy.csv"
_BLUE, _ORANGE, _GREEN = "#2f6fad", "#d9822b", "#3d8b57"
_PERIOD_S = 0.02


def training_plot() -> str:
    """Return an SVG of the means of finished episodes: reward, its largest terms, length."""
    curve = np.genfromtxt(_CURVE, delimiter=",", names=True)
    steps, length = curve["steps"] / 1e6, curve["length"]
    terms = (("velocity", _BLUE), ("gait", _ORANGE), ("yaw_rate", _GREEN))
    return draw(
        [
            [Panel(title="reward of an episode", lines=[Line(x=steps, y=curve["sum_reward"])])],
            [
                Panel(
                    title="largest terms of the reward, per second",
                    lines=[
                        Line(x=steps, y=curve[name] / length, label=name, colour=colour)
                        for name, colour in terms
                    ],
                )
            ],
            [
                Panel(
                    title="length of an episode",
                    y_label="[s]",
                    lines=[Line(x=steps, y=_PERIOD_S * length)],
                )
            ],
        ],
        title="Training of trot_policy",
        x_label="steps of the policy [million]",
        width=720,
        height=150,
    )
