"""How pictures look, and what that costs."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderQuality:
    """How pictures look.

    Attributes:
        shadows: Whether lights that cast shadows do; how fine they are is the model's.
        reflections: Whether planes and boxes of reflecting materials do reflect.
        antialiasing: Whether edges are smooth; how much so is the model's.
        fine_planes: Whether infinite planes have so many tiles that lamps make spots on them.
        skybox: Whether the sky is drawn, where the model has one; without it, it is black.
        groups: Which groups of geoms, tendons, skins and flexes are seen.
    """

    shadows: bool = True
    reflections: bool = True
    antialiasing: bool = True
    fine_planes: bool = True
    skybox: bool = True
    groups: tuple[int, ...] = (0, 1, 2)

    @property
    def are_local(self) -> bool:
        """Whether only what a camera looks at can be seen by it."""
        return not (self.shadows or self.reflections)


RICH = RenderQuality()
"""What a graphics card draws at no cost."""
PLAIN = RenderQuality(shadows=False, reflections=False, antialiasing=False, fine_planes=False)
"""What a processor can draw many times a second: a tenth of the work of `RICH` and less."""
