"""What an extension writes to the state is undone if it is no number."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.extensions.runner import WriteGuard

MODEL = """
<mujoco><size nuserdata="2"/><worldbody><body><joint name="j" stiffness="9" springyield="1"/>
  <geom size=".1"/></body></worldbody>
  <actuator><position joint="j" delay=".01" nsample="6"/></actuator></mujoco>"""


@pytest.mark.parametrize("name", ["qpos", "ctrl", "userdata", "history", "plastic"])
def test_every_array_of_the_state_is_guarded(name):
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(MODEL))
    guard, before = WriteGuard(data), getattr(data, name).copy()
    guard.save()
    getattr(data, name)[-1] = np.nan
    assert not guard.is_finite()
    assert guard.culprit().startswith(f"{name}[")
    guard.restore()
    assert getattr(data, name).tobytes() == before.tobytes()
