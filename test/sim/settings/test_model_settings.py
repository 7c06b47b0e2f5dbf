"""Options of the engine that it rejects."""

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.physics_options import CHOICES, PhysicsConfig, read_options
from mujoco_ros.sim.settings.model_settings import try_options

_FLEX = """
<mujoco>
  <option integrator="discrete" solver="Newton"/>
  <worldbody>
    <flexcomp name="soft" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1" mass="1"
      radius="0.01" pos="0 0 1">
      <elasticity young="1e4" poisson="0.1"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def test_options_that_the_engine_rejects_are_refused_with_its_reason() -> None:
    model = mujoco.MjModel.from_xml_string(_FLEX)
    with pytest.raises(UserInputError, match=r"the engine rejects .*PGS"):
        try_options(model, PhysicsConfig(solver="PGS"))


@pytest.mark.parametrize(
    ("option", "value"), [(name, value) for name in CHOICES for value in CHOICES[name]]
)
def test_a_rigid_model_runs_with_every_option(option: str, value: str) -> None:
    model = mujoco.MjSpec().compile()
    try_options(model, PhysicsConfig.of({option: value}))


def test_the_check_does_not_change_the_model() -> None:
    model = mujoco.MjModel.from_xml_string(_FLEX)
    before = read_options(model.opt)
    try_options(model, PhysicsConfig(integrator="Euler", gravity=(0.0, 0.0, 1.0)))
    assert read_options(model.opt) == before
