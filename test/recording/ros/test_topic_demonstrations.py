"""Demonstrations from messages: starts, ends, resets and errors."""

import io
import json
import re

import numpy as np
import pytest
from demonstration_messages import (
    COMMANDED,
    DESCRIPTION,
    EYE,
    HAND,
    IMAGE_STEPS,
    KINDS,
    NAMES,
    REFERENCES,
    RESETS,
    SIZE,
    STATES,
    STEP_S,
    command,
    description,
    image,
    position,
    references,
    reset,
    run,
    shade,
    state,
)
from full_disk import full_disk

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.demonstration_file import (
    ACTION,
    IMAGES,
    STATE,
    TIME,
    EpisodeFolder,
    read_messages,
)
from mujoco_ros.recording.ros.topic_demonstrations import TopicDemonstrations
from mujoco_ros.wire.conversions import nanoseconds

FPS = 50


class Recorded:
    """Demonstrations that receive messages, and the files that they wrote."""

    def __init__(self, path, *, describes=True, resume=False, topics=KINDS, **options):
        self.folder = EpisodeFolder(path / "dataset", resume=resume)
        self.demonstrations = TopicDemonstrations(self.folder, fps=FPS, task="move", **options)
        for topic in topics:
            self.demonstrations.discover(topic)
        if describes:
            self.send([(DESCRIPTION, description())])

    def send(self, messages):
        for topic, message in messages:
            self.demonstrations.add(topic, lambda message=message: message)

    def frames(self):
        """Return description and frames of each episode."""
        found = []
        for path in self.folder.finished:
            header, *contents = read_messages(path)
            frames = []
            for content in contents:
                with np.load(io.BytesIO(content)) as file:
                    frames.append({name: file[name] for name in file.files})
            found.append((json.loads(header), frames))
        return found

    def times(self):
        return [[round(float(it[TIME][0]), 6) for it in frames] for _, frames in self.frames()]


@pytest.fixture
def recorded(tmp_path):
    made = Recorded(tmp_path)
    made.send(run(0.0, 0.1))
    return made


def test_an_episode_has_the_states_commands_and_images_between_start_and_end(recorded):
    assert "eye, hand" in recorded.demonstrations.start()
    recorded.send(run(0.102, 0.5))
    assert "000001 has ended: 19 frames, 0.4 s" in recorded.demonstrations.end()
    recorded.send(run(0.502, 0.8))
    ((description, frames),) = recorded.frames()
    assert (description["task"], description["fps"], description["robot"]) == ("move", FPS, "arm")
    features = description["features"]
    assert features[STATE]["names"] == [
        *(f"{it}.position" for it in NAMES),
        *(f"{it}.velocity" for it in NAMES),
    ]
    assert features[ACTION]["names"] == [f"{it}.position" for it in COMMANDED]
    assert features[f"{IMAGES}eye"]["dtype"] == features[f"{IMAGES}hand"]["dtype"] == "video"
    times = [float(it[TIME][0]) for it in frames]
    np.testing.assert_allclose(times, 0.12 + np.arange(19) / FPS, atol=1e-9)
    for time, frame in zip(times, frames, strict=True):
        expected = np.concatenate([position(time), np.zeros(len(NAMES))])
        np.testing.assert_array_equal(frame[STATE], expected.astype(np.float32))
        before_next = time + 1.0 / FPS - STEP_S
        np.testing.assert_array_equal(frame[ACTION], command(before_next).astype(np.float32))
        for name in ("eye", "hand"):
            assert frame[f"{IMAGES}{name}"].shape == (*SIZE, 3)
            assert set(np.unique(frame[f"{IMAGES}{name}"])) == {shade(time)}


def test_episodes_are_numbered_and_a_discarded_one_leaves_nothing(recorded):
    demonstrations = recorded.demonstrations
    for first, end in ((0.102, demonstrations.end), (0.5, demonstrations.discard)):
        demonstrations.start()
        recorded.send(run(first, first + 0.3))
        end()
    demonstrations.start()
    recorded.send(run(1.0, 1.3))
    demonstrations.end()
    assert [it.name for it in recorded.folder.path.iterdir()] == ["000001.zst", "000002.zst"]


@pytest.mark.parametrize("scopes", ["time state", "state"])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_reset_ends_an_episode_without_a_frame_from_after_it(recorded, scopes, is_late):
    recorded.demonstrations.start()
    recorded.send(run(0.102, 0.5))
    begin = 0.0 if "time" in scopes else 0.502
    after = [*run(begin, begin + 0.1)]
    event = (RESETS, reset(begin, scopes))
    recorded.send([*after, event] if is_late else [event, *after])
    assert not recorded.demonstrations.is_recording
    (times,) = recorded.times()
    np.testing.assert_allclose(times[0], 0.12)
    assert 0.4 <= times[-1] <= 0.48
    assert (np.diff(times) > 0).all()


def test_a_reset_before_the_first_frame_does_not_end_the_episode(recorded):
    recorded.demonstrations.start()
    recorded.send([(RESETS, reset(0.0, "time state")), *run(0.0, 0.3)])
    recorded.demonstrations.end()
    (times,) = recorded.times()
    assert times[:2] == [0.0, 0.02]


def _without(topic, first, last):
    return [
        (name, message)
        for name, message in run(0.102, 3.0)
        if name != topic or not first < 1e-9 * nanoseconds(message.header.stamp) < last
    ]


@pytest.mark.parametrize("topic", [EYE, STATES, REFERENCES])
def test_a_missing_message_ends_the_episode_at_its_last_frame_and_names_the_topic(
    recorded, topic, caplog
):
    demonstrations = recorded.demonstrations
    demonstrations.start()
    recorded.send(_without(topic, 1.55, 1.65))
    assert f"000001 has ended at its last complete frame ('{topic}' has no message" in caplog.text
    assert (demonstrations.is_recording, demonstrations.failures) == (False, 1)
    (times,) = recorded.times()
    np.testing.assert_allclose(times, 0.12 + np.arange(len(times)) / FPS)
    assert 1.5 <= times[-1] < 1.55
    with pytest.raises(UserInputError, match="000001 has ended at its last complete frame"):
        demonstrations.end()
    demonstrations.start()
    recorded.send(run(3.0, 3.3))
    demonstrations.end()
    assert len(recorded.folder.finished) == 2


def test_a_missing_message_discards_a_short_episode(recorded, caplog):
    recorded.demonstrations.start()
    recorded.send(_without(STATES, 0.55, 0.65))
    assert f"000001 is discarded after less than 1 s: '{STATES}' has no message" in caplog.text
    assert not recorded.demonstrations.is_recording
    assert (recorded.folder.finished, recorded.demonstrations.failures) == ([], 1)


def test_a_missing_message_before_the_first_written_frame_starts_the_episode_again(
    recorded, caplog
):
    recorded.demonstrations.start()
    recorded.send(_without(EYE, 0.15, 0.25))
    recorded.demonstrations.end()
    assert f"episode 000001 starts again: '{EYE}' has no message" in caplog.text
    (times,) = recorded.times()
    assert 0.24 <= times[0] <= 0.28
    np.testing.assert_allclose(np.diff(times), 1.0 / FPS)
    assert (times[-1], recorded.demonstrations.failures) == (2.98, 0)


def test_an_episode_that_only_starts_again_is_discarded_with_the_reason(recorded, caplog):
    recorded.demonstrations.start()
    recorded.send(it for it in run(0.102, 5.0) if it[0] != HAND)
    with pytest.raises(UserInputError, match=f"and is discarded: '{HAND}' has no message"):
        recorded.demonstrations.end()
    assert caplog.text.count("starts again") == 1


def test_a_full_disk_discards_the_episode(recorded, caplog):
    recorded.demonstrations.start()
    recorded.demonstrations.discard()
    recorded.demonstrations.start()
    pixels = np.random.default_rng(1)
    with full_disk(1000):
        for topic, message in run(0.102, 1.0):
            if topic == EYE:
                message.data = pixels.bytes(len(message.data))
            recorded.send([(topic, message)])
    assert "000001 is discarded: [Errno 27] File too large" in caplog.text
    assert list(recorded.folder.path.iterdir()) == []
    recorded.demonstrations.start()
    recorded.send(run(1.002, 1.4))
    recorded.demonstrations.end()
    assert len(recorded.folder.finished) == 1


@pytest.mark.parametrize("first", [0.0, 100.0], ids=["back", "ahead"])
def test_the_late_event_of_a_jump_does_not_end_the_next_episode(recorded, first):
    demonstrations = recorded.demonstrations
    demonstrations.start()
    recorded.send([*run(0.102, 0.5), *run(first, first + 0.01)])
    assert (demonstrations.is_recording, demonstrations.resets) == (False, 1)
    demonstrations.start()
    recorded.send(
        [
            *run(first + 0.012, first + 0.4),
            (RESETS, reset(first, "time state")),
            *run(first + 0.402, first + 0.6),
        ]
    )
    assert (demonstrations.is_recording, demonstrations.resets) == (True, 1)
    recorded.send([(RESETS, reset(first, "time state"))])
    assert not demonstrations.is_recording, "it is another reset"
    assert demonstrations.failures == 0
    before, after = recorded.times()
    assert before[-1] == 0.48, "at most the last frame is missing"
    assert after[0] == pytest.approx(first + 0.02)
    assert after[-1] == pytest.approx(first + 0.58)


@pytest.mark.parametrize("scopes", ["time state", "state"])
def test_the_late_event_of_a_reset_before_the_start_does_not_end_the_episode(recorded, scopes):
    recorded.demonstrations.start()
    recorded.send([*run(0.102, 0.2), (RESETS, reset(0.1, scopes)), *run(0.202, 0.5)])
    assert recorded.demonstrations.is_recording


def test_the_description_of_the_robot_is_needed_for_an_episode(tmp_path):
    made = Recorded(tmp_path, describes=False)
    made.send(run(0.0, 0.1))
    with pytest.raises(UserInputError, match="no message of '/robot_description' has been"):
        made.demonstrations.start()
    made.send([(DESCRIPTION, description())])
    made.demonstrations.start()


def test_episodes_are_continued_without_the_description_of_the_robot(recorded, tmp_path):
    recorded.demonstrations.start()
    recorded.send(run(0.102, 0.4))
    recorded.demonstrations.end()
    recorded.folder.close()
    topics = set(KINDS) - {DESCRIPTION}
    again = Recorded(tmp_path, describes=False, resume=True, topics=topics)
    again.send(run(0.0, 0.1))
    again.demonstrations.start()
    again.send(run(0.102, 0.4))
    again.demonstrations.end()
    assert [it["robot"] for it, _ in again.frames()] == ["arm", "arm"]


def _changed(time):
    """Return invalid messages and what is reported of them."""
    unpositioned = references(time)
    unpositioned.position[1] = np.nan
    surplus = references(time)
    surplus.position = [*surplus.position, np.nan]
    renamed = state(time)
    renamed.name[0] = "hip"
    unmeasured = state(time)
    unmeasured.velocity[2] = np.inf
    small = image(time)
    small.height //= 2
    depth = image(time)
    depth.encoding, depth.step = "32FC1", depth.width * 4
    return {
        "no position command of 'elbow': it follows a velocity or an effort": (
            REFERENCES,
            unpositioned,
        ),
        "'/joint_references' has no position command of each joint": (REFERENCES, surplus),
        "joints of '/joint_states' have changed": (STATES, renamed),
        "no finite position and velocity of 'finger'": (STATES, unmeasured),
        r"'/camera/hand/image_raw' has the size \(24, 64, 3\)": (HAND, small),
        "'/camera/eye/image_raw' has no image in colours": (EYE, depth),
    }


@pytest.mark.parametrize("error_text", list(_changed(0.0)))
def test_an_invalid_message_discards_the_episode(recorded, error_text, caplog):
    recorded.demonstrations.start()
    recorded.send(run(0.102, 0.3))
    recorded.send([_changed(0.32)[error_text]])
    assert not recorded.demonstrations.is_recording
    assert recorded.folder.finished == []
    assert re.search(error_text, caplog.text)


def test_an_action_at_the_wrong_time_is_an_error(recorded):
    demonstrations = recorded.demonstrations
    for action in (demonstrations.end, demonstrations.discard):
        with pytest.raises(UserInputError, match="no episode is being recorded"):
            action()
    demonstrations.start()
    with pytest.raises(UserInputError, match="an episode is being recorded"):
        demonstrations.start()
    with pytest.raises(UserInputError, match="has no complete frame, and is discarded"):
        demonstrations.end()
    assert list(recorded.folder.path.iterdir()) == []


def test_an_episode_does_not_start_without_messages_of_all_topics(tmp_path):
    made = Recorded(tmp_path)
    made.send(it for it in run(0.0, 0.1) if it[0] != HAND)
    with pytest.raises(UserInputError, match="no message of '/camera/hand/image_raw' has been"):
        made.demonstrations.start()


@pytest.mark.parametrize(("cameras", "names"), [((), []), (("hand",), [f"{IMAGES}hand"])])
def test_cameras_are_chosen_by_name(tmp_path, cameras, names):
    made = Recorded(tmp_path, cameras=cameras)
    made.send(run(0.0, 0.1))
    made.demonstrations.start()
    made.send(run(0.102, 0.4))
    made.demonstrations.end()
    ((_, frames),) = made.frames()
    assert [it for it in frames[0] if it.startswith(IMAGES)] == names
    assert len(frames) > 10


def test_memory_is_bounded_while_frames_are_written(recorded):
    recorded.demonstrations.start()
    for topic, message in run(0.102, 4.0):
        recorded.send([(topic, message)])
        assert len(recorded.demonstrations._pending) <= 0.2 * FPS + IMAGE_STEPS
    assert "recording: " in recorded.demonstrations.progress


def test_an_episode_of_other_joints_than_those_before_is_discarded(recorded, caplog):
    recorded.demonstrations.start()
    recorded.send(run(0.102, 0.4))
    recorded.demonstrations.end()
    recorded.demonstrations.start()
    for topic, message in run(1.0, 1.5):
        if topic == REFERENCES:
            message.name[0] = "hip"
        recorded.send([(topic, message)])
    assert "000002 is discarded: it has other features than the episodes" in caplog.text
    assert len(recorded.folder.finished) == 1


@pytest.mark.parametrize(
    ("fps", "task", "message"),
    [
        (25, "move", "has episodes with --fps 50, which --fps 25 does not continue"),
        (50, "place", "has episodes with --task move, which --task place does not continue"),
    ],
)
def test_episodes_of_another_rate_or_task_are_not_continued(recorded, tmp_path, fps, task, message):
    recorded.demonstrations.start()
    recorded.send(run(0.102, 0.4))
    recorded.demonstrations.end()
    recorded.folder.close()
    folder = EpisodeFolder(tmp_path / "dataset", resume=True)
    with pytest.raises(UserInputError, match=message):
        TopicDemonstrations(folder, fps=fps, task=task)
