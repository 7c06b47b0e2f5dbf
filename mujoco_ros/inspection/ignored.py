"""The elements of a file that the import does not read."""

from collections import Counter
from pathlib import Path

from mujoco_ros.model.urdf.importing.markup import parse_robot

_READ = {
    "robot": {"link", "joint", "material", "mujoco", "ros2_control", "transmission", "gazebo"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
    "material": {"color"},
}
"""Elements that the import reads, by the element that contains them."""


def ignored_elements(path: Path, text: str | None = None) -> dict[str, int]:
    """Return how often a URDF file, or `text` in its place, contains elements that are not read.

    The keys are ``<element>``, or ``<parent>/<element>`` below the top. Ignored elements of
    ``<mujoco>``, ``<ros2_control>``, ``<transmission>`` and ``<gazebo>`` are among the warnings of
    the import.
    """
    robot = parse_robot(path, text)
    found: Counter[str] = Counter()
    for parent, known in _READ.items():
        # <transmission> and <ros2_control> contain joints, too.
        elements = [robot] if parent == "robot" else robot.findall(parent)
        for element in elements:
            for child in element:
                if child.tag not in known:
                    found[child.tag if parent == "robot" else f"{parent}/{child.tag}"] += 1
    return dict(found)
