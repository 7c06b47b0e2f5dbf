"""Everything the simulation publishes at its own pace."""

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import is_
from time import perf_counter
from typing import Any, Protocol

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport, Metric
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.publishing.template_publisher import Batch, SerializedTopic, Topic
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool, TopicPublisher
from mujoco_ros.bridge.publishing.topic_stage import PublishSettings, TopicGroup, TopicStage
from mujoco_ros.bridge.publishing.topics import clock_topic
from mujoco_ros.bridge.tf.robot_frames import FramePlan
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import MAX_RATE_HZ, MIN_RATE_HZ, RATES
from mujoco_ros.native import Sending
from mujoco_ros.native.plan import MANY
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.stepping.lockstep_sources import whole_steps
from mujoco_ros.wire.conversions import split
from mujoco_ros.wire.parameter_spec import WRENCH_SIGN, ParameterSpec, WrenchSign

_LOG = logging.getLogger(__name__)
_RATE = "publish_rate."
ENGINE_TOPICS = "engine_topics"
_JOINED_S = 1.0
"""Wall time until a new subscription receives the pending tick: a client may reset before."""
_SECOND = 1_000_000_000  # in nanoseconds


class TickTopics(Protocol):
    """Topics that another component publishes, and that come at ticks of the lockstep, too."""

    # Called in the executor's thread when one of them has a new subscription
    on_join: Callable[[TopicPublisher], object]

    def publish_tick(self, robots: Collection[str]) -> None:
        """Publish the topics of robots that wait for a response to each message."""

    def repeat_tick(
        self, robots: Collection[str], joined: Collection[TopicPublisher] | None
    ) -> None:
        """Publish the messages of the last tick again, at least with some publishers, or all."""


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
                high=MAX_RATE_HZ,
                least=MIN_RATE_HZ,
            )
            for topic, rate in RATES.items()
        ),
        ParameterSpec(
            "clock_rate",
            0.0,
            "Rate of /clock in simulated time [Hz], its period rounded up to whole steps; 0 "
            "publishes it with every other message. A controller_manager wakes exactly on its "
            "ticks if this is its update_rate",
            low=0.0,
            high=MAX_RATE_HZ,
            least=MIN_RATE_HZ,
        ),
        ParameterSpec(
            ENGINE_TOPICS,
            ("",),
            "What the engine computes and is to be published: names of its arrays, such as qacc, "
            "qfrc_* or actuator_force; and elements with a pose, such as 'site hand' or 'geom "
            "pad* in base_link'",
        ),
        WRENCH_SIGN,
    )

    def __init__(
        self,
        context: NodeContext,
        frames: Callable[[Plant], FramePlan],
        *,
        all_at_last_step: bool = True,
        confirm: Callable[[Iterable[str]], object] | None = None,
        others: Sequence[TickTopics] = (),
    ) -> None:
        """Create the publishers of every topic.

        For robots that `context.lockstep` waits for, all sensors are published at every tick, and
        joint states at ticks only.

        Args:
            frames: Returns the frames on /tf.
            all_at_last_step: Whether every topic is published after the last step that was
                requested from `context.run`.
            confirm: Returns when the controller_managers of some topics have taken what was
                published.
            others: Further topics, which come at the same ticks.
        """
        self._others = others
        for other in others:
            other.on_join = self._note_join
        self._run = context.run if all_at_last_step else None
        self._node, self._models = context.node, context.models
        self._lockstep, self._confirm = context.lockstep, confirm
        self._simulation, values = context.simulation, context.values
        self._entries: Sequence[str] = values[ENGINE_TOPICS]
        self._extended: TopicPlan | None = None  # with the entries that were checked
        self._endpoints = context.endpoints
        self._controllers = context.has_controllers
        self._frames = frames
        self._wrench_sign: WrenchSign = values["wrench_sign"]
        self._ticking: frozenset[str] = frozenset()
        # Since when there is a new subscription [s of wall time], and of which publisher.
        self._joined: deque[tuple[float, TopicPublisher]] = deque(maxlen=1000)
        self._ticked = perf_counter()  # when the last tick was published [s of wall time]
        self._pool = PublisherPool(context.endpoints, raw=True, on_join=self._note_join)
        self._reported = 0  # lost messages in the last report
        self._rates = {topic: values[_RATE + topic] for topic in RATES}
        self._clock_rate: float = values["clock_rate"]
        # A controller_manager takes the newest joint states when the clock wakes it.
        self._clock_last = not self._controllers
        self._due: list[TopicGroup] = []
        self._settings = PublishSettings()
        # The compiled steps and what they were told to publish.
        self._compiled: tuple[object, ...] = ()
        self._drafted: TopicPlan | None = None
        self._next: TopicStage | None = None
        clock = SerializedTopic(clock_topic())
        self._clock = self._open(clock)
        self._clock_batch = Batch({self._clock: clock}, {})
        self.build(self._simulation.plant)
        self.prepare(self._simulation.plant)
        self.commit()
        self._simulation.on_timestep.append(lambda _timestep: self._arrange())

    @property
    def topics(self) -> dict[TopicPublisher, Topic]:
        """Topics by their publishers, without /clock."""
        return {publisher: serialized.topic for publisher, serialized in self._stage.topics.items()}

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics: the messages that the middleware rejected."""
        losing = [each for each in (self._clock, *self._stage.topics) if each.lost]
        for publisher in losing:
            publisher.warn_of_losses()
        lost = {publisher.topic: publisher.lost for publisher in losing}
        before, self._reported = self._reported, sum(lost.values())
        new = self._reported - before
        return DiagnosticReport(
            "accepts every message",
            {f"messages lost on {topic}": str(count) for topic, count in lost.items()},
            metrics=(Metric("lost_messages", new, f"rejected {new} messages"),),
        )

    def build(self, plant: Plant) -> None:
        """Plan the topics of the next plant.

        Raises:
            UserInputError: Two topics would have the same name, or one an invalid name.
        """
        plan = TopicPlan(
            plant,
            lambda: self._simulation.time,
            self._frames(plant),
            self._wrench_sign,
            controllers=self._controllers,
        )
        # What a changed model lacks is left out.
        self._drafted = plan.extended(self._entries, strict=plant is self._simulation.plant)

    def prepare(self, plant: Plant) -> None:
        """Open the publishers that only the next plant has."""
        assert self._drafted is not None
        self._next = self._staged(self._drafted)

    def commit(self) -> None:
        """Publish the topics of the next plant from now on."""
        stage, self._next, self._drafted = self._next, None, None
        assert stage is not None
        self._use(stage)

    def _use(self, stage: TopicStage) -> None:
        """Publish the topics of a stage from now on."""
        settings = self._present_settings()
        if stage.settings != settings:  # changed since it was prepared
            stage.arrange(settings)
        self._stage, self._settings = stage, settings
        # Their batches would keep the publishers open that `finish` closes.
        self._due.clear()
        self._compiled = ()

    def finish(self) -> None:
        """Close the publishers that only the previous plant had."""
        self._close_others()

    def rollback(self) -> None:
        """Close the publishers that only the next plant has."""
        self._next = self._drafted = None
        self._close_others()

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject what the model does not have."""
        self._extended = None
        if ENGINE_TOPICS in values and list(values[ENGINE_TOPICS]) != list(self._entries):
            if self._models.busy:
                raise UserInputError(f"parameter '{ENGINE_TOPICS}': the model changes; try again")
            self._extended = self._stage.plan.extended(values[ENGINE_TOPICS])

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that sets publish rates, and adds topics."""
        extended, self._extended = self._extended, None
        if ENGINE_TOPICS not in values or extended is None:
            return self._rates_command(values)
        self._entries = values[ENGINE_TOPICS]
        self._next = stage = self._staged(extended)
        set_rates = self._rates_command(values) or bool

        def command() -> None:
            set_rates()
            if stage.plan.plant is self._simulation.plant:  # else there is another stage
                self._use(stage)
            if self._next is stage:  # not replaced meanwhile
                self._next = None
            later(self._node, self._close_others)

        return command

    def _rates_command(self, values: Mapping[str, Any]) -> Command | None:
        rates = {topic: values[_RATE + topic] for topic in RATES if _RATE + topic in values}
        clock: float | None = values.get("clock_rate")
        if not rates and clock is None:
            return None
        return partial(self.set_rates, rates, clock)

    def set_rates(self, rates: Mapping[str, float], clock: float | None = None) -> None:
        """Set publish rates [Hz of simulated time], 0 for off; rates of a robot take precedence."""
        self._rates = {**self._rates, **rates}
        self._clock_rate = self._clock_rate if clock is None else clock
        self._arrange()

    def start(self) -> None:
        """Log all topics of the node that something publishes."""
        _LOG.info("topics: %s", ", ".join(self._endpoints.published))

    def wait(self, now: float) -> float:
        """Publish the sample again to new subscriptions while the clock waits for commands."""
        joined, latest = self._joined, now - _JOINED_S
        if joined and joined[0][0] <= latest and self._lockstep.waiting:
            self._repeat([joined.popleft()[1] for since, _ in tuple(joined) if since <= latest])
        if self._lockstep.take_repeat():
            self._repeat(None)
        if change := self._lockstep.take_nudge():
            time = round(self._simulation.time * _SECOND) + min(change, 0)
            self._clock_batch.publish(*divmod(time, _SECOND), Sending.AT_ONCE)
        return 0.0

    def idle_steps(self) -> int:
        """Compiled steps publish what belongs to no tick of the lockstep."""
        compiled, clock = self._simulation.compiled, self._clock_batch.compiled
        if not compiled or not clock or not self._clock.handle:
            return 0
        batches, stage = self._batches(), self._stage
        told = (compiled, batches, *stage.plan.controlled_frames)
        if not _are_same(told, self._compiled):
            self._compiled = told
            every = self._settings.clock_every
            compiled.publish(stage.compile(), clock, every, clock_last=self._clock_last)
        if not stage.in_python:
            return MANY
        number = self._simulation.next_step_number
        wanted = (group for group in stage.in_python if group.batch.has_subscriptions)
        return min((-number % group.every for group in wanted), default=MANY)

    def before_compiled(self, time: float) -> None:
        """Update what follows from commands, which compiled steps publish."""
        self._stage.prepare(time)

    def after_step(self) -> None:
        """Publish the topics that are due."""
        self.publish()

    def publish(self, *, everything: bool = False) -> None:
        """Publish the topics that are due at this sample, or all; called once per step."""
        # From the time, not counted: the same samples are published after each reset.
        step = self._simulation.step_number
        ticking = self._ticking = self._lockstep.begin()
        last = everything or (self._run is not None and self._run.is_last())
        self._due.clear()
        for batched in self._batches():
            on_time = batched.every and (step % batched.every == 0 or last)
            if on_time or not batched.robots.isdisjoint(ticking):
                self._due.append(batched)
        every = self._lockstep.clock_every or self._settings.clock_every
        has_clock = bool(ticking) or (step % every == 0 or last if every else bool(self._due))
        if not has_clock and not self._due:
            return
        stamp = split(self._simulation.time)
        if ticking:
            self._forget_joins()
            self._stage.label(self._simulation.epochs.number)
        # The lockstep waits for the answer.
        sending = Sending.AT_ONCE if self._lockstep.robots else Sending.WAITING
        if has_clock and not self._clock_last:
            self._clock_batch.publish(*stamp, sending)
        for batched in self._due:
            if batched.batch.has_subscriptions:
                for update in batched.updates:
                    update()
                batched.batch.publish(*stamp, sending)
        if ticking:
            for other in self._others:
                other.publish_tick(ticking)
        if has_clock and self._clock_last:
            if ticking and self._confirm is not None:
                self._confirm(self._lockstep.counted)
            self._clock_batch.publish(*stamp, sending)

    def _batches(self) -> list[TopicGroup]:
        """Return the batches, arranged again after a change of the lockstep."""
        if self._lockstep.robots is not self._settings.locked:
            self._arrange()
        return self._stage.batches

    def _arrange(self) -> None:
        """Batch topics by the present rates, timestep and lockstep."""
        self._settings = self._present_settings()
        self._stage.arrange(self._settings)

    def _repeat(self, joined: Collection[TopicPublisher] | None) -> None:
        """Publish the sample of the last tick again, with some of the publishers, or all."""
        own = (self._clock, *self._stage.topics) if joined is None else joined
        stamp, batches = split(self._simulation.time), self._batches()
        self._stage.label(self._simulation.epochs.number)
        if not self._clock_last:
            self._clock_batch.repeat(*stamp, own)
        for due in batches:
            if not due.robots.isdisjoint(self._ticking):
                for update in due.updates:
                    update()
                due.batch.repeat(*stamp, own)
        for other in self._others:
            other.repeat_tick(self._ticking, joined)
        if self._clock_last:
            self._clock_batch.repeat(*stamp, own)

    def _present_settings(self) -> PublishSettings:
        timestep = float(self._simulation.model.opt.timestep)
        return PublishSettings(
            rates=self._rates,
            locked=self._lockstep.robots,
            timestep=timestep,
            clock_every=whole_steps(self._clock_rate, timestep) if self._clock_rate else 0,
            managed=self._clock_last,
        )

    def _forget_joins(self) -> None:
        """Forget the subscriptions that receive the present tick, or were there at the last one.

        Topics of other components may have been sent before the subscription joined.
        """
        for _ in range(len(self._joined)):
            since, publisher = joined = self._joined.popleft()
            is_own = publisher is self._clock or publisher in self._stage.topics
            if since >= self._ticked and not is_own:
                self._joined.append(joined)
        self._ticked = perf_counter()

    def _note_join(self, publisher: TopicPublisher) -> None:
        self._joined.append((perf_counter(), publisher))

    def _open(self, serialized: SerializedTopic) -> TopicPublisher:
        topic = serialized.topic
        return self._pool.open(type(topic.message), topic.name, topic.qos)

    def _staged(self, plan: TopicPlan) -> TopicStage:
        """Open the publishers of a plan, and arrange its topics."""
        topics = {self._open(serialized): serialized for serialized in plan.contents}
        stage = TopicStage(plan, topics, self._settings)
        stage.arrange(self._settings)
        return stage

    def _close_others(self) -> None:
        """Close all publishers except /clock and the publishers of the current and next stage."""
        coming = () if self._next is None else self._next.topics
        self._pool.close_others((self._clock, *self._stage.topics, *coming))


def _are_same(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Return whether two tuples have the same objects."""
    return len(some) == len(others) and all(map(is_, some, others))
