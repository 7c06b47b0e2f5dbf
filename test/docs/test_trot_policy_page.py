"""The page about trot_policy has the numbers of the table and of the training."""

import re
from dataclasses import asdict
from pathlib import Path

from training.policy_table import load_policy_table
from training.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/trot_policy.md").read_text(encoding="utf-8")


def test_the_weights_of_the_reward_are_those_of_the_training():
    rows = re.findall(r"^\| `(\w+)` \| (-?[\d.e-]+) \|", PAGE, re.M)
    assert {name: float(value) for name, value in rows} == asdict(Settings().weights)


def test_the_randomised_ranges_are_those_of_the_training():
    given = Settings().randomisation
    factors = (given.trunk_mass, given.link_mass, given.kp, given.kd, given.armature)
    for low, high in factors:
        assert f"× {low:g} to {high:g}" in PAGE
    low, high = given.friction
    assert f"| {low:g} to {high:g} |" in PAGE
    assert f"| 0 to {1e3 * given.delay[1]:g} ms |" in PAGE
    assert f"up to {given.push:g} m/s" in PAGE
    assert f"± {1e2 * given.trunk_com:g} cm" in PAGE
    errors = (given.position_noise, given.velocity_noise, given.rate_noise, given.gravity_noise)
    assert "± {:g} rad, {:g} rad/s, {:g} rad/s, {:g} |".format(*errors) in PAGE


def test_gains_and_periods_are_those_of_the_table():
    table = load_policy_table()
    assert f"`kp` {table.kp:g} Nm/rad, `kd` {table.kd:g} Nm s/rad" in PAGE
    assert f"runs at {1.0 / table.period:g} Hz, the controller at {1.0 / table.tick:g} Hz" in PAGE
    assert f"a period of {table.setting('gait_phase', 'period'):g} s" in PAGE
    size = (ROOT / "mujoco_ros/controllers/library/trot_policy/trot_policy.onnx").stat().st_size
    assert f"has {1e-3 * size:.0f} kB" in PAGE
