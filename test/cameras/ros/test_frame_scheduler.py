"""Times of frames, with a clock and a simulation set by the test."""

from dataclasses import dataclass, field
from itertools import pairwise

import mujoco
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros.frame_scheduler import POLL_S, FrameScheduler
from mujoco_ros.cameras.ros.source import FrameDelivery, FrameSource, StateSnapshot
from mujoco_ros.model.realism_config import Delivery
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.process.heartbeat import FIRST_FRAME_S, TIMEOUT_S
from mujoco_ros.sim.shared_memory.reader import Update

MODEL = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
)


class State:
    """A simulation that the test steps."""

    def __init__(self) -> None:
        self.model, self.data = MODEL, mujoco.MjData(MODEL)
        self.layout = ModelLayout(robots=(), free_objects=(), cameras=(), lidars=())
        self.step = self.resets = 0
        self.paused = False
        self.factor = 1.0
        self.patience: list[float] = []
        self.now = (0.0, 0)
        self.has_another_model = False

    @property
    def time(self) -> float:
        return float(self.data.time)

    def beat(self, patience_s: float = TIMEOUT_S) -> None:
        self.patience.append(patience_s)

    def peek(self) -> tuple[float, int]:
        return self.now

    def go_to(self, time: float) -> None:
        self.now = (time, self.now[1] + 1)

    def update(self) -> Update:
        if self.has_another_model:
            self.has_another_model = False
            return Update.MODEL
        before, (self.data.time, self.step) = self.step, self.now
        return Update.NOTHING if self.step == before else Update.STATE


class Counted(FrameSource):
    """Records the times of its frames."""

    def __init__(
        self, name: str = "camera/one", rate: float = 10.0, subscriptions: int = 1
    ) -> None:
        self.publisher = TopicPublisher(name)
        super().__init__(name, rate, [self.publisher])
        self.subscribe(subscriptions)
        self.frames: list[float] = []
        self.takes_s = 0.0
        self.clock: Clock | None = None

    def subscribe(self, count: int) -> None:
        self.publisher.joined |= count > self.publisher.subscriptions
        self.publisher.subscriptions = count

    def publish(self, snapshot: StateSnapshot) -> None:
        self.frames.append(snapshot.time)
        if self.clock:
            self.clock.now += self.takes_s


class Late(Counted):
    """Records the times of its frames when they arrive."""

    def __init__(self, delay: float, rate: float = 10.0, dropout: float = 0.0) -> None:
        super().__init__(rate=rate)
        self.delivery = FrameDelivery(self.name, 0, Delivery(delay=delay, dropout=dropout))
        self.state: State | None = None
        self.arrived: list[tuple[float, float]] = []
        self.publisher.publish = self._arrive

    def publish(self, snapshot: StateSnapshot) -> None:
        super().publish(snapshot)
        self.send(self.publisher, b"%d" % round(snapshot.time * 1e3))

    def _arrive(self, message: bytes) -> None:
        assert self.state is not None
        self.arrived.append((int(message) / 1e3, self.state.now[0]))


class Broken(Counted):
    """Fails."""

    def publish(self, snapshot: StateSnapshot) -> None:
        raise ValueError("there is no light")


@dataclass
class Clock:
    """Wall time."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Scene:
    """A scheduler of sources, with wall and simulated time."""

    sources: list[FrameSource]
    state: State = field(default_factory=State)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.scheduler = FrameScheduler(self.state, lambda: list(self.sources), self.clock)

    def run(self, seconds: float, step: float = 0.002) -> int:
        """Simulate, calling the scheduler as often as it requests; return how often."""
        turns, end = 0, self.clock.now + seconds
        while self.clock.now < end - 1e-9:
            wait = self.scheduler.spin_once()
            turns += 1
            self.clock.now += wait
            begun = self.state.now[0]
            if not self.state.paused:
                steps = round(wait * self.state.factor / step)
                if steps:
                    self.state.go_to(begun + steps * step)
        return turns


def test_frames_have_the_rate_and_the_process_sleeps_between_them():
    source = Counted(rate=10.0)
    scene = Scene([source])
    turns = scene.run(1.0)
    assert source.frames == pytest.approx([0.1 * k for k in range(10)], abs=0.0021)
    assert turns < 60


def test_sources_of_one_rate_show_the_same_states():
    left, right, slow = (
        Counted(f"camera/{n}", rate) for n, rate in {"a": 20.0, "b": 20.0, "c": 4.0}.items()
    )
    Scene([left, right, slow]).run(0.6)
    assert len(left.frames) == 12
    assert left.frames == right.frames
    assert set(slow.frames) <= set(left.frames)


def test_without_subscriptions_and_at_rate_zero_nothing_is_computed_and_checks_are_rare():
    unsubscribed, off = Counted(subscriptions=0), Counted(rate=0.0)
    turns = Scene([unsubscribed, off]).run(1.0)
    assert unsubscribed.frames == off.frames == []
    assert turns <= 1.0 / POLL_S + 2


def test_a_new_subscription_during_a_pause_gets_the_current_frame_once():
    source = Counted(subscriptions=0)
    scene = Scene([source])
    scene.run(0.33)
    scene.state.paused = True
    source.subscribe(1)
    scene.run(0.5)
    (first,) = source.frames
    assert first == scene.state.time
    source.subscribe(2)
    scene.run(0.5)
    assert source.frames == [first, first]


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "waiting for commands"])
def test_a_subscription_between_two_frames_waits_only_while_time_advances(paused: bool) -> None:
    source = Counted(rate=1.0)
    scene = Scene([source])
    scene.run(0.3)
    scene.state.paused = paused
    scene.state.factor = 0.0 if not paused else 1.0  # the time of the test is constant
    source.subscribe(2)
    for _ in range(400):
        scene.clock.now += scene.scheduler.spin_once()
    assert len(source.frames) == 2


def test_changes_during_a_pause_are_shown_at_most_at_the_rate():
    source = Counted(rate=10.0)
    scene = Scene([source])
    scene.run(0.2)
    scene.state.paused = True
    scene.run(0.2)
    before = len(source.frames)
    end = scene.clock.now + 1.0
    while scene.clock.now < end:
        scene.state.go_to(scene.state.time)  # changed, at the same time
        scene.clock.now += max(0.01, scene.scheduler.spin_once())
    scene.run(0.3)
    assert 7 <= len(source.frames) - before <= 11


def test_a_source_that_is_too_slow_skips_frames():
    source = Counted(rate=100.0)
    scene = Scene([source])
    source.clock, source.takes_s = scene.clock, 0.05

    for _ in range(40):
        wait = scene.scheduler.spin_once()
        scene.clock.now += wait
        scene.state.go_to(scene.clock.now - 100.0)
    gaps = [later - earlier for earlier, later in pairwise(source.frames)]
    assert min(gaps) > 0.045
    assert source.statistics.take_latest()[1] == pytest.approx(0.05)


def test_a_source_that_fails_logs_the_reason_and_the_others_continue(caplog):
    broken, sound = Broken("camera/broken"), Counted("camera/sound")
    scene = Scene([broken, sound])
    scene.run(0.5)
    assert len(sound.frames) == 5
    assert broken.failure == "ValueError: there is no light"
    assert len(caplog.records) == 1


def test_another_model_has_other_sources():
    old, new = Counted("camera/old"), Counted("camera/new")
    scene = Scene([old])
    scene.run(0.2)
    scene.sources = [new]
    scene.state.has_another_model = True
    before = len(old.frames)
    scene.run(0.3)
    assert len(old.frames) == before
    assert len(new.frames) >= 2
    assert scene.scheduler.sources == [new]


def test_the_first_frame_has_a_long_timeout_and_later_ones_a_short_one():
    source = Counted()
    scene = Scene([source])
    source.clock, source.takes_s = scene.clock, 0.05
    scene.run(0.05)
    assert max(scene.state.patience) == FIRST_FRAME_S
    scene.state.patience.clear()
    source.subscribe(2)  # to the same topic
    scene.run(0.5)
    assert len(source.frames) > 3
    assert max(scene.state.patience) == TIMEOUT_S
    source.untried = {source.publisher}  # of another model, or of another quality
    scene.run(0.2)
    assert max(scene.state.patience) == FIRST_FRAME_S


def test_the_timeout_of_a_frame_is_four_times_the_recent_duration():
    source, other = Counted(), Counted("camera/other")
    scene = Scene([source, other])
    for one, takes_s in {source: 0.5, other: 0.1}.items():
        one.clock, one.takes_s = scene.clock, takes_s
    scene.run(3.0)
    scene.state.patience.clear()
    scene.run(2.0)
    assert sorted({round(patience, 6) for patience in scene.state.patience}) == [TIMEOUT_S, 2.0]


@pytest.mark.parametrize("rate", [0.0, 10.0])
def test_a_trigger_requests_a_frame_of_the_current_state(rate):
    source = Counted(rate=rate)
    scene = Scene([source])
    scene.run(0.15)
    regular = len(source.frames)
    source.triggered = True
    at = scene.state.now[0]
    scene.scheduler.spin_once()
    scene.scheduler.spin_once()
    assert source.frames[regular:] == [at]
    assert not source.triggered
    scene.run(0.25)
    assert len(source.frames) == regular + 1 + round(rate * 0.25), "its rate stays the same"


def test_a_late_frame_is_published_after_its_delay_and_the_process_sleeps_between() -> None:
    source = Late(delay=0.13)
    scene = Scene([source])
    source.state = scene.state
    turns = scene.run(1.0)
    assert [frame for frame, _ in source.arrived] == pytest.approx(source.frames[:9])
    delays = [arrival - frame for frame, arrival in source.arrived]
    assert min(delays) >= 0.13 - 1e-9
    assert max(delays) < 0.13 + 0.0021
    assert turns < 120


def test_a_lost_frame_is_not_computed() -> None:
    source = Late(delay=0.0, dropout=1.0)
    scene = Scene([source])
    scene.run(1.0)
    assert source.frames == []
    assert source.delivery is not None
    assert source.delivery.lost == 10


def test_requested_frames_and_those_of_a_pause_arrive_at_once() -> None:
    source = Late(delay=1.0, dropout=1.0)
    scene = Scene([source])
    source.state = scene.state
    scene.run(0.15)
    source.triggered = True
    scene.run(0.01)
    assert len(source.arrived) == 1
    scene.state.paused = True
    source.subscribe(2)
    scene.run(0.3)
    assert [frame for frame, _ in source.arrived][1:] == [pytest.approx(scene.state.time, abs=1e-3)]


def test_the_last_of_several_slow_sources_is_late_as_well() -> None:
    sources = [Late(delay=1.0) for _ in range(4)]
    scene = Scene(list(sources))
    for source in sources:
        source.state, source.clock, source.takes_s = scene.state, scene.clock, 0.08
    scene.run(0.9)
    assert all(source.frames and not source.arrived for source in sources)
    assert not any(source.delivery.lost for source in sources)


def test_a_reset_discards_late_frames_even_if_the_time_continues() -> None:
    source = Late(delay=0.5)
    scene = Scene([source])
    source.state = scene.state
    scene.run(0.4)
    before = scene.state.time
    scene.state.resets += 1
    scene.run(1.0)
    assert min(frame for frame, _ in source.arrived) >= before
