"""Alignment of samples to frames by their stamps."""

import numpy as np
import pytest

from mujoco_ros.recording.demonstrations.frame_alignment import FrameAlignment, MissingSampleError

MS = 1_000_000
STEP = 2 * MS
EYE, HAND, STATE, COMMAND = "/eye", "/hand", "/joint_states", "/joint_references"


def alignment(fps=50, images=(EYE,)):
    return FrameAlignment(fps, images=images, states=[STATE], commands=[COMMAND])


def run(aligned, until_ms, images=None, begin_ms=0):
    """Add samples, whose values are their stamps: images at given times, the others each step."""
    found = []
    for time in range(begin_ms * MS, until_ms * MS + 1, STEP):
        for topic in (STATE, COMMAND):
            assert aligned.add(topic, time, np.array([time]))
        for topic, stamps in (images or {}).items():
            if time in {it * MS for it in stamps}:
                assert aligned.add(topic, time, np.array([time]))
        found += aligned.frames()
    return found


def test_a_frame_has_image_and_state_of_one_instant_and_the_last_command_before_the_next():
    found = run(alignment(), 100, {EYE: range(0, 200, 20)})
    assert [it.time // MS for it in found] == [0, 20, 40, 60, 80]
    for frame in found:
        assert frame.samples[EYE] == frame.samples[STATE] == frame.time
        assert frame.samples[COMMAND] == frame.end - STEP
        assert frame.end == frame.time + 20 * MS


def test_without_images_frames_are_of_their_exact_times():
    found = run(alignment(images=()), 60)
    assert [it.time // MS for it in found] == [0, 20, 40]
    assert [int(it.samples[STATE][0]) // MS for it in found] == [0, 20, 40]


def test_images_may_be_late_by_less_than_a_frame_and_states_are_as_late():
    aligned = alignment()
    found = run(aligned, 120, {EYE: [0, 20, 58, 64, 80, 100]})
    assert [it.time // MS for it in found] == [0, 20, 58, 64, 80]
    assert [int(it.samples[STATE][0]) // MS for it in found] == [0, 20, 58, 64, 80]
    assert aligned.largest_offset == 18 * MS


def test_the_time_of_a_frame_is_that_of_its_newest_image():
    found = run(alignment(images=(EYE, HAND)), 100, {EYE: range(0, 200, 20), HAND: [6, 24, 48, 62]})
    assert [it.time // MS for it in found[:2]] == [24, 48]
    assert [int(it.samples[EYE][0]) // MS for it in found[:2]] == [20, 40]


def test_a_missing_image_is_an_error_and_no_older_one_is_repeated():
    aligned, found = alignment(), []
    with pytest.raises(MissingSampleError, match=r"'/eye' has no message within 20 ms of 0\.040 s"):
        found += run(aligned, 200, {EYE: [0, 20, 62, 80, 100]})
    assert found == []


def test_a_topic_that_ends_or_never_begins_is_an_error_that_names_it():
    with pytest.raises(MissingSampleError, match=r"'/eye' has no message for 2 s .* from 0\.060"):
        run(alignment(), 3000, {EYE: [0, 20, 40]})
    with pytest.raises(MissingSampleError, match=r"'/eye' has no message for 2 s .* from 0\.000"):
        run(alignment(), 3000)


@pytest.mark.parametrize("topic", [STATE, COMMAND])
def test_missing_states_and_commands_are_an_error_that_names_their_topic(topic):
    aligned = alignment()
    for time in range(0, 200 * MS, STEP):
        for it in (STATE, COMMAND):
            if it != topic or not 30 * MS < time < 90 * MS:
                aligned.add(it, time, np.array([time]))
        if time % (20 * MS) == 0:
            aligned.add(EYE, time, np.array([time]))
    with pytest.raises(MissingSampleError, match=f"'{topic}' has no message"):
        list(aligned.frames())


def test_a_stamp_that_jumps_back_is_not_added_and_a_repeated_one_ignored():
    aligned = alignment()
    run(aligned, 30, {EYE: [0, 20]})
    assert aligned.add(EYE, 20 * MS, np.array([7]))
    assert not aligned.add(STATE, 4 * MS, np.array([7]))


def test_no_sample_is_used_twice():
    found = run(alignment(fps=100), 200, {EYE: range(0, 300, 10)})
    for topic in (EYE, STATE, COMMAND):
        used = [int(it.samples[topic][0]) for it in found]
        assert len(set(used)) == len(used) > 10
