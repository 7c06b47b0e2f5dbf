"""Everything the simulation publishes at its own pace."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rclpy.publisher import Publisher

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.publishing.template_publisher import (
    Batch,
    SerializedTopic,
    TemplatePublisher,
    split,
)
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topics import WrenchSign, clock_topic
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.tf.frame_plan import FramePlan
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep

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


class Publishers(ModelChangeListener):
    """Publishes the samples of a simulation: every topic at its own rate, /clock with them.

    A topic that the next model has as well keeps its publisher when the model changes.

    Attributes:
        is_last: Whether the simulation stands still after the present step, so that everything is
            to be published with it.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        simulation: Simulation,
        frames: Callable[[Plant], FramePlan],
        wrench_sign: WrenchSign,
        *,
        controllers: bool = True,
        lockstep: Lockstep | None = None,
    ) -> None:
        """Create the publishers of every topic; `set_rates` decides when they are used.

        Args:
            endpoints: Opens the publishers.
            simulation: What is published.
            frames: Returns the frames on /tf.
            wrench_sign: Whether wrenches say what the child does to the parent, or the reverse.
            controllers: Whether to publish the state of the robots' trajectory controllers.
            lockstep: Where the clock waits for those who command a robot, all that it senses is
                published at every tick, and its joint states at ticks only.
        """
        self.is_last: Callable[[], bool] = lambda: False
        self._lockstep = lockstep or Lockstep(simulation)
        self._endpoints = endpoints
        self._simulation = simulation
        self._frames = frames
        self._wrench_sign: WrenchSign = wrench_sign
        self._controllers = controllers
        self._ticking: frozenset[str] = frozenset()
        self._arrived: deque[TemplatePublisher] = deque(
            maxlen=1000
        )  # somebody began to listen to these
        self._publishers: dict[str, Publisher] = {}
        self._open: dict[str, TemplatePublisher] = {}
        self._rates: dict[str, float] = {}
        self._settings = _Settings()
        self._drafted: TopicPlan | None = None
        self._next: _Stage | None = None
        clock = SerializedTopic(clock_topic())
        self._clock = self._outlet(clock)
        self._clock_batch = Batch({self._clock: clock}, {})
        self.draft(simulation.plant)
        self.prepare(simulation.plant)
        self.switch()

    @property
    def _outlets(self) -> list[TemplatePublisher]:
        """What is published beside /clock."""
        return list(self._stage.outlets)

    @property
    def names(self) -> list[str]:
        """Names of all topics, /clock first."""
        return [outlet.topic.name for outlet in (self._clock, *self._outlets)]

    def lost(self) -> dict[str, int]:
        """Return how many messages the middleware did not take, for each topic with any."""
        return {o.topic.name: o.lost for o in (self._clock, *self._outlets) if o.lost}

    def draft(self, plant: Plant) -> None:
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

    def switch(self) -> None:
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

    def abort(self) -> None:
        """Close what was opened for the next plant."""
        self._next = self._drafted = None
        self._close_others(self._stage)

    def set_rates(self, rates: dict[str, float]) -> None:
        """Set the publish rates [Hz of simulated time], 0 for off; a robot's own go before."""
        self._rates = dict(rates)
        self._settings = self._present_settings()
        self._stage.arrange(self._settings)

    def publish(self) -> None:
        """Publish what is due at the present sample; called once per step."""
        # By the time, not counted: what is published after a reset is the same each time.
        step = self._simulation.step_number
        stamp = None
        ticking = self._ticking = self._lockstep.begin()
        last = self.is_last()
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

    def repeat(self) -> None:
        """Publish the sample of the last tick once more for those who came after it."""
        if not self._arrived:
            return
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
