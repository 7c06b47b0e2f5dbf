"""The images of the page: of cameras, and of models that can be spawned."""

import asyncio
from collections.abc import Callable
from urllib.parse import urlencode

from fastapi import FastAPI
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from mujoco_ros.viewer.camera_images import Picture, encoded, scale_picture
from mujoco_ros.viewer.clients import ImageKey, ImageKind
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import Shared, current_session

_CAMERA, _MODEL, _IN_SCENE = "/pictures/camera", "/pictures/model", "/pictures/scene"
SCALE = "/pictures/depth"
"""Address of the colour scale of depth."""
_NEWEST = {"Cache-Control": "no-store"}
_KEPT = {"Cache-Control": "private, max-age=3600"}


def camera_address(key: ImageKey, number: int) -> str:
    """Return the address of an image of a camera; its number is different for each image."""
    namespace, name = key.camera
    query = {"namespace": namespace, "name": name, "kind": str(key.kind), "width": key.max_width}
    return f"{_CAMERA}?{urlencode({**query, 'number': number})}"


def model_address(uri: str) -> str:
    """Return the address of the image of a model."""
    return f"{_MODEL}?{urlencode({'uri': uri})}"


def image(alt: str) -> LiveElement:
    """Create an image that is loaded once; set `src`."""
    return LiveElement(current_session().feed, "image", tag="img", options={"alt": alt})


def picture(name: str, alt: str, scale: str, act: Callable[..., object]) -> widgets.Widget:
    """Create an image that changes, as a button; set `src`, `text`, `under` and `limits`.

    `act` gets the position of the mouse in 0..1 as ``at``, or none, or ``press``.
    """
    options = {"name": name, "alt": alt, "scale": scale}
    return widgets.Widget("picture", act, watch=True, tag="figure", options=options)


def mount_pictures(
    api: FastAPI, admit: Callable[[HTTPConnection], Role | None], shared: Callable[[], Shared]
) -> None:
    """Add the images to an application; `shared` returns what pages share."""

    async def respond(
        request: Request, find: Callable[[], Picture | None], headers: dict[str, str]
    ) -> Response:
        picture = None if admit(request) is None else await asyncio.to_thread(find)
        if picture is None:
            return Response(status_code=404)
        return Response(picture.content, media_type=picture.media_type, headers=headers)

    @api.get(_CAMERA)
    async def camera(request: Request) -> Response:
        query = request.query_params
        try:
            kind, width = ImageKind(query.get("kind", "")), int(query.get("width", ""))
        except ValueError:
            return Response(status_code=404)
        key = ImageKey((query.get("namespace", ""), query.get("name", "")), kind, width)
        images = shared().camera_images
        return await respond(request, lambda: images.encoded(key), _NEWEST)

    @api.get(f"{_IN_SCENE}/{{camera}}")
    async def in_scene(camera: int, request: Request) -> Response:
        images = shared().camera_images
        found = images.in_scene(camera)
        if found and images.newest(found[0]) is None:
            return Response(status_code=204)  # there will be one
        return await respond(request, lambda: images.encoded(found[0]) if found else None, _NEWEST)

    @api.get(_MODEL)
    async def model(request: Request) -> Response:
        pixels = shared().model_images.found.get(request.query_params.get("uri", ""))

        def find() -> Picture | None:
            return None if pixels is None else encoded(pixels, lossless=True)

        return await respond(request, find, _KEPT)

    @api.get(SCALE)
    async def scale(request: Request) -> Response:
        return await respond(request, scale_picture, _KEPT)
