"""Quality of images, and what it costs."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderQuality:
    """Quality of images.

    Attributes:
        shadows: Whether lights that cast shadows do; their resolution is the model's.
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
"""Quality that a graphics card renders at no cost."""
PLAIN = RenderQuality(shadows=False, reflections=False, antialiasing=False, fine_planes=False)
"""Quality that a processor renders many times a second: at most a tenth of the work of `RICH`."""
