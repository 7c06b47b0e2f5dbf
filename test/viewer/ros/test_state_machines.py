"""State machines of nodes that are too busy to answer."""

from lifecycle_msgs.msg import State, TransitionDescription
from lifecycle_msgs.srv import GetAvailableStates, GetAvailableTransitions

from mujoco_ros.viewer.ros.state_machines import StateMachines

GRAPH, STATES = "/walker/get_transition_graph", "/walker/get_available_states"


class Node:
    def get_service_names_and_types(self):
        return [("/walker/change_state", ["lifecycle_msgs/srv/ChangeState"])]


def test_the_graph_of_a_machine_is_asked_for_until_it_is_known(asker, endpoints):
    machines = StateMachines(Node(), asker, endpoints)
    machines.tick(0.0)
    asker.give_up(GRAPH)
    asker.answer(STATES, GetAvailableStates.Response(available_states=[State(label="idle")]))
    asker.open.clear()
    machines.tick(2.0)
    assert STATES not in asker.names()
    stand = TransitionDescription()
    stand.transition.label, stand.start_state.label = "stand", "idle"
    asker.answer(GRAPH, GetAvailableTransitions.Response(available_transitions=[stand]))
    assert machines.known["/walker"].states == ("idle",)
    assert [edge.label for edge in machines.known["/walker"].edges] == ["stand"]
    machines.tick(4.0)
    assert GRAPH not in asker.names()
