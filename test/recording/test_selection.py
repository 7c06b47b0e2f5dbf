import re

import pytest

from mujoco_ros.recording.ros.recorder import Selection


@pytest.mark.parametrize(
    ("selection", "included", "left"),
    [
        (Selection(), ["/tf", "/left/joint_states"], ["/arm/move/_action/feedback", "/_hidden"]),
        (Selection(hidden=True), ["/arm/move/_action/feedback"], []),
        (Selection(topics=frozenset({"/tf"})), ["/tf"], ["/tf_static", "/clock"]),
        (Selection(regex=re.compile("/imu/.*")), ["/imu/pelvis"], ["/left/imu/pelvis", "/tf"]),
        (
            Selection(topics=frozenset({"/tf"}), regex=re.compile("/imu/.*")),
            ["/tf", "/imu/pelvis"],
            ["/clock"],
        ),
        (Selection(exclude=re.compile("/camera/.*")), ["/tf"], ["/camera/front/image_raw"]),
        (Selection(topics=frozenset({"/tf"}), exclude=re.compile("/t.")), [], ["/tf"]),
        (Selection(topics=frozenset({"/a/_action/status"})), ["/a/_action/status"], []),
    ],
)
def test_a_selection_includes_the_selected_topics(selection, included, left):
    assert all(selection.includes(name) for name in included)
    assert not any(selection.includes(name) for name in left)
