"""The panel of an extension, in a running simulator."""

import json
from pathlib import Path

from belt_scene import write_belt_scene
from rclpy.qos import DurabilityPolicy, QoSProfile
from simulators import SimulatorLauncher
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

BELT = """
extensions:
  - {use: conveyor_belt, name: belt, robot: line, settings: {speed: 0.5, acceleration: 2.0}}
"""
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def test_a_belt_is_stopped_by_a_button_of_its_panel(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    simulator = start.simulator(scene=write_belt_scene(tmp_path, BELT), cameras=False)
    listener = start.listener(simulator)
    base = "/belt/panel"
    descriptions = listener.record(String, base, qos=LATCHED)
    distances = listener.record(Float64MultiArray, f"{base}/travelled", reliable=True)
    assert listener.spin_until(lambda: len(descriptions) > 0 and len(distances) > 0)
    described = json.loads(descriptions.latest.data)
    (group,) = described["groups"]
    speed, *_ = group["items"]
    kinds = [item["kind"] for item in group["items"]]
    assert kinds == ["number", "button", "button", "value", "plot"]
    speeds = listener.record(String, f"{base}/present_speed", reliable=True)
    assert listener.spin_until(lambda: len(speeds) > 0 and speeds.latest.data == '[["0.5"]]')
    assert listener.get_parameter(speed["parameter"]) == 0.5
    client = listener.node.create_client(Trigger, f"{base}/stop")
    assert listener.spin_until(client.service_is_ready)
    answer = listener.result(client.call_async(Trigger.Request()))
    assert answer.success, answer.message

    def stands() -> bool:
        last = [message.data[0] for message in distances.messages[-50:]]
        return len(last) == 50 and last[0] == last[-1]

    assert listener.spin_until(stands)
    (disabled,) = listener.set_parameters({speed["parameter"].replace("speed", "enabled"): False})
    assert disabled.successful
    answer = listener.result(client.call_async(Trigger.Request()))
    assert not answer.success
    assert "is disabled" in answer.message
