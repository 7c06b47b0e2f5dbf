"""What the viewer knows of parameters, of a simulator that is too busy to answer."""

import pytest
from rcl_interfaces.msg import ListParametersResult, ParameterDescriptor, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters

from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters

LIST, DESCRIBE, GET = (f"/mujoco/{name}_parameters" for name in ("list", "describe", "get"))
LISTED = ListParameters.Response(result=ListParametersResult(names=["seed"]))
DESCRIBED = DescribeParameters.Response(descriptors=[ParameterDescriptor(name="seed")])
GOT = GetParameters.Response(values=[ParameterValue(type=2, integer_value=7)])


@pytest.mark.parametrize("unanswered", [LIST, DESCRIBE, GET])
def test_what_is_not_answered_is_asked_for_again(asker, endpoints, unanswered):
    parameters = SimulatorParameters(asker, endpoints, "/mujoco")
    parameters.fetch()
    gave_up = False
    for now in range(10):
        for name, response in ((LIST, LISTED), (DESCRIBE, DESCRIBED), (GET, GOT)):
            if name not in asker.names():
                continue
            if name == unanswered and not gave_up:
                gave_up = True
                asker.give_up(name)
            else:
                asker.answer(name, response)
        parameters.tick(float(now))
    assert gave_up
    assert parameters.known["seed"].value == 7
    assert asker.open == []
