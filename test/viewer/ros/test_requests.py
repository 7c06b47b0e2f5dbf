"""Requests of the viewer."""

from types import SimpleNamespace

import pytest

from mujoco_ros.viewer.ros.requests import Requests


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def requests(warnings, monkeypatch) -> Requests:
    """Requests that are not sent, and whose warnings are recorded."""
    requests = Requests(
        SimpleNamespace(get_logger=lambda: SimpleNamespace(warning=warnings.append))
    )
    monkeypatch.setattr(requests, "post", lambda _: None)
    return requests


def test_requests_on_an_old_image_are_one_warning_until_it_is_fresh_again(requests, warnings):
    def name() -> str:
        return requests.submit("drag", lambda _: None).name

    requests.note_image_age(1.2)
    assert name() == "drag, on an image 1.2 s old"
    requests.note_image_age(1.4)
    assert name() == "drag, on an image 1.4 s old"
    assert warnings == ["drag, on an image 1.2 s old"]
    requests.note_image_age(0.1)
    requests.note_image_age(0.9)
    name()
    assert warnings[1:] == ["drag, on an image 0.9 s old"]
    requests.note_image_age(0.1)
    assert name() == "drag"


def test_each_press_on_an_old_image_is_a_warning(requests, warnings):
    request = requests.report("pull box")
    assert (requests.latest, request.summary) == (request, "pull box: published")
    assert warnings == []
    requests.note_image_age(1.2)
    for name in ("pull box", "drive /cmd_vel"):
        assert requests.report(name).name == f"{name}, on an image 1.2 s old"
    assert warnings == [f"{name}, on an image 1.2 s old" for name in ("pull box", "drive /cmd_vel")]
