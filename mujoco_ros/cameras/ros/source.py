"""What is computed of the state and published at a rate of its own."""

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
from builtin_interfaces.msg import Time

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.frame_rate import FrameRate
from mujoco_ros.cameras.timing import Timing
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.shared_memory.frame_timeout import FrameTimeout

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class StateSnapshot:
    """A state of the simulation.

    Attributes:
        model: The model, in the present process.
        data: The state, with all positions computed, and nothing that comes after them.
        layout: What is in the model.
        time: Simulated time [s].
        stamp: The same, as in messages.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    layout: ModelLayout
    time: float
    stamp: Time


class FrameSource(ABC):
    """Something that is computed of states while somebody listens, e.g. a camera's images.

    It belongs to one model; the next one has sources of its own.

    Attributes:
        computes: What it computes, as it counts that.
        name: Its name, which is also where its topics are: ``arm/camera/wrist``.
        publishers: The publishers of its frames.
        latched: The publishers of what it publishes once.
        untried: Publishers without a message of the present model so far.
        pace: When it is due.
        counts: How often what was computed.
        timing: How long its frames took.
        patience: How long the next one may take.
        failure: Why its last frame could not be taken; empty if it was.
    """

    computes: tuple[str, ...] = ()
    latched: tuple[TopicPublisher, ...] = ()

    def __init__(self, name: str, rate: float, publishers: Iterable[TopicPublisher]) -> None:
        """Name the source; compute `rate` frames per simulated second."""
        self.name = name
        self.publishers = tuple(publishers)
        self.untried = set(self.publishers)
        self.pace = FrameRate(rate)
        self.counts: Counter[str] = Counter()
        self.timing = Timing()
        self.patience = FrameTimeout()
        self.failure = ""

    @abstractmethod
    def take(self, moment: StateSnapshot) -> None:
        """Compute and publish what is listened to."""

    @property
    def listeners(self) -> int:
        """Return how many subscriptions it serves."""
        return sum(publisher.subscriptions for publisher in self.publishers)

    @property
    def joined(self) -> bool:
        """Return whether somebody who has begun to listen has got no frame yet."""
        return any(it.joined and it.subscriptions for it in self.publishers)

    @property
    def is_new(self) -> bool:
        """Return whether the next frame has something that was never taken of the model so far."""
        return any(publisher.subscriptions for publisher in self.untried)

    @property
    def parameter(self) -> str:
        """Return what the names of its parameters begin with."""
        return self.name.replace("/", ".")

    def repeat(self) -> None:
        """Take a frame of the present state while the simulation stands."""
        for publisher in self.publishers:
            publisher.joined = True

    def succeed(self) -> None:
        """Note that a frame was taken."""
        self.failure = ""

    def fail(self, error: Exception) -> None:
        """Note why a frame could not be taken, and log it unless that was so before."""
        failure = f"{type(error).__name__}: {error}"
        if failure != self.failure:
            _LOG.error("%s has no frame: %s", self.name, failure, exc_info=error)
        self.failure = failure

    @property
    def remark(self) -> str:
        """Return what keeps it from doing all that is wanted of it; empty if nothing does."""
        return ""

    def specs(self) -> Sequence[ParameterSpec]:
        """Return its parameters."""
        return (
            ParameterSpec(
                name=f"{self.parameter}.rate",
                default=float(self.pace.rate),
                description="Frames per simulated second; 0 is off",
                low=0.0,
                high=1000.0,
            ),
        )

    def change(self, values: Mapping[str, Any]) -> None:
        """Take over those of its parameters that are among `values`."""
        rate = values.get(f"{self.parameter}.rate")
        if rate is not None and rate != self.pace.rate:
            self.pace.rate = rate
