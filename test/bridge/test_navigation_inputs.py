"""The rover follows a path in the office, and gives Nav2 and slam_toolbox what they need."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped, TwistStamped
from rclpy.duration import Duration
from rclpy.time import Time
from scipy.ndimage import distance_transform_edt
from sensor_msgs.msg import JointState, LaserScan
from simulators import Listener, SimulatorLauncher
from tf2_ros import Buffer, StaticTransformBroadcaster, TransformException, TransformListener

from mujoco_ros.cli.export_map import map_of_scene

PATH = np.array([(0.0, 0.0), (0.7, -0.15), (1.0, -0.7), (1.0, -1.5), (1.5, -2.4)])
"""From the corridor through a doorway of 1.0 m into the hall [m]."""
LIDAR_M = 0.28
LOOK_AHEAD_M = 0.4
LOCKSTEP: dict[str, Any] = {
    "mode": "lockstep",
    "lockstep_sources": "cmd_vel@50",
    "lockstep_timeout": 60.0,
}
"""The clock waits for each command, so that no transform is lost on a busy machine."""


class PathDriver:
    """Drives the base along `PATH`, by TF and cmd_vel, as controllers of Nav2 do."""

    def __init__(self, listener: Listener) -> None:
        self.node = listener.node
        self.buffer = Buffer(Duration(seconds=100))
        self.tf = TransformListener(self.buffer, self.node)
        self.commands = self.node.create_publisher(TwistStamped, "/cmd_vel", 10)
        self.ticks = listener.record(JointState, "/joint_states")
        self.answered = 0
        # What AMCL and slam_toolbox add to the tree.
        origin = TransformStamped(child_frame_id="odom")
        origin.header.frame_id = "map"
        StaticTransformBroadcaster(self.node).sendTransform(origin)
        steps = np.linspace(0.0, len(PATH) - 1, 200)
        self.points = np.array([np.interp(steps, range(len(PATH)), column) for column in PATH.T]).T
        self.passed = 0

    def has_arrived(self, *, may_move: bool) -> bool:
        """Answer the newest tick; return whether the base is at the end of the path."""
        if len(self.ticks) == self.answered:
            return False
        header = self.ticks.latest.header
        try:
            found = self.buffer.lookup_transform("map", "base_link", Time.from_msg(header.stamp))
        except TransformException:
            return False  # it comes soon
        self.answered = len(self.ticks)
        at = np.array([found.transform.translation.x, found.transform.translation.y])
        rotation = found.transform.rotation
        heading = 2.0 * math.atan2(rotation.z, rotation.w)
        distances = np.linalg.norm(self.points[self.passed :] - at, axis=1)
        self.passed += int(distances.argmin())
        ahead = self.points[self.passed :]
        far = np.flatnonzero(np.linalg.norm(ahead - at, axis=1) >= LOOK_AHEAD_M)
        towards = (ahead[far[0]] if far.size else ahead[-1]) - at
        error = math.remainder(math.atan2(towards[1], towards[0]) - heading, math.tau)
        arrived = bool(np.linalg.norm(self.points[-1] - at) < 0.1)
        command = TwistStamped(header=header)
        if may_move and not arrived:
            command.twist.linear.x = 0.8 * max(0.0, math.cos(error)) ** 2
            command.twist.angular.z = 2.0 * error
        self.commands.publish(command)
        return arrived

    def pose_at(self, scan: LaserScan) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotation (3, 3) and the origin (3,) of a scan's frame in the map."""
        stamp = Time.from_msg(scan.header.stamp)
        found = self.buffer.lookup_transform("map", scan.header.frame_id, stamp).transform
        r, t = found.rotation, found.translation
        x, y, z, w = r.x, r.y, r.z, r.w
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        return rotation, np.array([t.x, t.y, t.z])


@pytest.fixture(scope="module")
def drive(start_shared: SimulatorLauncher) -> tuple[PathDriver, list[LaserScan]]:
    simulator = start_shared.simulator(
        scene="office", tf="all", cameras="true", real_time_factor=0.5, **LOCKSTEP
    )
    listener = start_shared.listener(simulator)
    driver = PathDriver(listener)
    scans = listener.record(LaserScan, "/lidar/lidar/scan")
    arrived = listener.spin_until(lambda: driver.has_arrived(may_move=bool(scans)))
    assert arrived, simulator.log
    listener.spin_until(lambda: newest(driver) > seconds(scans.latest), 10.0)
    assert simulator.warnings() == []
    return driver, scans.messages


def seconds(scan: LaserScan) -> float:
    return scan.header.stamp.sec + 1e-9 * scan.header.stamp.nanosec


def newest(driver: PathDriver) -> float:
    stamp = driver.buffer.lookup_transform("map", "base_link", Time()).header.stamp
    return stamp.sec + 1e-9 * stamp.nanosec


def test_scans_come_in_order_with_the_geometry_that_scan_matchers_read(drive) -> None:
    _, scans = drive
    stamps = [seconds(scan) for scan in scans]
    assert len(scans) > 20
    assert all(before < after for before, after in pairwise(stamps))
    for scan in scans:
        rays = (scan.angle_max - scan.angle_min) / scan.angle_increment + 1
        assert len(scan.ranges) == round(rays) == 541
        assert (scan.header.frame_id, scan.time_increment) == ("lidar", 0.0)
        assert scan.scan_time == pytest.approx(0.1)


def test_scans_at_the_poses_of_tf_match_the_exported_map(drive) -> None:
    driver, scans = drive
    found = map_of_scene("office", heights=(LIDAR_M, LIDAR_M), movable=True)
    to_wall = distance_transform_edt(found.pixels[::-1] != 0) * found.resolution
    distances = []
    for scan in filter(seconds, scans):  # tf2 takes a stamp of zero for the latest
        rotation, origin = driver.pose_at(scan)
        ranges = np.array(scan.ranges)
        angles = (scan.angle_min + scan.angle_increment * np.arange(len(ranges)))[ranges < 30.0]
        ranges = ranges[ranges < 30.0]
        rays = np.column_stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)])
        points = origin + (ranges[:, None] * rays) @ rotation.T
        cells = np.floor((points[:, :2] - found.origin) / found.resolution).astype(int)
        distances.append(to_wall[cells[:, 1], cells[:, 0]])
    # In an occupied cell, or in one that touches it.
    assert np.mean(np.concatenate(distances) < 1.5 * found.resolution) > 0.98
