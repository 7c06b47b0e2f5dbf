"""The wall time of ticks on /diagnostics."""

from mujoco_ros.sim.stepping.real_time import Histogram


def tick_cost_metrics(cost: Histogram) -> dict[str, str]:
    """Return the wall time of the ticks for /diagnostics, and clear the histogram."""
    p50, p99 = cost.percentiles(50, 99)
    cost.clear()
    return {
        "tick cost p50 [us]": f"{1e6 * p50:.0f}",
        "tick cost p99 [us]": f"{1e6 * p99:.0f}",
    }
