"""The row of a state, for any model."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.sample import MOVING, Sample
from mujoco_ros.sim.shared_memory.state_row import copies, size

EVERYTHING = """
<mujoco>
  <size nuserdata="3"/>
  <worldbody>
    <body name="puppet" mocap="true"/><body><freejoint/><geom size="0.1"/></body>
    <body>
      <joint name="j" axis="0 0 1"/><geom size="0.1"/><site name="s"/>
    </body>
  </worldbody>
  <equality><joint joint1="j"/><joint joint1="j"/><joint joint1="j"/></equality>
  <actuator><motor joint="j"/><position joint="j" timeconst="0.1"/></actuator>
  <sensor><gyro site="s"/><jointpos joint="j"/></sensor>
</mujoco>"""
SAMPLED = ("qpos", "qvel", "act", "plugin_state", "sensordata")
OTHERS = (
    *("ctrl", "qacc_warmstart", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos"),
    *("mocap_quat", "userdata", "qfrc_actuator"),
)


def filled(model: mujoco.MjModel, seed: int) -> mujoco.MjData:
    """Return a state of numbers by chance."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    for name in (*SAMPLED, *OTHERS):
        array = getattr(data, name)
        array[:] = (
            rng.integers(0, 2, array.shape) if name == "eq_active" else rng.normal(size=array.shape)
        )
    return data


def sampled(data: mujoco.MjData, sensordata: np.ndarray | None = None) -> Sample:
    """Return a sample in one piece of memory, as a plant has it."""
    ends = np.cumsum([getattr(data, name).size for name in MOVING])
    moving = np.split(np.arange(ends[-1], dtype=float), ends[:-1])
    others = ("qacc", "qfrc_actuator", "xpos", "xquat", "cam_xpos", "cam_xmat")
    joints = ("measured_qpos", "measured_qvel", "measured_effort")
    rest = {name: np.empty(0) for name in (*others, *joints)}
    measured = data.sensordata if sensordata is None else sensordata
    return Sample(**dict(zip(MOVING, moving, strict=True)), sensordata=measured, **rest)


@pytest.mark.parametrize("noise", [False, True], ids=["as measured", "with noise"])
def test_a_row_carries_the_whole_state_bitwise_in_few_copies(noise):
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    data, other, references = filled(model, 1), mujoco.MjData(model), np.ones((3, 1))
    sample = sampled(data, np.full(model.nsensordata, 7.0) if noise else None)
    row = memoryview(bytearray(8 * size(data, references)))
    copied = np.zeros_like(references)
    writing = copies(row, data, references, sample)
    assert len(writing) == 4 + noise
    for part, own in writing:
        part[:] = own
    for part, own in copies(row, other, copied):
        own[:] = part
    for name in SAMPLED:
        assert getattr(other, name).tobytes() == getattr(sample, name).tobytes(), name
    for name in OTHERS:
        assert getattr(other, name).tobytes() == getattr(data, name).tobytes(), name
    assert (copied == references).all()


def test_a_model_without_joints_has_a_row():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data, references = mujoco.MjData(model), np.zeros((3, 0))
    row = memoryview(bytearray(8 * size(data, references)))
    for part, own in copies(row, data, references, sampled(data)):
        part[:] = own
