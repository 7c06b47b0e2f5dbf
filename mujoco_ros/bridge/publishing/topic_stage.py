"""The topics of one model, grouped by the steps at which they are published."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mujoco_ros.bridge.publishing.contact_states import ContactStates
from mujoco_ros.bridge.publishing.engine_topics import ENGINE
from mujoco_ros.bridge.publishing.template_publisher import Batch, SerializedTopic
from mujoco_ros.bridge.publishing.topic_plan import Derived, TopicPlan
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.publishing.topics import CARTESIAN_STATE, CONTACTS, JOINT_REFERENCES
from mujoco_ros.model.sensors.sensor_arrays import ARRAY
from mujoco_ros.model.sensors.sensor_states import STATES
from mujoco_ros.sim.stepping.compiled_topics import CompiledTopics, Updates

_APART = ("controller_state", JOINT_REFERENCES, CARTESIAN_STATE, STATES, ARRAY, CONTACTS, ENGINE)
_AT_TICKS = 0  # in place of a number of steps: only at ticks of the lockstep


@dataclass(frozen=True, kw_only=True)
class PublishSettings:
    """Settings on which the batches depend."""

    rates: dict[str, float] = field(default_factory=dict)  # rates of the topics [Hz]
    locked: frozenset[str] = frozenset()  # robots that the clock waits for
    timestep: float = 0.0  # simulated time of a step [s]
    # Steps from one message of the clock to the next; 0 if that is as the others
    clock_every: int = 0
    # Whether joint states come with every message of the clock, for a controller_manager
    managed: bool = False


@dataclass(frozen=True, kw_only=True)
class TopicGroup:
    """Topics that are published at the same steps."""

    every: int  # steps from one message to the next
    robots: frozenset[str]  # robots at whose ticks they are published as well
    topics: Mapping[TopicPublisher, SerializedTopic]  # the topics by their publishers
    updates: list[Callable[[], None]]  # compute the derived arrays
    batch: Batch | ContactStates  # the messages


class _Prepared(NamedTuple):
    """What Python computes for topics before a run of compiled steps."""

    ready: np.ndarray  # whether it did.  # (1,)
    publishers: tuple[TopicPublisher, ...]
    calls: tuple[Callable[[float], None], ...]  # with the time at which the run begins [s]


@dataclass(eq=False)
class TopicStage:
    """The topics of one plant by their publishers, in batches."""

    plan: TopicPlan
    topics: dict[TopicPublisher, SerializedTopic]
    settings: PublishSettings
    batches: list[TopicGroup] = field(default_factory=list)
    epoch: int = -1
    prepared: list[_Prepared] = field(default_factory=list)  # for compiled steps
    in_python: list[TopicGroup] = field(default_factory=list)  # what compiled steps do not publish
    labelled: dict[SerializedTopic, SerializedTopic] = field(default_factory=dict)

    def label(self, epoch: int) -> None:
        """Name the epoch in the messages of ticks."""
        if epoch != self.epoch:
            self.epoch = epoch
            for batched in self.batches:
                if isinstance(batched.batch, Batch):
                    batched.batch.label(epoch)

    def arrange(self, settings: PublishSettings) -> None:
        """Batch the topics that are published at the same steps."""
        self.settings, self.epoch = settings, -1
        groups: dict[tuple[int, str, tuple[str, ...]], dict[TopicPublisher, SerializedTopic]] = {}
        for publisher, serialized in self.topics.items():
            topic = serialized.topic
            rate = self.plan.rate(topic, settings.rates) if settings.rates else 0.0
            if rate:
                # Large and rarely subscribed: in its own batch it can be skipped.
                apart = topic.name if topic.rate in _APART else ""
                # The poses of objects are an observation of all robots.
                observers = settings.locked if topic.rate == "tf" else {self.plan.robot(topic)}
                robots = tuple(sorted(observers & settings.locked))
                at_ticks = robots and topic.rate == "joint_states"
                if at_ticks:
                    serialized = self._with_epoch(serialized)
                every = _AT_TICKS if at_ticks else max(1, round(1 / (rate * settings.timestep)))
                if topic.rate == "joint_states" and settings.managed:
                    every = math.gcd(every, settings.clock_every)
                groups.setdefault((every, apart, robots), {})[publisher] = serialized
        self.batches = [
            TopicGroup(
                every=every,
                robots=frozenset(robots),
                topics=topics,
                updates=self.plan.updates(topics.values()),
                batch=self._batch(topics),
            )
            for (every, _, robots), topics in sorted(groups.items(), key=lambda group: group[0])
        ]

    def compile(self) -> list[CompiledTopics]:
        """Return the batches for compiled steps, which belong to no tick of the lockstep."""
        self.prepared.clear()
        self.in_python.clear()
        updates: dict[Derived, Updates] = {}
        # The steps before a tick of the lockstep publish what does not come at ticks only.
        between = (group for group in self.batches if group.every != _AT_TICKS)
        return [self._compile(group, updates) for group in between]

    def _compile(self, group: TopicGroup, updates: dict[Derived, Updates]) -> CompiledTopics:
        messages = None
        ready, derived = None, self.plan.derived(group.topics.values())
        can_compile = all(publisher.handle for publisher in group.topics) and all(
            each.compile is not None for each in derived
        )
        if isinstance(group.batch, Batch) and can_compile:
            messages = group.batch.compiled
        for each in derived:
            if each not in updates:
                updates[each] = each.compiled()
        if messages is None:
            self.in_python.append(group)
        elif calls := tuple(each.prepare for each in derived if each.prepare is not None):
            ready = np.zeros(1, dtype=np.int64)
            self.prepared.append(_Prepared(ready, tuple(group.topics), calls))
        return CompiledTopics(
            every=group.every,
            messages=messages,
            ready=ready,
            updates=[updates[each] for each in derived],
            subscriptions=[publisher.sent_by_compiled for publisher in group.topics],
        )

    def prepare(self, time: float) -> None:
        """Prepare a run of compiled steps that begins at a time [s], for what is subscribed."""
        needed: dict[Callable[[float], None], None] = {}
        for ready, publishers, calls in self.prepared:
            # Python publishes what is subscribed during the run.
            ready[0] = is_wanted = any(publisher.subscriptions for publisher in publishers)
            if is_wanted:
                needed.update(dict.fromkeys(calls))
        for call in needed:
            call(time)

    def _with_epoch(self, serialized: SerializedTopic) -> SerializedTopic:
        if serialized not in self.labelled:
            self.labelled[serialized] = serialized.labelled()
        return self.labelled[serialized]

    def _batch(self, topics: Mapping[TopicPublisher, SerializedTopic]) -> Batch | ContactStates:
        publisher, serialized = next(iter(topics.items()))
        if serialized.topic.rate == CONTACTS:
            return self.plan.contact_states(serialized.topic, publisher)
        return Batch(topics, self.plan.arrays)
