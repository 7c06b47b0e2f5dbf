"""Everything the simulation publishes at its own pace."""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rclpy.publisher import Publisher

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport, Metric
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.publishing.template_publisher import (
    Batch,
    SerializedTopic,
    TemplatePublisher,
    split,
)
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topics import RATES, WrenchSign, clock_topic
from mujoco_ros.bridge.tf.frame_plan import FramePlan
from mujoco_ros.model.scene.config import FASTEST_HZ, SLOWEST_HZ
from mujoco_ros.sim.plant import Plant

_LOG = logging.getLogger(__name__)
_RATE = "publish_rate."
_NEVER = 0
"""Instead of a number of steps: not by itself."""


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """How often is what published."""

    rates: dict[str, float] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    timestep: float = 0.0


@dataclass(frozen=True, kw_only=True)
class _Batched:
    """Topics that are published at the same steps.

    Attributes:
        every: Steps from one message to the next.
        robots: Whose ticks they are published at as well.
        updates: What must be computed before.
        batch: Their messages.
    """

    every: int
    robots: frozenset[str]
    updates: list[Callable[[], None]]
    batch: Batch


@dataclass(eq=False)
class _Stage:
    """What is published of one plant, each content by its outlet, and how that is batched."""

    programme: TopicPlan
    outlets: dict[TemplatePublisher, SerializedTopic]
    settings: _Settings
    batches: list[_Batched] = field(default_factory=list)

    def arrange(self, settings: _Settings) -> None:
        """Put into one batch what is published at the same steps."""
        self.settings = settings
        groups: dict[
            tuple[int, bool, tuple[str, ...]], dict[TemplatePublisher, SerializedTopic]
        ] = {}
        for outlet, content in self.outlets.items():
            topic = content.topic
            rate = self.programme.rate(topic, settings.rates) if settings.rates else 0.0
            if rate:
                # Large, costly and seldom wanted: by itself it can be left out.
                apart = topic.rate == "controller_state"
                # Where objects are is sensed by all.
                senses = settings.locked if topic.rate == "tf" else {self.programme.robot(topic)}
                robots = tuple(sorted(senses & settings.locked))
                at_ticks = robots and topic.rate == "joint_states"
                every = _NEVER if at_ticks else max(1, round(1 / (rate * settings.timestep)))
                groups.setdefault((every, apart, robots), {})[outlet] = content
        arrays = self.programme.arrays
        self.batches = [
            _Batched(
                every=every,
                robots=frozenset(robots),
                updates=self.programme.updates(outlets.values()),
                batch=Batch(outlets, arrays),
            )
            for (every, _, robots), outlets in sorted(groups.items(), key=lambda group: group[0])
        ]


class Publishers(Component):
    """Publishes the samples of a simulation: every topic at its own rate, /clock with them.

    A topic that the next model has as well keeps its publisher when the model changes.

    """

    name = "middleware"
    parameters = (
        *(
            ParameterSpec(
                f"{_RATE}{topic}",
                rate,
                f"Rate of {topic} in simulated time [Hz], rounded to whole steps; 0 is off",
                low=0.0,
                high=FASTEST_HZ,
                least=SLOWEST_HZ,
            )
            for topic, rate in RATES.items()
        ),
        ParameterSpec(
            "wrench_sign",
            "child_on_parent",
            "Sign of wrenches: the load that the child side of a sensor puts on its parent (a "
            "stance foot reads up, the weight carried), or the reverse",
            choices=("child_on_parent", "parent_on_child"),
            read_only=True,
        ),
    )

    def __init__(self, context: NodeContext, frames: Callable[[Plant], FramePlan]) -> None:
        """Create the publishers of every topic.

        After the last of the steps that `context.run` was asked for, every topic is published. For
        robots that `context.lockstep` waits for, all sensors are published at every tick, and joint
        states at ticks only.

        Args:
            context: The node.
            frames: Returns the frames on /tf.
        """
        self._run, self._lockstep = context.run, context.lockstep
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._controllers, values = context.has_controllers, context.values
        self._frames = frames
        self._wrench_sign: WrenchSign = values["wrench_sign"]
        self._ticking: frozenset[str] = frozenset()
        self._arrived: deque[TemplatePublisher] = deque(
            maxlen=1000
        )  # somebody began to listen to these
        self._publishers: dict[str, Publisher] = {}
        self._open: dict[str, TemplatePublisher] = {}
        self._reported = 0  # lost messages in the last report
        self._rates = {topic: values[_RATE + topic] for topic in RATES}
        self._settings = _Settings()
        self._drafted: TopicPlan | None = None
        self._next: _Stage | None = None
        clock = SerializedTopic(clock_topic())
        self._clock = self._outlet(clock)
        self._clock_batch = Batch({self._clock: clock}, {})
        self.build(self._simulation.plant)
        self.prepare(self._simulation.plant)
        self.commit()
        self._simulation.on_timestep.append(lambda _timestep: self._arrange())

    @property
    def _outlets(self) -> list[TemplatePublisher]:
        """What is published beside /clock."""
        return list(self._stage.outlets)

    @property
    def names(self) -> list[str]:
        """Names of all topics, /clock first."""
        return [outlet.topic.name for outlet in (self._clock, *self._outlets)]

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics: the messages that the middleware rejected."""
        lost = {o.topic.name: o.lost for o in (self._clock, *self._outlets) if o.lost}
        before, self._reported = self._reported, sum(lost.values())
        new = self._reported - before
        return DiagnosticReport(
            "accepts every message",
            {f"messages lost on {topic}": str(count) for topic, count in lost.items()},
            metrics=(Metric("lost_messages", new, f"rejected {new} messages"),),
        )

    def build(self, plant: Plant) -> None:
        """Plan what is published of the next plant.

        Raises:
            ModelError: Elements of the model would have the same, or no valid, topic name.
        """
        self._drafted = TopicPlan(
            plant,
            lambda: self._simulation.time,
            self._frames(plant),
            self._wrench_sign,
            controllers=self._controllers,
        )

    def prepare(self, plant: Plant) -> None:
        """Open what is published of the next plant only."""
        programme = self._drafted
        assert programme is not None
        outlets = {self._outlet(content): content for content in programme.contents}
        self._next = _Stage(programme, outlets, self._settings)
        self._next.arrange(self._settings)

    def commit(self) -> None:
        """Publish what was prepared."""
        stage, self._next, self._drafted = self._next, None, None
        assert stage is not None
        for outlet, content in stage.outlets.items():
            outlet.content = content
        settings = self._present_settings()
        if stage.settings != settings:  # changed since it was prepared
            stage.arrange(settings)
        self._stage, self._settings = stage, settings

    def finish(self) -> None:
        """Close what is not published any more."""
        self._close_others(self._stage)

    def rollback(self) -> None:
        """Close what was opened for the next plant."""
        self._next = self._drafted = None
        self._close_others(self._stage)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that sets publish rates."""
        rates = {topic: values[_RATE + topic] for topic in RATES if _RATE + topic in values}
        return partial(self.set_rates, rates) if rates else None

    def set_rates(self, rates: Mapping[str, float]) -> None:
        """Set publish rates [Hz of simulated time], 0 for off; rates of a robot take precedence."""
        self._rates = {**self._rates, **rates}
        self._arrange()

    def start(self) -> None:
        """Log the topics."""
        _LOG.info("topics: %s", ", ".join(self.names))

    def wait(self, _now: float) -> float:
        """Publish the sample again to new subscriptions while the clock waits for commands."""
        if self._arrived and self._lockstep.waiting:
            self._repeat()
        return 0.0

    def after_step(self) -> None:
        """Publish what is due."""
        self.publish()

    def publish(self, *, everything: bool = False) -> None:
        """Publish what is due at the current sample, or everything; called once per step."""
        if self._lockstep.robots is not self._settings.locked:
            self._arrange()
        # By the time, not counted: what is published after a reset is the same each time.
        step = self._simulation.step_number
        stamp = None
        ticking = self._ticking = self._lockstep.begin()
        last = everything or self._run.is_last()
        if ticking:
            self._arrived.clear()  # they hear of it now
            stamp = split(self._simulation.time)
            self._clock_batch.publish(*stamp)
        for due in self._stage.batches:
            late = not due.every or (step % due.every and not last)
            if late and due.robots.isdisjoint(ticking):
                continue
            if stamp is None:
                stamp = split(self._simulation.time)
                self._clock_batch.publish(*stamp)
            if due.batch.heard:
                for update in due.updates:
                    update()
                due.batch.publish(*stamp)

    def _arrange(self) -> None:
        """Batch topics by the present rates, timestep and lockstep."""
        self._settings = self._present_settings()
        self._stage.arrange(self._settings)

    def _repeat(self) -> None:
        """Publish the sample of the last tick again, to subscriptions matched since."""
        outlets = [self._arrived.popleft() for _ in range(len(self._arrived))]
        stamp = split(self._simulation.time)
        self._clock_batch.repeat(*stamp, outlets)
        for due in self._stage.batches:
            if not due.robots.isdisjoint(self._ticking):
                for update in due.updates:
                    update()
                due.batch.repeat(*stamp, outlets)

    def _present_settings(self) -> _Settings:
        timestep = float(self._simulation.model.opt.timestep)
        return _Settings(rates=self._rates, locked=self._lockstep.robots, timestep=timestep)

    def _outlet(self, content: SerializedTopic) -> TemplatePublisher:
        """Return the way out for a topic, which is told how many listen; open it if need be."""
        name = content.topic.name
        if name not in self._open:
            self._open[name] = self._open_outlet(content)
        return self._open[name]

    def _open_outlet(self, content: SerializedTopic) -> TemplatePublisher:
        topic, outlet = content.topic, TemplatePublisher(content)

        def heard(count: int) -> None:
            more = count > outlet.listeners
            outlet.listeners = count  # first: whoever is noted below gets a sample or a copy
            if more:
                self._arrived.append(outlet)

        publisher = self._endpoints.publisher(type(topic.message), topic.name, topic.qos, heard)
        # What Publisher.publish ends in for bytes; its checks would double the cost of a message.
        outlet.publish = publisher.handle.publish_raw
        self._publishers[topic.name] = publisher
        return outlet

    def _close_others(self, stage: _Stage) -> None:
        """Close what is open beside /clock and the topics of `stage`."""
        kept = {self._clock.topic.name} | {outlet.topic.name for outlet in stage.outlets}
        for name in self._open.keys() - kept:
            del self._open[name]
            self._endpoints.close(self._publishers.pop(name))
