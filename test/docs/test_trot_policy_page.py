"""The page about trot_policy has the numbers of the table."""

from pathlib import Path

from training.policy_table import load_policy_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/trot_policy.md").read_text(encoding="utf-8")


def test_gains_and_periods_are_those_of_the_table():
    table = load_policy_table()
    assert f"`kp` {table.kp:g} Nm/rad, `kd` {table.kd:g} Nm s/rad" in PAGE
    assert f"runs at {1.0 / table.period:g} Hz, the controller at {1.0 / table.tick:g} Hz" in PAGE
    assert f"a period of {table.setting('gait_phase', 'period'):g} s" in PAGE
    size = (ROOT / "mujoco_ros/controllers/library/trot_policy/trot_policy.onnx").stat().st_size
    assert f"has {1e-3 * size:.0f} kB" in PAGE
