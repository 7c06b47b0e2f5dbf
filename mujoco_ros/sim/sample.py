"""The measured state at one instant."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sample:
    """The measured state at one instant; the arrays are reused by the next step.

    MuJoCo's step evaluates positions, forces and sensors before it integrates, so this is the state
    at the beginning of the step: all of it belongs to the same time, except what channels delay
    (see `sim.realism`): the measured numbers of joints, which are the same arrays as the true ones
    without channels, and the sensor readings.

    Attributes:
        state: All of the engine's state, which `qpos`, `qvel`, `act` and `plugin_state` are views
            of; `state_fields` lists it.  # (nstate,)
        qpos: Positions.  # (nq,)
        qvel: Velocities; of free joints: linear in the world, angular in the body.  # (nv,)
        act: Actuator activations.  # (na,)
        plugin_state: State of engine plugins.  # (npluginstate,)
        qacc: Accelerations, in the same frames.  # (nv,)
        qfrc_actuator: Actuator forces in joint space [Nm or N].  # (nv,)
        sensordata: Sensor readings.  # (nsensordata,)
        xpos: Body positions in the world.  # (nbody, 3)
        xquat: Body orientations in the world, wxyz.  # (nbody, 4)
        cam_xpos: Camera positions in the world.  # (ncam, 3)
        cam_xmat: Camera orientations in the world.  # (ncam, 9)
        measured_qpos: Positions as encoders and odometry measure them, else as `qpos`.  # (nq,)
        measured_qvel: As for positions.  # (nv,)
        measured_effort: As for positions, of `qfrc_actuator`.  # (nv,)
    """

    state: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    plugin_state: np.ndarray
    qacc: np.ndarray
    qfrc_actuator: np.ndarray
    sensordata: np.ndarray
    xpos: np.ndarray
    xquat: np.ndarray
    cam_xpos: np.ndarray
    cam_xmat: np.ndarray
    measured_qpos: np.ndarray
    measured_qvel: np.ndarray
    measured_effort: np.ndarray
