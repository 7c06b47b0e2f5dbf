"""The one owner of the live model and state."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from mujoco_ros.control.events import Event, WasReset
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.runs import as_slice
from mujoco_ros.model.assembly import Assembly, assemble
from mujoco_ros.model.layout import Joints, Layout, lay_out
from mujoco_ros.model.scene import SceneConfig
from mujoco_ros.sim.commands import CommandQueue
from mujoco_ros.sim.configured_gains import configured_gains
from mujoco_ros.sim.drives import Drives, holding_activations, holding_controls
from mujoco_ros.sim.initial_state import InitialState, initial_state
from mujoco_ros.sim.noise import SensorNoise
from mujoco_ros.sim.robot_controls import robot_controls
from mujoco_ros.sim.saturation import Saturation

OnDivergence = Literal["reset", "pause", "shutdown"]

_BAD = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class DivergenceError(RuntimeError):
    """The simulation diverged and was told to shut down on that."""


@dataclass(frozen=True)
class Sample:
    """Everything that is true at one instant; arrays are reused by the next step.

    MuJoCo's step evaluates positions, forces and sensors before it integrates, so this is the state
    at the beginning of the step: all of it belongs to the same `time`.

    Attributes:
        qpos: Positions.  # (nq,)
        qvel: Velocities; of free joints: linear in the world, angular in the body.  # (nv,)
        qacc: Accelerations, in the same frames.  # (nv,)
        qfrc_actuator: Actuator forces in joint space [Nm or N].  # (nv,)
        sensordata: Sensor readings.  # (nsensordata,)
        xpos: Body positions in the world.  # (nbody, 3)
        xquat: Body orientations in the world, wxyz.  # (nbody, 4)
    """

    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    qfrc_actuator: np.ndarray
    sensordata: np.ndarray
    xpos: np.ndarray
    xquat: np.ndarray


class Simulation:
    """Steps a scene. Nothing here reads a clock, sleeps, or knows of ROS.

    Everything but `commands` belongs to the thread that calls `step`.
    """

    def __init__(
        self,
        config: SceneConfig,
        *,
        on_divergence: OnDivergence = "reset",
        sensor_noise: bool = False,
        seed: int = 0,
    ) -> None:
        """Load a scene and put it in its initial state.

        Args:
            config: The scene.
            on_divergence: What to do when positions, velocities or accelerations are not numbers.
            sensor_noise: Whether sensors have the noise the model declares.
            seed: Seed of the noise.

        Raises:
            ModelError: Something the scene names is missing or wrong.
        """
        self.assembly: Assembly = assemble(config)
        self.layout: Layout = lay_out(self.assembly)
        self.model = self.assembly.model
        self.data = mujoco.MjData(self.model)
        self._timestep = float(self.model.opt.timestep)
        self.commands = CommandQueue()
        self.on_divergence: OnDivergence = on_divergence
        self.paused = False
        self.time = 0.0
        """Time of the last sample [s]."""
        self.divergences = 0
        self.gain_changes = 0
        """How often gains were changed since the start; whoever changes them counts."""
        self.engine_messages: deque[str] = deque(maxlen=100)
        """What the engine warned of, oldest first; whoever logs them takes them out."""
        self._start: InitialState = initial_state(self.assembly, self.layout)
        self.joints = _all_joints(self.layout)
        self.drives = Drives(self.model, self.joints)
        self._prepare_start()
        self.references = References.holding(self._start_references.q)
        self.events: deque[Event] = deque()
        """What those who command have to be told, oldest first; whoever tells them takes it out."""
        self.on_event: Callable[[], object] = lambda: None
        """Called by the physics thread when an event was added."""
        self.controls: list[RobotControl] = robot_controls(
            self.model,
            self.layout.robots,
            self.drives,
            self.references,
            self.emit,
        )
        self._measured: list[tuple[RobotControl, Joints | None]] = []
        for control, robot in zip(self.controls, self.layout.robots, strict=True):
            qpos, dof = as_slice(robot.joints.qpos), as_slice(robot.joints.dof)
            if isinstance(qpos, slice) and isinstance(dof, slice):
                # Nothing is quicker than not to copy.
                control.q, control.dq = self.data.qpos[qpos], self.data.qvel[dof]
                control.effort = self.data.qfrc_actuator[dof]
                self._measured.append((control, None))
            else:
                self._measured.append((control, robot.joints))
        servos = np.isin(np.arange(len(self.joints.names)), self.drives.servo_joints)
        self.configured_gains = configured_gains(self.assembly, self.layout, self.data, servos)

        self._noise = SensorNoise(self.model, seed) if sensor_noise else None
        sensed = self.data
        # Runge-Kutta's later stages overwrite what it computed at the beginning of the step.
        self._forward_first = self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        if self._forward_first:
            sensed = self._sensed = mujoco.MjData(self.model)
        self.sample = Sample(
            qpos=np.zeros(self.model.nq),
            qvel=np.zeros(self.model.nv),
            qacc=sensed.qacc,
            qfrc_actuator=sensed.qfrc_actuator,
            sensordata=np.zeros(self.model.nsensordata) if sensor_noise else sensed.sensordata,
            xpos=sensed.xpos,
            xquat=sensed.xquat,
        )
        self._qpos, self._qvel, self._sensordata = self.data.qpos, self.data.qvel, sensed.sensordata
        self._ctrl, self._act = self.data.ctrl, self.data.act
        self._qfrc_actuator = self.data.qfrc_actuator
        self._before_qpos, self._before_qvel = self._qpos.copy(), self._qvel.copy()
        self._before_act, self._good_act = self.data.act.copy(), self.data.act.copy()
        self.saturation = Saturation(self.model, self.data, self.joints)
        self._warnings = self.data.warning.number
        self._warnings_seen = self._warnings.tobytes()
        mujoco.set_mju_user_warning(self.engine_messages.append)
        self.reset()

    def step(self) -> bool:
        """Advance by one timestep.

        Returns:
            Whether `sample` holds a new state; False when the simulation diverged in this step.

        Raises:
            DivergenceError: It diverged, and `on_divergence` is ``shutdown``.
        """
        data = self.data
        for control, joints in self._measured:
            if not control.active:
                continue
            if joints is not None:
                # With "clip", NumPy writes without a buffer between; no index is out of range.
                self._qpos.take(joints.qpos, out=control.q, mode="clip")
                self._qvel.take(joints.dof, out=control.dq, mode="clip")
                self._qfrc_actuator.take(joints.dof, out=control.effort, mode="clip")
            control.update(data.time)
        self.drives.write(self.references, self._ctrl)
        self._before_qpos[:] = self._qpos
        self._before_qvel[:] = self._qvel
        self._before_act[:] = self._act
        time = data.time
        if self._forward_first:
            self._sense_first()
        mujoco.mj_step(self.model, data)
        if self._warnings.tobytes() != self._warnings_seen and self._diverged():
            self._recover(time)
            return False
        self.saturation.count()
        sample = self.sample
        sample.qpos[:] = self._before_qpos
        sample.qvel[:] = self._before_qvel
        self._good_act[:] = self._before_act
        self.time = time
        # The engine adds steps up; what that rounds away would show in the stamps after minutes.
        data.time = round(data.time / self._timestep) * self._timestep
        if self._noise is not None:
            sample.sensordata[:] = self._sensordata
            self._noise.add(sample.sensordata)
        return True

    def reset(self, *, time: float = 0.0) -> None:
        """Return to the initial state: positions, gains, references, equality states, noise.

        Args:
            time: Simulated time to set [s].
        """
        mujoco.mj_resetData(self.model, self.data)
        self._set_state(self._start)
        self.data.time = time
        self.drives.set_gains(self.configured_gains.kp, self.configured_gains.kd)
        self.references.assign(self._start_references)
        for control in self.controls:
            control.reset()
        if self._noise is not None:
            self._noise.reset()
        self._warnings_seen = self._warnings.tobytes()
        # What `pause` returns to if the very next step diverges.
        self.sample.qpos[:], self.sample.qvel[:] = self._qpos, self._qvel
        self.time = time
        self.emit(WasReset(time=time, gain_changes=self.gain_changes))

    def emit(self, event: Event) -> None:
        """Have those who command told something; called in the physics thread."""
        self.events.append(event)
        self.on_event()

    def _set_state(self, state: InitialState) -> None:
        data = self.data
        data.qpos[:], data.qvel[:], data.act[:] = state.qpos, state.qvel, state.act
        data.ctrl[:] = state.ctrl
        data.mocap_pos[:], data.mocap_quat[:] = state.mocap_pos, state.mocap_quat

    def _prepare_start(self) -> None:
        """Complete the initial state: what servos must be told so that nothing moves."""
        self._start_references = References.holding(self._start.qpos[self.joints.qpos])
        self._set_state(self._start)
        mujoco.mj_forward(self.model, self.data)
        self.drives.adopt(self._start.ctrl, self._start_references)
        holding_controls(self.model, self.data, self._start.ctrl)
        # What the joint servos will be told counts as a control as well.
        self.drives.write(self._start_references, self._start.ctrl)
        holding_activations(self.model, self.data, self._start.ctrl, self._start.act)

    def _sense_first(self) -> None:
        sensed = self._sensed
        mujoco.mj_copyState(self.model, self.data, sensed, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(self.model, sensed)

    def _diverged(self) -> bool:
        seen = np.frombuffer(self._warnings_seen, dtype=self._warnings.dtype)
        bad = any(self._warnings[kind] > seen[kind] for kind in _BAD)
        self._warnings_seen = self._warnings.tobytes()
        return bad

    def _recover(self, time: float) -> None:
        """Act on divergence: `sample` still holds the last state that was good."""
        self.divergences += 1
        if self.on_divergence == "shutdown":
            raise DivergenceError(f"the simulation diverged at {time:.4f} s")
        if self.on_divergence == "pause":
            active = self.data.eq_active.copy()
            mujoco.mj_resetData(self.model, self.data)
            self._set_state(self._start)
            self.data.eq_active[:] = active
            self.data.qpos[:], self.data.qvel[:] = self.sample.qpos, self.sample.qvel
            self.data.act[:] = self._good_act
            self.data.time = time  # later than the sample: no stamp comes twice
            self._warnings_seen = self._warnings.tobytes()
            self.paused = True
        else:
            # The clock goes on: a jump back would make every listener drop its buffers.
            self.reset(time=time + self.model.opt.timestep)


def _all_joints(layout: Layout) -> Joints:
    """Concatenate the joints of all robots; names carry the robot's prefix."""
    robots = layout.robots
    return Joints(
        names=tuple(r.prefix + n for r in robots for n in r.joints.names),
        ids=np.concatenate([r.joints.ids for r in robots]),
        qpos=np.concatenate([r.joints.qpos for r in robots]),
        dof=np.concatenate([r.joints.dof for r in robots]),
    )
