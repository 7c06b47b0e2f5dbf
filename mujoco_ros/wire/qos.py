"""Quality of service of topics."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data

RELIABLE = QoSProfile(depth=10)  # what ros2_control's publishers and subscribers use
SENSOR = qos_profile_sensor_data
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
TF = QoSProfile(depth=100)  # as tf2_ros' DynamicBroadcasterQoS
DEEP = QoSProfile(depth=100)
"""For recorders, which need every message and may be late on a busy machine."""
