"""Parameters of a simulator that does not respond in time."""

import pytest
from rcl_interfaces.msg import (
    ListParametersResult,
    Parameter,
    ParameterDescriptor,
    ParameterEvent,
    ParameterValue,
)
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters

from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.wire.parameter_spec import ParameterSpec

LIST, DESCRIBE, GET = (f"/mujoco/{name}_parameters" for name in ("list", "describe", "get"))
LISTED = ListParameters.Response(result=ListParametersResult(names=["seed"]))
DESCRIBED = DescribeParameters.Response(descriptors=[ParameterDescriptor(name="seed")])
GOT = GetParameters.Response(values=[ParameterValue(type=2, integer_value=7)])


@pytest.mark.parametrize("unanswered", [LIST, DESCRIBE, GET])
def test_a_request_without_a_response_is_repeated(caller, endpoints, unanswered):
    parameters = SimulatorParameters(caller, None, endpoints, "/mujoco")
    parameters.fetch()
    timed_out = False
    for now in range(10):
        for name, response in ((LIST, LISTED), (DESCRIBE, DESCRIBED), (GET, GOT)):
            if name not in caller.names():
                continue
            if name == unanswered and not timed_out:
                timed_out = True
                caller.give_up(name)
            else:
                caller.answer(name, response)
        parameters.tick(float(now))
    assert timed_out
    assert parameters.known["seed"].value == 7
    assert caller.open == []


def test_a_parameter_keeps_its_first_value_and_lists_its_choices(caller, endpoints, monkeypatch):
    taken = []
    monkeypatch.setattr(
        endpoints, "subscription", lambda _kind, _topic, take, _qos: taken.append(take)
    )
    parameters = SimulatorParameters(caller, None, endpoints, "/mujoco")
    parameters.fetch()
    spec = ParameterSpec("mode", "off", "Mode", choices=("off", "on"), read_only=True)
    names = ListParametersResult(names=["mode"])
    value = ParameterValue(type=4, string_value="off")
    answers = (
        (LIST, ListParameters.Response(result=names)),
        (DESCRIBE, DescribeParameters.Response(descriptors=[spec.descriptor()])),
        (GET, GetParameters.Response(values=[value])),
    )
    for now, (name, answer) in enumerate(answers):
        parameters.tick(float(now))
        caller.answer(name, answer)
    info = parameters.known["mode"]
    assert (info.value, info.initial, info.choices) == ("off", "off", ("off", "on"))
    assert info.read_only
    changed = Parameter(name="mode", value=ParameterValue(type=4, string_value="on"))
    added = Parameter(name="seed", value=ParameterValue(type=2, integer_value=7))
    taken[0](ParameterEvent(node="/mujoco", changed_parameters=[changed], new_parameters=[added]))
    info = parameters.known["mode"]
    assert (info.value, info.initial) == ("on", "off")
    assert parameters.known["seed"].initial == 7
