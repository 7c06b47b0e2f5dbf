from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.identification.joint_record import JointRecord, check_record
from mujoco_ros.model.errors import UserInputError

TIMES = np.arange(0.0, 8.0, 0.002)


@pytest.fixture
def record() -> JointRecord:
    wave = np.stack([np.sin(TIMES), np.cos(TIMES)], axis=1)
    return JointRecord(
        joints=("hip", "knee"),
        times=TIMES,
        position=wave,
        velocity=wave,
        effort=wave,
        command_times=TIMES,
        references=np.repeat(wave[:, None], 3, axis=1),
    )


def test_states_without_references_are_left_out(record):
    short = replace(record, command_times=TIMES[500:], references=record.references[500:])
    assert check_record(short, "bag").times[0] == TIMES[500]


def test_samples_that_a_driver_repeats_are_left_out(record):
    held = record.position[np.arange(len(TIMES)) // 4 * 4]
    kept = check_record(replace(record, position=held), "bag")
    assert np.array_equal(kept.times, TIMES[::4])
    assert np.array_equal(kept.position, record.position[::4])


def test_references_of_lost_messages_are_interpolated(record):
    lost = [5, 6, 7, 100, 2000, 2001]
    less = replace(
        record,
        command_times=np.delete(TIMES, lost),
        references=np.delete(record.references, lost, axis=0),
    )
    filled = check_record(less, "bag")
    assert filled.command_times == pytest.approx(TIMES)
    assert filled.references == pytest.approx(record.references, abs=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: {"times": np.where(TIMES > 4.0, TIMES - 1.0, TIMES)}, "joint states jump from"),
        (lambda r: {"command_times": np.round(TIMES, 2)}, "commands jump from"),
        (lambda r: {"command_times": 100.0 + TIMES}, "overlap for 0 s"),
        (
            lambda r: {"times": np.where(TIMES > 4.0, TIMES + 1.0, TIMES)},
            "no new joint state for 1 s",
        ),
        (
            lambda r: {
                "command_times": np.delete(TIMES, slice(900, 1000)),
                "references": np.delete(r.references, slice(900, 1000), axis=0),
            },
            r"no commands for 0\.202 s after the stamp 1\.798 s",
        ),
        (lambda r: {"times": TIMES[:1]}, "only 1 joint states"),
        (
            lambda r: {"command_times": TIMES[::20], "references": r.references[::20]},
            "come every 0.04 s",
        ),
    ],
)
def test_a_recording_that_is_no_good_is_rejected_with_the_reason(record, change, message):
    with pytest.raises(UserInputError, match=f"^bag: .*{message}"):
        check_record(replace(record, **change(record)), "bag")


def test_a_missing_joint_is_an_error_with_those_that_exist(record):
    with pytest.raises(UserInputError, match=r"joint 'toe'.*hip, knee"):
        record.select(["toe"], "bag")
