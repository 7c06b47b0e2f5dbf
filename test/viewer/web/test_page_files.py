"""The materials of the renderer in one response."""

import json
from pathlib import Path

from mujoco import studio
from websockets.datastructures import Headers
from websockets.http11 import Request

from mujoco_ros.viewer.web.bounded_connection import ResponseCompression
from mujoco_ros.viewer.web.page_files import MATERIALS, respond_with_materials


def test_all_materials_of_studio_are_in_it_with_their_content():
    body = respond_with_materials().body
    index, _, content = bytes(body).partition(b"\n")
    assets = Path(studio.__file__).parent / "assets"
    expected = {file.name: file.read_bytes() for file in assets.glob("*.filamat")}
    found, first = {}, 0
    for name, size in json.loads(index):
        found[name] = content[first : first + size]
        first += size
    assert len(expected) > 10
    assert found == expected
    assert first == len(content)


def test_together_they_are_small_for_a_browser_on_this_machine():
    response = respond_with_materials()
    request = Request(MATERIALS, Headers({"Accept-Encoding": "gzip, deflate, br, zstd"}))
    ResponseCompression().apply(request, response)
    assert response.headers["Content-Encoding"] == "zstd"
    assert len(response.body) < 600_000
