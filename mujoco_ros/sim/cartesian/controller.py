"""The Cartesian controller of a robot: a frame follows poses, velocities and wrenches."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from mujoco_ros.control.cartesian import CartesianCommand, CartesianSettings
from mujoco_ros.control.events import CommandError
from mujoco_ros.control.references import References
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.frame_chains import FrameChains
from mujoco_ros.sim.cartesian.modes import Impedance, JointMotion
from mujoco_ros.sim.cartesian.pose_reference import Limits, PoseReference

_NO_JOINTS = np.empty(0, dtype=np.intp)
_IDLE_S = 0.5  # without a command for this long it counts as completed when it is preempted


class CartesianController:
    """Moves a frame of a robot by the joints above it, until another source takes a joint."""

    def __init__(
        self, references: References, timestep: Callable[[], float], chains: FrameChains
    ) -> None:
        self.settings = CartesianSettings()
        # The frame that it moves, with its joints; None without a frame
        self.chain: FrameChain | None = None
        self.reference = PoseReference()
        self.busy = False  # whether `update` is needed
        self._pd_acts = True
        self._references, self._timestep = references, timestep
        self._target: tuple[np.ndarray, np.ndarray] | None = None  # in the world; a moving base's
        # Twist and wrench, each with the time at which it ends [s].
        self._acting: dict[str, tuple[CartesianCommand, float]] = {}
        self._last = -np.inf
        self._twist = np.zeros(6)
        self._follow_frame(chains, chains.find(""))

    def _follow_frame(self, chains: FrameChains, chain: FrameChain | None) -> None:
        """Move another frame, from standstill."""
        self.reset()
        self.chains, self.chain = chains, chain
        if chain is not None:
            self._motion, self._impedance = JointMotion(chain), Impedance(chain)

    def bind(self, chains: FrameChains) -> None:
        """Use the frames of another model; the motion continues as by `restore_state`."""
        saved = self.save_state()
        self._follow_frame(chains, chains.find(self.settings.frame, self.settings.joints))
        self.restore_state(saved)

    @property
    def joints(self) -> np.ndarray:
        """Indices of the joints that it commands; none without a frame.  # (k,)"""
        return _NO_JOINTS if self.chain is None else self.chain.joints.indices

    def check(self, settings: CartesianSettings) -> FrameChain | None:
        """Return the chain of settings, if its joints take commands of their mode."""
        chain = self.chains.find(settings.frame, settings.joints)
        if chain is not None:
            impedance = settings.mode == "impedance"
            takes = chain.joints.takes_effort if impedance else chain.joints.takes_position
            if not takes.all() and (settings.frame or impedance):
                name = chain.joints.names[int(np.argmin(takes))]
                kind = "efforts" if impedance else "positions"
                raise UserInputError(f"mode '{settings.mode}': joint '{name}' takes no {kind}")
        elif settings.mode == "impedance":
            raise UserInputError("mode 'impedance': there is no frame; set one")
        return chain

    def configure(self, settings: CartesianSettings) -> None:
        """Replace checked settings."""
        before = self.settings
        takes = (before.frame, before.joints) != (settings.frame, settings.joints)
        if takes or not settings.enabled:
            self.settle()
        self.settings = settings
        if takes:
            self._follow_frame(self.chains, self.chains.find(settings.frame, settings.joints))
        elif self.busy and before.mode != settings.mode:
            self._start_part()

    def refusal(self, command: CartesianCommand) -> str:
        """Return why a command is refused; empty if it is not."""
        if self.chain is None:
            return self.no_frame()
        if not self.settings.enabled:
            return "cartesian_controller.enabled is false"
        if command.kind == "wrench" and self.settings.mode != "impedance":
            return "a wrench needs cartesian_controller.mode impedance"
        if self.settings.mode == "pose" and not self.chain.joints.takes_position.all():
            return "the joints take no positions"
        if self._in_model(command) is None:  # since the command was read
            return f"frame '{command.frame.name}' is gone"
        return ""

    def _in_model(self, command: CartesianCommand) -> CartesianCommand | None:
        """Return a command with its frame in the present model; None if that is gone."""
        if self.chain is None:
            return None
        frame = self.chains.present(command.frame, self.chain.base)
        return None if frame is None else replace(command, frame=frame)

    def no_frame(self) -> str:
        """Return why commands are refused without a frame."""
        return (
            "the robot is no single arm; set cartesian_controller.frame to one of: "
            f"{', '.join(self.chains.names) or 'none'}"
        )

    def accept(self, command: CartesianCommand, time: float) -> None:
        """Follow a command from the step at `time` on [s], unless it is refused."""
        if problem := self.refusal(command):
            raise CommandError(problem)
        chain, timestep = self.chain, self._timestep()
        assert chain is not None
        if not self.busy:
            self._start()
        self._last = time
        lasting = self.settings.twist_timeout or np.inf
        command = self._in_model(command) or command
        if command.kind == "pose":
            chain.locate_all()
            position, quat = chain.to_world(command.frame, command.linear, command.angular)
            own = chain.carried[command.frame.body]
            self._target = (position, quat) if chain.base_moves and not own else None
            self.reference.follow_pose(*chain.from_world(position, quat), time, timestep)
            self._acting.pop("twist", None)
        else:
            self._acting[command.kind] = command, time + lasting

    def _start(self) -> None:
        self.busy = True
        motion, chain = self._motion, self.chain
        assert chain is not None
        chain.read()
        chain.measure(self._impedance.q, self._impedance.dq)
        self._start_part()
        chain.locate(motion.q)
        np.matmul(chain.jacobian, motion.dq, out=self._twist)
        self.reference.start(chain.position, chain.quat, self._twist)
        self._target = None
        self._acting.clear()

    def _start_part(self) -> None:
        measured = self._impedance
        assert self.chain is not None
        self.chain.measure(measured.q, measured.dq)
        self._switch_pd()
        self._motion.start(measured.q, measured.dq)
        measured.start(measured.q, measured.dq)

    def update(self, time: float) -> None:
        """Write the references of the step that begins at `time` [s]."""
        chain, settings, timestep = self.chain, self.settings, self._timestep()
        assert chain is not None
        chain.read()
        if settings.mode == "pose":
            chain.locate(self._motion.q)
        else:
            impedance = self._impedance
            chain.measure(impedance.q, impedance.dq)
            chain.locate(impedance.q)
        self._guide(time)
        reference = self.reference
        reference.advance(
            time,
            timestep,
            Limits(settings.max_linear_velocity, settings.max_linear_acceleration),
            Limits(settings.max_angular_velocity, settings.max_angular_acceleration),
        )
        if settings.mode == "pose":
            self._motion.update(reference, settings, timestep)
            self._motion.write(self._references, settings)
        else:
            impedance.update(reference, settings, timestep)
            impedance.write(self._references)

    def _guide(self, time: float) -> None:
        """Turn the targets into the base as it is now, and end those that timed out."""
        chain, reference = self.chain, self.reference
        assert chain is not None
        if self._target is not None:
            reference.put_goal(*chain.from_world(*self._target))
        for kind, (command, until) in tuple(self._acting.items()):
            is_twist = kind == "twist"
            out = self._twist if is_twist else self._impedance.wrench
            if time < until:
                chain.turn_to_base(command.frame, command.linear, out[:3])
                chain.turn_to_base(command.frame, command.angular, out[3:])
                if is_twist:
                    reference.follow_twist(out)
            else:
                del self._acting[kind]
                if is_twist:
                    reference.hold()
                else:
                    out[:] = 0.0

    def is_idle(self, _joints: np.ndarray, time: float) -> bool:
        """Return whether no command arrived lately."""
        return not self.busy or time - self._last > _IDLE_S

    def release(self, joints: np.ndarray, _reason: str) -> None:
        """Release all joints, as without some of them the frame cannot follow."""
        if self.chain is not None and np.isin(self.joints, joints).any():
            self.settle()

    def settle(self) -> None:
        """End the motion; the joints hold their position."""
        if self.busy and self.settings.mode == "pose":
            self._motion.settle(self._references, self.settings)
        elif self.busy:
            self._impedance.settle(self._references)
        self.reset()

    def _switch_pd(self) -> None:
        """Switch the PD law of the joints off while their efforts are an impedance."""
        acts = not self.busy or self.settings.mode == "pose"
        if self.chain is not None and acts is not self._pd_acts:
            self._pd_acts = acts
            self.chain.switch_pd(on=acts)

    def reset(self) -> None:
        """Drop all commands; the caller sets the references."""
        self.busy = False
        self._switch_pd()
        self._target = None
        self._acting.clear()
        self._last = -np.inf

    def save_state(self) -> Any:
        """Return a copy of the state, for `restore_state`."""
        if self.chain is None or not self.busy:
            return None
        arrays = (*self._motion.state, self._impedance.rest)
        commands = self._target, dict(self._acting), self._last
        saved = self.reference.save_state(), [copy(array) for array in arrays], commands
        return self._what_moves(), self.joints, saved

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state; motions of frames that are gone or changed end."""
        self.reset()
        if state is None:
            return
        what, joints, saved = state
        if what != self._what_moves():
            self._references.values[1:, joints] = 0.0
            return
        reference, arrays, (self._target, acting, self._last) = saved
        self.reference.restore_state(reference)
        own = (*self._motion.state, self._impedance.rest)
        for array, values in zip(own, arrays, strict=True):
            array[:] = values
        for kind, (command, until) in acting.items():
            if (present := self._in_model(command)) is not None:
                self._acting[kind] = present, until
        if "twist" not in self._acting:
            self.reference.hold()
        self._impedance.wrench[:] = 0.0
        self.busy = True
        self._switch_pd()

    def _what_moves(self) -> tuple[str, tuple[str, ...], str] | None:
        """Return frame, joints and mode, without which a saved motion has no meaning."""
        chain = self.chain
        if chain is None:
            return None
        return chain.frame.name, chain.joints.names, self.settings.mode
