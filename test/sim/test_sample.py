import numpy as np
import pytest

GYRO, ACCELEROMETER, QUAT = slice(0, 3), slice(3, 6), slice(6, 10)
STD = {"gyro": 0.02, "accelerometer": 0.3, "quat": 0.01}

MODEL = f"""
<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="wheel"><joint name="j" axis="0 0 1"/><geom size="0.1"/><site name="imu"/></body>
  </worldbody>
  <sensor>
    <gyro site="imu" noise="{STD["gyro"]}"/>
    <accelerometer site="imu" noise="{STD["accelerometer"]}"/>
    <framequat objtype="site" objname="imu" noise="{STD["quat"]}"/>
    <jointpos joint="j"/>
  </sensor>
</mujoco>"""


def readings(simulation, steps: int) -> np.ndarray:
    rows = np.zeros((steps, simulation.model.nsensordata))
    for row in rows:
        assert simulation.step()
        row[:] = simulation.sample.sensordata
    return rows


def test_noise_has_the_declared_deviation_and_no_bias(simulate):
    steps = 5000
    rows = readings(simulate(MODEL, sensor_noise=True), steps)
    truth = np.array([0, 0, 0, 0, 0, 9.81, 1, 0, 0, 0, 0])
    for part, name in ((GYRO, "gyro"), (ACCELEROMETER, "accelerometer")):
        error = rows[:, part] - truth[part]
        assert error.std(axis=0) == pytest.approx([STD[name]] * 3, rel=0.06)
        assert np.abs(error.mean(axis=0)).max() < 4 * STD[name] / np.sqrt(steps)
    # The vector part of a quaternion near identity carries the noise; its length stays 1.
    assert rows[:, QUAT][:, 1:].std(axis=0) == pytest.approx([STD["quat"]] * 3, rel=0.06)
    np.testing.assert_allclose(np.linalg.norm(rows[:, QUAT], axis=1), 1.0, atol=1e-12)


def test_sensors_that_declare_no_noise_have_none(simulate):
    rows = readings(simulate(MODEL, sensor_noise=True), 100)
    np.testing.assert_array_equal(rows[:, 10], 0.0)


def test_noise_is_independent_from_number_to_number_and_step_to_step(simulate):
    rows = readings(simulate(MODEL, sensor_noise=True), 5000)[:, :6]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    across = rows.T @ rows / len(rows)
    assert np.abs(across - np.eye(6)).max() < 0.07
    along = np.mean(rows[1:] * rows[:-1], axis=0)
    assert np.abs(along).max() < 0.07


def test_there_is_no_noise_unless_it_is_enabled(simulate):
    rows = readings(simulate(MODEL), 20)
    np.testing.assert_allclose(rows - rows[0], 0.0, atol=1e-12)


def test_noise_does_not_affect_the_physics(simulate):
    noisy, clean = simulate(MODEL, sensor_noise=True), simulate(MODEL)
    readings(noisy, 50)
    readings(clean, 50)
    np.testing.assert_array_equal(noisy.data.sensordata, clean.data.sensordata)
    np.testing.assert_array_equal(noisy.sample.qpos, clean.sample.qpos)


def test_a_seed_gives_the_same_noise_again_and_another_seed_other_noise(simulate):
    first = readings(simulate(MODEL, sensor_noise=True, seed=4), 50)
    again = readings(simulate(MODEL, sensor_noise=True, seed=4), 50)
    other = readings(simulate(MODEL, sensor_noise=True, seed=5), 50)
    np.testing.assert_array_equal(first, again)
    assert (first[:, :6] != other[:, :6]).all()


def test_a_reset_restarts_the_noise(simulate):
    simulation = simulate(MODEL, sensor_noise=True)
    first = readings(simulation, 50)
    assert not np.array_equal(readings(simulation, 50), first)
    simulation.reset()
    np.testing.assert_array_equal(readings(simulation, 50), first)


def test_noise_keeps_misses_and_makes_no_distance_negative(simulate):
    simulation = simulate(
        """<mujoco>
          <worldbody>
            <geom type="box" size="1 1 1" pos="0 0 1.01"/>
            <body name="b" pos="0 0 -1"><joint name="j" axis="0 0 1"/><geom size="0.1"/>
              <site name="up" pos="0 0 0.99"/><site name="down" euler="180 0 0"/></body>
          </worldbody>
          <sensor>
            <rangefinder name="hit" site="up" noise="0.05"/>
            <rangefinder name="miss" site="down" noise="0.05"/>
            <rangefinder name="far" site="up" noise="0.05" cutoff="0.015"/>
            <rangefinder name="small" site="down" noise="0.05" cutoff="0.015"/>
          </sensor>
        </mujoco>""",
        sensor_noise=True,
    )
    hit, *others = readings(simulation, 500).T
    assert hit.min() == 0.0
    assert hit.std() > 0.01
    assert [np.unique(row).tolist() for row in others] == [[-1.0], [0.015], [-0.015]]
