"""Requests of the viewer."""

from types import SimpleNamespace

from mujoco_ros.viewer.ros.requests import Requests


def test_requests_on_an_old_image_are_one_warning_until_it_is_fresh_again(monkeypatch):
    warnings: list[str] = []
    requests = Requests(
        SimpleNamespace(get_logger=lambda: SimpleNamespace(warning=warnings.append))
    )
    monkeypatch.setattr(requests, "post", lambda _: None)

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
