"""Parameters of a simulator that does not respond in time."""

import pytest
from rcl_interfaces.msg import ListParametersResult, ParameterDescriptor, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters

from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters

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
