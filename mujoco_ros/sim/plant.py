"""Everything that is derived from one compiled model."""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from mujoco_ros.control.events import Event, SimulationReset
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.robot.layout import ModelLayout, all_joints, lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.sim.drives import Drives, holding_activations, holding_controls
from mujoco_ros.sim.force_limits import Saturation
from mujoco_ros.sim.gripper_candidates import suggest_gripper
from mujoco_ros.sim.realism.realism import Realism, entries_by_robot
from mujoco_ros.sim.robot_controls import bind, robot_controls
from mujoco_ros.sim.sample import Sample, SensorNoise
from mujoco_ros.sim.settings.gains import GainSettings, configured_gains
from mujoco_ros.sim.settings.model_settings import EqualitySettings
from mujoco_ros.sim.settings.plugin_attributes import PluginAttribute, PluginAttributes
from mujoco_ros.sim.settings.random_draws import Draw
from mujoco_ros.sim.start_warnings import warn_of_falls, warn_of_penetrations
from mujoco_ros.sim.state.extension_states import ExtensionStates
from mujoco_ros.sim.state.initial_state import InitialState, initial_state
from mujoco_ros.sim.state.model_edits import ModelEdits
from mujoco_ros.sim.state.state_vector import (
    INPUTS,
    INTEGRATION,
    StateReader,
    fill_delay,
    set_state,
    state_fields,
    state_vector,
)
from mujoco_ros.sim.stepping.sparse_newton import SparseNewton

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_SENSED = ("qacc", "qfrc_actuator", "sensordata", "xpos", "xquat", "cam_xpos", "cam_xmat")


class Plant:
    """A model with its state, drives, references and sensors, initially at the start of its scene.

    It belongs to one thread at a time: the one that builds it, until `Simulation.switch_model`.
    """

    def __init__(
        self,
        assembly: Assembly,
        emit: Callable[[Event], None],
        *,
        sensor_noise: bool = False,
        seed: int = 0,
        before: "Plant | None" = None,
    ) -> None:
        """Build a plant in the initial state of its scene.

        `emit` is called with events for the sources of commands. With `sensor_noise`, sensors have
        the noise that the model declares, by the seed. `before` is the current plant, which is not
        changed.

        Raises:
            UserInputError: A file that the scene names is missing or invalid.
        """
        # A robot that is loaded again is another one, even with the same name.
        staying, timestep = {}, float(assembly.model.opt.timestep)
        if before is not None and assembly.shares_parts_with(before.assembly):
            robots = zip(before.assembly.robots, before.controls, strict=True)
            staying = {part: control for part, control in robots if part in assembly.parts}
            timestep = float(before.assembly.model.opt.timestep)
        self.assembly: Assembly = assembly
        self.layout: ModelLayout = lay_out(assembly)
        self.model = model = assembly.model
        self.data = data = mujoco.MjData(model)
        self.newton = SparseNewton(model)  # steps the model
        self.joints = all_joints(self.layout)
        self.drives = Drives(model, self.joints)
        # State that a reset restores
        self.start = self.settle(initial_state(assembly, self.layout))
        warn_of_penetrations(assembly, data, staying.keys())
        warn_of_falls(assembly, staying.keys())
        self.references = References(self.start.references.values.copy())
        # The command arbitration of each robot. Robots that remain keep theirs, which use the
        # arrays of another plant until `bind`
        self.controls: list[RobotControl] = robot_controls(
            assembly, self.layout, data, self.drives, self.references, emit, staying
        )
        for part, robot, control in zip(
            assembly.robots, self.layout.robots, self.controls, strict=True
        ):
            if part not in staying:
                suggest_gripper(model, robot, control.joints)
        servos = np.isin(np.arange(len(self.joints.names)), self.drives.servo_joints)
        self.gains = GainSettings(
            self.drives,
            dict(zip(assembly.robots, self.layout.columns, strict=True)),
            configured_gains(assembly, self.layout, data, servos, timestep, staying.keys()),
        )
        self.equalities = EqualitySettings(model, data)
        self.plugin_attributes = PluginAttributes(model)
        # The noise of the sensors, if they have any
        self.noise = SensorNoise(model, seed) if sensor_noise else None
        entries = entries_by_robot(assembly)
        self.present = StateReader(model, data)  # reads the present state
        state = self.present.state.copy()
        of_state = {field.name: field.view(state) for field in state_fields(model, data)}
        qpos, qvel = of_state["qpos"], of_state["qvel"]
        # The last sample; its arrays stay the same objects
        self.sample = Sample(
            state=state,
            qpos=qpos,
            qvel=qvel,
            act=of_state["act"],
            plugin_state=of_state["plugin_state"],
            qacc=data.qacc,
            qfrc_actuator=data.qfrc_actuator,
            sensordata=np.zeros(model.nsensordata) if sensor_noise or entries else data.sensordata,
            xpos=data.xpos,
            xquat=data.xquat,
            cam_xpos=data.cam_xpos,
            cam_xmat=data.cam_xmat,
            measured_qpos=np.zeros(model.nq) if entries else qpos,
            measured_qvel=np.zeros(model.nv) if entries else qvel,
            measured_effort=np.zeros(model.nv) if entries else data.qfrc_actuator,
        )
        self.realism = None  # imperfect sensors, buses and motors; None without any
        if entries:
            parts = (self.joints, self.drives, self.sample)
            self.realism = Realism(assembly, self.layout, data, *parts, entries, seed)
        # Counts of steps in which actuators were at their limits
        self.saturation = Saturation(model, data, self.joints)
        self.extensions = ExtensionStates()  # state that extensions add
        # The elements that the previous plant has as well; None if there was none
        self.same = None if before is None else Correspondence(before.assembly, assembly)
        # Whether it starts in its initial state, without state of the previous plant
        self.fresh = before is None
        self.draws: tuple[Draw, ...] = ()  # of random numbers, if its scene is another one
        self._twin: mujoco.MjData | None = None
        self.reset()
        self.originals = ModelEdits(model)  # the values of the model before edits at run time

    def settle(self, state: InitialState) -> InitialState:
        """Complete a state from keyframes with references and controls that hold it.

        Leaves `data` in that state, at an unchanged time.
        """
        state.references.q[:] = state.qpos[self.joints.qpos]
        state.references.values[1:] = 0.0
        self._set_state(state)
        self.newton.forward(self.data, state_vector(self.model, self.data))
        self.drives.adopt(state.ctrl, state.references)
        holding_controls(self.model, self.data, state.ctrl)
        # The controls of joint servos count as well.
        self.drives.write(state.references, state.ctrl)
        holding_activations(self.model, self.data, state.ctrl, state.act)
        return state

    def reset(self, state: InitialState | None = None) -> None:
        """Reset state, gains, references and noise, to a settled state or else the initial one."""
        state = state or self.start
        mujoco.mj_resetData(self.model, self.data)
        self._set_state(state)
        self.gains.restore()
        self.references.assign(state.references)
        self.extensions.reset()
        if self.noise is not None:
            self.noise.reset()
        if self.realism is not None:
            self.realism.reset()

    @property
    def controlled(self) -> list[ControlledJoints]:
        """The joints of each robot as commands address them."""
        return [control.joints for control in self.controls]

    @property
    def is_measured(self) -> bool:
        """Whether the sample has measured numbers, which differ from the true ones."""
        return self.noise is not None or self.realism is not None

    def measure(self) -> None:
        """Set the measured numbers of a new sample."""
        self.sample.sensordata[:] = self.data.sensordata
        if self.noise is not None:
            self.noise.add(self.sample.sensordata)
        if self.realism is not None:
            self.realism.measure()

    def note_state(self) -> None:
        """Make the state the sample, whose measured numbers are the true ones until a step."""
        self.present.read()
        self.sample.state[:] = self.present.state
        self.extensions.note_step()
        if self.is_measured:
            self.sample.sensordata[:] = self.data.sensordata
        if self.realism is not None:
            self.realism.copy_truth()

    def revert(self) -> None:
        """Return to the sample and its time, with the current inputs except applied forces.

        Forces may have caused the divergence. Wrenches are written each step.
        """
        model, data = self.model, self.data
        inputs = np.empty(mujoco.mj_stateSize(model, INPUTS))
        mujoco.mj_getState(model, data, inputs, INPUTS)
        mujoco.mj_resetData(model, data)
        set_state(model, data, self.sample.state)
        mujoco.mj_setState(model, data, inputs, INPUTS)
        data.qfrc_applied[:] = data.xfrc_applied[:] = 0.0

    def reset_event(self, before: float, *, state: bool = True) -> SimulationReset:
        """Return the event of a reset, `before` which the simulated time was another one [s].

        Without `state`, the time alone was reset.
        """
        return SimulationReset(
            time=float(self.data.time),
            before=before,
            state=state,
            gain_changes=self.gains.changes,
            gains=self.gains.by_robot() if state else None,
        )

    def set_plugin_attributes(self, changes: Mapping[PluginAttribute, float]) -> None:
        """Set attributes of engine plugins; see `PluginAttributes.set`."""
        twin = () if self._twin is None else (self._twin,)
        self.plugin_attributes.set(changes, self.data, *twin)

    def bind(self) -> None:
        """Make the command arbitration of the robots use the arrays of this plant."""
        bind(self.controls, self.layout, self.model, self.data, self.drives, self.references)

    @property
    def twin(self) -> mujoco.MjData | None:
        """The copy that `sense` evaluates the sensors on, if there is one."""
        return self._twin

    def sense(self) -> None:
        """Evaluate the sensors on a copy, before a step whose stages overwrite them."""
        if self._twin is None:
            self._twin = mujoco.MjData(self.model)
        mujoco.mj_copyState(self.model, self.data, self._twin, INTEGRATION)
        self.newton.forward(self._twin, self.present.state)

    @property
    def evaluated(self) -> mujoco.MjData:
        """Return the data that the last step was evaluated on, with the contacts of the sample.

        Later stages of Runge-Kutta overwrite those in `data`.
        """
        is_staged = self._twin is not None and self.model.opt.integrator == _RK4
        return self._twin if is_staged else self.data

    def copy_sensed(self) -> None:
        """Copy the sensors from `sense` to `data`, where the next step overwrites them."""
        for name in _SENSED:
            getattr(self.data, name)[:] = getattr(self._twin, name)

    def evaluate(self) -> None:
        """Compute the derived quantities of the current state, which stays bit-identical."""
        state = state_vector(self.model, self.data)
        self.newton.forward(self.data, state)
        set_state(self.model, self.data, state)

    def _set_state(self, state: InitialState) -> None:
        data = self.data
        data.qpos[:], data.qvel[:], data.act[:] = state.qpos, state.qvel, state.act
        data.ctrl[:] = state.ctrl
        data.mocap_pos[:], data.mocap_quat[:] = state.mocap_pos, state.mocap_quat
        for actuator in np.flatnonzero(self.model.actuator_historyadr >= 0).tolist():
            fill_delay(self.model, data, actuator, state.ctrl)
