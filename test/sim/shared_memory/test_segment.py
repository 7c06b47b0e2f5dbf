"""The row of a state, for any model."""

import dataclasses

import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.sample import Sample
from mujoco_ros.sim.shared_memory.segment import row_arrays, row_pieces, row_words
from mujoco_ros.sim.state.state_vector import (
    StateField,
    set_state,
    state_fields,
    state_vector,
)

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


def components(model: mujoco.MjModel, data: mujoco.MjData) -> list[StateField]:
    """Return the engine's own fields, but the time."""
    return [it for it in state_fields(model, data) if it.bit and it.shape]


def filled(model: mujoco.MjModel, seed: int) -> mujoco.MjData:
    """Return a state of numbers by chance."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    for name in ("sensordata", "qfrc_actuator"):
        getattr(data, name)[:] = rng.normal(size=getattr(data, name).shape)
    for field in components(model, data):
        array = getattr(data, field.name)
        array[:] = rng.integers(0, 2, array.shape) if array.dtype == bool else rng.normal()
    data.eq_active[:] = 1, 0, 1
    return data


def sampled(state: np.ndarray, sensordata: np.ndarray) -> Sample:
    """Return a sample with a state and sensor readings."""
    rest = {it.name: np.empty(0) for it in dataclasses.fields(Sample)}
    return Sample(**rest | {"state": state, "sensordata": sensordata})


@pytest.mark.parametrize("noise", [False, True], ids=["as measured", "with noise"])
def test_a_row_carries_the_whole_state_bitwise_in_four_copies(noise):
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    data, other, references = filled(model, 1), mujoco.MjData(model), np.ones((3, 1))
    measured = np.full(model.nsensordata, 7.0) if noise else data.sensordata
    sample = sampled(state_vector(model, data), measured)
    written = row_arrays(sample.state, data, references, sample)
    row = memoryview(bytearray(8 * row_words(written)))
    writing = row_pieces(row, written)
    assert len(writing) == 4
    for part, own in writing:
        part[:] = own
    state, copied = np.zeros_like(sample.state), np.zeros_like(references)
    for part, own in row_pieces(row, row_arrays(state, other, copied)):
        own[:] = part
    set_state(model, other, state)
    for field in components(model, data):
        name = field.name
        assert getattr(other, name).tobytes() == getattr(data, name).tobytes(), name
    assert other.sensordata.tobytes() == measured.tobytes()
    assert other.qfrc_actuator.tobytes() == data.qfrc_actuator.tobytes()
    assert (copied == references).all()


def test_a_model_without_joints_has_a_row():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data, references = mujoco.MjData(model), np.zeros((3, 0))
    arrays = row_arrays(state_vector(model, data), data, references)
    row = memoryview(bytearray(8 * row_words(arrays)))
    for part, own in row_pieces(row, arrays):
        part[:] = own
