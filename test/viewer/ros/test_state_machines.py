"""State machines of nodes that do not respond in time."""

from lifecycle_msgs.msg import State, TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import GetAvailableStates, GetAvailableTransitions
from std_msgs.msg import String

from mujoco_ros.viewer.ros.state_machines import StateMachines

GRAPH, STATES = "/walker/get_transition_graph", "/walker/get_available_states"


class Node:
    def get_service_names_and_types(self):
        return [("/walker/change_state", ["lifecycle_msgs/srv/ChangeState"])]


def test_the_reason_of_a_state_is_received(caller, endpoints, monkeypatch):
    topics = {}
    monkeypatch.setattr(
        endpoints, "subscription", lambda _kind, topic, take, _qos: topics.update({topic: take})
    )
    machines = StateMachines(Node(), caller, None, endpoints)
    machines.tick(0.0)
    topics["/walker/reason"](String(data="no leg is left"))
    assert machines.known["/walker"].reason == "no leg is left"
    for label, reason in (("slip", "the floor is wet"), ("retry", "")):
        event = TransitionEvent()
        event.transition.label = label
        topics["/walker/transition_event"](event)
        topics["/walker/reason"](String(data=reason))
    events = [(made.label, made.reason) for _, made in machines.known["/walker"].events]
    assert events == [("slip", "the floor is wet"), ("retry", "")]


def test_the_graph_of_a_machine_is_requested_until_it_arrives(caller, endpoints):
    machines = StateMachines(Node(), caller, None, endpoints)
    machines.tick(0.0)
    caller.give_up(GRAPH)
    caller.answer(STATES, GetAvailableStates.Response(available_states=[State(label="idle")]))
    caller.open.clear()
    machines.tick(2.0)
    assert STATES not in caller.names()
    stand = TransitionDescription()
    stand.transition.label, stand.start_state.label = "stand", "idle"
    caller.answer(GRAPH, GetAvailableTransitions.Response(available_transitions=[stand]))
    assert machines.known["/walker"].states == ("idle",)
    assert [each.label for each in machines.known["/walker"].transitions] == ["stand"]
    machines.tick(4.0)
    assert GRAPH not in caller.names()
