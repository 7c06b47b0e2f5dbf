"""Quality of images, and its rendering cost."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderQuality:
    """Quality of images.

    Attributes:
        shadows: Whether shadows are rendered; their resolution is the model's.
        reflections: Whether planes and boxes of reflecting materials reflect.
        antialiasing: Whether edges are smooth; the number of samples is the model's.
        fine_planes: Whether infinite planes have enough tiles to show the spots of lamps.
        skybox: Whether the model's sky is rendered; without it, the background is black.
        groups: Rendered groups of geoms, tendons, skins and flexes.
    """

    shadows: bool = True
    reflections: bool = True
    antialiasing: bool = True
    fine_planes: bool = True
    skybox: bool = True
    groups: tuple[int, ...] = (0, 1, 2)

    @property
    def allows_culling(self) -> bool:
        """Whether geoms out of view do not change an image."""
        return not (self.shadows or self.reflections)


RICH = RenderQuality()
"""Quality for a graphics card, which renders it at no extra cost."""
PLAIN = RenderQuality(shadows=False, reflections=False, antialiasing=False, fine_planes=False)
"""Quality for rendering on a processor: at most a tenth of the work of `RICH`."""
