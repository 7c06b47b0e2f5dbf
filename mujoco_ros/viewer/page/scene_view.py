"""The element of a page that shows the scene."""

from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.page.session import Session


class SceneView(Element, component="static/scene_view.js"):
    """The scene, with its camera and visual options, which belong to the page."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._props["page"] = session.client.id

    def set_camera(self, **pose: Any) -> None:
        """Set the camera: lookat [m], distance [m], azimuth, elevation [deg], followed or fixed."""
        self.run_method("setCamera", pose)

    def frame(self, body: int = 0) -> None:
        """Show a body with all below it, or for 0 all bodies."""
        self.run_method("frame", body)

    def set_option(self, **options: Any) -> None:
        """Set visual flags, groups, label, frame, or flags of rendering."""
        self.run_method("setOption", options)

    def set_drawing(self, drawing: str) -> None:
        """Draw by ``three``, show ``pictures``, or choose by measuring: ``auto``."""
        self.run_method("setDrawing", drawing)
