"""The seed determines what chaos does."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from actions import _ACTIONS, _without_end, action
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from message_generator import MessageGenerator, Vocabulary
from rcl_interfaces.msg import ParameterValue
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import SetSimulationState

COUNT = 300
WORDS = Vocabulary(
    joints=("a", "b"),
    names=("box",),
    frames=("world",),
    parameters=("kp",),
    uris=("",),
    texts=("",),
)


@pytest.fixture
def session() -> Any:
    """The interfaces of a session."""
    return SimpleNamespace(
        subscriptions={"/joint_commands": "sensor_msgs/msg/JointState"},
        services={"/mujoco/reset_simulation": "simulation_interfaces/srv/ResetSimulation"},
        parameters={f"kp{i}": ParameterValue(type=3, double_value=1.0) for i in range(30)},
        generator=MessageGenerator(WORDS),
    )


def _texts(session: Any, seed: int) -> list[str]:
    return [action(session, seed, number).text for number in range(COUNT)]


def test_a_seed_repeats_its_actions_and_another_seed_has_others(session: Any) -> None:
    assert _texts(session, 1) == _texts(session, 1)
    assert _texts(session, 1) != _texts(session, 2)


def test_every_kind_of_action_is_drawn(session: Any) -> None:
    words = {text.split()[1] for text in _texts(session, 1)}
    expected = "publish call set send spawn delete move reset state restore kill stop record wait"
    assert words >= set(expected.split())
    assert len(_ACTIONS) > len(expected.split())


def test_messages_are_plausible_and_hostile(session: Any) -> None:
    messages = [_message(session, number) for number in range(COUNT)]
    named = [message for message in messages if list(message.name) == ["a", "b"]]
    assert len(named) > COUNT / 4
    values = [value for message in messages for value in message.position]
    assert any(value != value for value in values)  # NaN
    assert any(abs(value) == float("inf") for value in values)


def _message(session: Any, number: int) -> JointState:
    return session.generator.draw(JointState, Random(number))


def test_requests_that_end_the_simulator_are_changed() -> None:
    quitting = SetSimulationState.Request()
    quitting.state.state = SimulationState.STATE_QUITTING
    _without_end(quitting)
    assert quitting.state.state != SimulationState.STATE_QUITTING
    shutdown = ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_ACTIVE_SHUTDOWN, label="shutdown")
    )
    _without_end(shutdown)
    assert (shutdown.transition.id, shutdown.transition.label) == (
        Transition.TRANSITION_ACTIVATE,
        "",
    )
