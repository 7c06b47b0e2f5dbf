"""``python -m benchmark.fit_twins``: errors of `fit` on arms with hidden parameters."""

import argparse
import sys
import time

import numpy as np

from benchmark.hidden_twin import HiddenTwin
from mujoco_ros.identification.fit import Fit, fit
from mujoco_ros.identification.replay import replay
from mujoco_ros.identification.robot_model import KINDS, IdentifiedRobot

_HELD_OUT_S = 20.0


def main() -> None:
    """Fit twins, and print a row of errors for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--seconds", type=float, default=60.0, help="recorded; default: 60")
    options = parser.parse_args()
    kinds = " | ".join(f"{kind} [%]" for kind in KINDS)
    _row(f"| seed | delay [ms] | {kinds} | undetermined | held out, worst | before | CPU [s] |")
    _row("| --- " * (len(KINDS) + 6) + "|")
    for seed in options.seeds:
        twin = HiddenTwin(seed)
        robot = IdentifiedRobot(twin.scene, twin.scene.robots[0])
        begin = time.process_time()
        found = fit(robot, twin.record(options.seconds))
        spent = time.process_time() - begin
        other = twin.record(_HELD_OUT_S, seed=2)
        before = replay(robot, other, robot.values, found.scene_delay).ratio.max()
        after = replay(robot, other, found.values, found.delay).ratio.max()
        errors = " | ".join(f"{_worst(found, twin, kind):.2f}" for kind in KINDS)
        unsure = sum(not estimate.determined for estimate in found.estimates)
        delay = 1e3 * abs(found.delay - twin.delay)
        _row(
            f"| {seed} | {delay:.4f} | {errors} | {unsure} | {after:.3f} | {before:.0f} | "
            f"{spent:.0f} |"
        )


def _worst(found: Fit, twin: HiddenTwin, kind: str) -> float:
    """Return the largest error of a kind of parameter over the joints [%]."""
    errors = [
        abs(estimate.value / twin.truth[kind][estimate.parameter.joint] - 1.0)
        for estimate in found.estimates
        if estimate.parameter.kind == kind and estimate.determined
    ]
    return 100.0 * float(np.max(errors, initial=0.0))


def _row(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
