"""Values of `MjData` by expressions."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.data_fields import field_names, sensors, value_of, written

MODEL = """
<mujoco>
  <worldbody>
    <body pos="0 0 1"><freejoint/><geom size="0.1" mass="1"/><site name="tip"/></body>
  </worldbody>
  <sensor><accelerometer name="felt" site="tip"/></sensor>
</mujoco>
"""


@pytest.fixture
def scene():
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_a_field_an_element_and_a_number_are_found(scene):
    _, data = scene
    np.testing.assert_array_equal(value_of(data, "xpos[1]"), [0.0, 0.0, 1.0])
    assert value_of(data, " xpos[1][2] ") == 1.0
    assert value_of(data, "time") == 0.0
    assert {"qpos", "time", "sensordata"} <= set(field_names(data))


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("qpos[", "is not written as qpos"),
        ("qpos; import os", "is not written as qpos"),
        ("__class__", "no field '__class__'"),
        ("model", "no field 'model'"),
        ("xpos[7]", r"has the shape \(2, 3\)"),
        ("time[0]", r"has the shape \(\)"),
    ],
)
def test_what_is_no_field_is_refused(scene, expression, problem):
    with pytest.raises(UserInputError, match=problem):
        value_of(scene[1], expression)


def test_numbers_are_short_and_have_no_negative_zero():
    assert written(np.array([-0.0, 1.0, -1e-7, 0.123456])) == "0 1 0 0.1235"
    assert written(np.array(-2.5)) == "−2.5"
    assert written(np.arange(20.0)).endswith("11 … and 8 more")
    assert written(np.array([np.nan])) == "nan"


def test_sensors_have_names_kinds_and_values(scene):
    model, data = scene
    ((name, kind, values, share),) = sensors(model, data)
    assert (name, kind, share) == ("felt", "accelerometer", "")
    assert values.shape == (3,)
    model.sensor_cutoff[0], data.sensordata[:3] = 20.0, (1.0, -5.0, 2.0)
    assert next(sensors(model, data))[-1] == "25"
