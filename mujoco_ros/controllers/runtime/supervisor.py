"""A controller under supervision: whatever it does, its host goes on."""

import logging
from collections import deque
from collections.abc import Callable

import numpy as np

from mujoco_ros.control.joints import LARGEST
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.transition import Transition, Transitioned, TransitionRejectedError
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.runtime.uncommanded_joints import UncommandedJoints
from mujoco_ros.model.errors import UserInputError

_LOG = logging.getLogger(__name__)
ERROR = "error"
"""What `SupervisedController.state` is when the controller was stopped."""
_MOST_EVENTS = 1000


class ReferencesError(ValueError):
    """A controller returned what no joint can be told."""


class SupervisedController:
    """Runs a controller until it raises, or returns what no joint can be told: then it is stopped.

    Everything belongs to the thread that calls `step`, but `state` and `error`, which any thread
    may read.

    Attributes:
        controller: The controller.
        state: Where its machine stands; `ERROR` when it was stopped.
        error: Why it was stopped; empty while it runs.
        events: Transitions that were made, oldest first; whoever tells them takes them out.
        on_change: Called when `state` has changed or there are events.
    """

    def __init__(self, controller: FsmController) -> None:
        """Take a controller, which `configure` makes ready."""
        self.controller = controller
        self._machine = controller.machine
        self.error = ""
        self.state = ""
        self.events: deque[Transitioned] = deque(maxlen=_MOST_EVENTS)
        self.on_change: Callable[[], object] = lambda: None
        self._shape = (3, 0)
        self._untouched: UncommandedJoints | None = None
        self._condition = ""
        self._joints: tuple[str, ...] = ()

    @property
    def available(self) -> tuple[Transition, ...]:
        """Return the transitions that can be asked for now."""
        return () if self.error or self._condition else self._machine.available

    def configure(self, robot: RobotModel) -> None:
        """Make the controller ready for a robot.

        Raises:
            ModelError: The robot is not one it can command.
        """
        self._joints = robot.joints
        self._shape = (3, len(robot.joints))
        self.controller.configure(robot)
        self._settle()

    def reset(self) -> None:
        """Begin anew, also after an error."""
        self.error = ""
        self.events.clear()
        self._untouched = None
        try:
            self.controller.reset()
            self._machine.events.clear()
        except Exception as error:
            self.fail(error)
        self._settle()

    def step(self, observation: Observation, time: float) -> np.ndarray | None:
        """Do a tick.

        Returns:
            Position, velocity and effort of all joints, NaN where one is left as it is, as all are
            that it has told nothing yet; None when it is stopped. The controller may overwrite it
            at its next tick.  # (3, n)
        """
        if self.error:
            return None
        if self._untouched is None:
            self._untouched = UncommandedJoints()
            self._untouched.begin(observation.q)
        values: np.ndarray | None
        try:
            values = self._checked(self.controller.step(observation, time).values)
            values = self._untouched.hide(values)
        except Exception as error:
            self.fail(error)
            values = None
        self._settle()
        return values

    def stop(self, reason: str, error: Exception | None = None) -> None:
        """Run it no more until it is reset, and say why; where an `error` arose is logged."""
        if not self.error:
            self.error = reason
            place = self._machine.state
            _LOG.error("the controller was stopped in %s: %s", place, reason, exc_info=error)
            self._settle()

    def fail(self, error: Exception) -> None:
        """Run it no more until it is reset, because of an error; one that explains all is brief."""
        if isinstance(error, UserInputError | ReferencesError):
            self.stop(str(error) or repr(error))
        else:
            self.stop(repr(error), error)

    def pause(self, condition: str) -> None:
        """Say that there are no ticks, and why: that is its state until `go_on`."""
        self._condition = condition
        self._settle()

    def go_on(self) -> None:
        """Say that there are ticks again."""
        self._condition = ""
        self._settle()

    def request(self, label: str) -> Transition:
        """Have a transition made at the next tick.

        Raises:
            TransitionRefusedError: It is not available; nothing changes.
        """
        if self._condition:
            raise TransitionRejectedError(
                f"'{label}' is not available: the controller is {self._condition}"
            )
        if self.error:
            raise TransitionRejectedError(
                f"'{label}' is not available: the controller was stopped ({self.error}); a reset "
                "starts it again"
            )
        return self._machine.request(label)

    def _checked(self, values: np.ndarray) -> np.ndarray:
        if values.shape != self._shape:
            raise ReferencesError(f"references have the shape {values.shape}, not {self._shape}")
        size = np.abs(values)
        # NaN leaves a value as it is; where there is one, it is the largest.
        if not size.max(initial=0.0) <= LARGEST and (size > LARGEST).any():
            row, joint = np.argwhere(size > LARGEST)[0]
            what = ("position", "velocity", "effort")[row]
            raise ReferencesError(
                f"the {what} of joint '{self._joints[joint]}' is {values[row, joint]:g}"
            )
        return values

    def _settle(self) -> None:
        """Note where the machine stands, and tell if that is news."""
        made = self._machine.events
        state = ERROR if self.error else self._condition or self._machine.state
        if not made and state == self.state:
            return
        self.state = state
        while made:
            self.events.append(made.popleft())
        self.on_change()
