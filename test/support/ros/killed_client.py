"""Sends a long goal, prints "moving", and waits to be killed: ``killed_client.py <seconds>``."""

import os
import sys

from command_clients import CommandClient, point
from control_msgs.msg import JointTrajectoryControllerState
from simulators import Listener

listener = Listener(int(os.environ["ROS_DOMAIN_ID"]))
states = listener.record(
    JointTrajectoryControllerState, "/joint_trajectory_controller/controller_state", reliable=True
)
assert listener.spin_until(lambda: len(states) > 0)
(state, *_) = states.messages
target = [position + 0.1 for position in state.reference.positions]
goal = point(float(sys.argv[1]), target, [0.0] * len(target))
sent = CommandClient(listener).follow(goal, joints=state.joint_names)
assert sent.accepted
assert listener.spin_until(lambda: len(sent.feedback) > 1)
sys.stdout.write("moving\n")
sys.stdout.flush()
listener.spin_for(1e6)
