"""Trial of a simulator that is ours or not: its joint_states, processor time and memory."""

import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
from controller_manager_msgs.srv import ConfigureController, LoadController, SwitchController
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from benchmark.measurements.footprint import parts_mb
from benchmark.processes.child_process import cpu_s
from benchmark.processes.simulator_client import SimulatorClient

_STAMP = struct.Struct("<iI")
_STAMP_AT = 4
_SETTLE_S, _PAUSE_S = 3.0, 0.002
_DEPTH = 5000
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def states(
    client: SimulatorClient, seconds: float, pid: int, controller: str = "", description: str = ""
) -> dict[str, Any]:
    """Record the joint_states of some seconds: arrival and stamp of each [ns].  # (n, 2).

    Args:
        client: A client of the ROS domain.
        seconds: Duration.
        pid: Id of the simulator's process.
        controller: A controller that has to be activated before.
        description: File with the description of the robot that its controller_manager waits for.
    """
    if description:
        publisher = client.node.create_publisher(String, "robot_description", _LATCHED)
        publisher.publish(String(data=Path(description).read_text(encoding="utf-8")))
    if controller:
        _activate(client, controller)
    received: list[tuple[int, int]] = []
    # Outside the executor, whose cost of each message would limit a run that is flat out.
    node = Node("state_reader", context=client.node.context)
    subscription = node.create_subscription(JointState, "joint_states", id, _DEPTH)

    def read(duration_s: float) -> None:
        """Take what arrives; pauses collect several messages for each wake-up."""
        until = time.monotonic() + duration_s
        while time.monotonic() < until:
            time.sleep(_PAUSE_S)
            with subscription.handle:
                while taken := subscription.handle.take_message(JointState, True):
                    sec, nanosec = _STAMP.unpack_from(taken[0], _STAMP_AT)
                    received.append((time.monotonic_ns(), 1_000_000_000 * sec + nanosec))

    while not received:
        read(_PAUSE_S)
    read(_SETTLE_S)
    begun, before = len(received), cpu_s(pid)
    read(seconds)
    spent, records = cpu_s(pid) - before, np.array(received[begun:])
    return {"states": records, "cpu_s": spent, "pss_mb": sum(parts_mb(pid).values())}


def _activate(client: SimulatorClient, name: str) -> None:
    """Load, configure and activate a controller of a controller_manager."""
    requests = (
        (LoadController, "load_controller", LoadController.Request(name=name)),
        (ConfigureController, "configure_controller", ConfigureController.Request(name=name)),
        (
            SwitchController,
            "switch_controller",
            SwitchController.Request(
                activate_controllers=[name], strictness=SwitchController.Request.STRICT
            ),
        ),
    )
    for kind, service, request in requests:
        caller = client.node.create_client(kind, f"/controller_manager/{service}")
        client.until(caller.service_is_ready)
        if not client.wait(caller.call_async(request)).ok:
            raise RuntimeError(f"the peer rejects {service} of {name}")
