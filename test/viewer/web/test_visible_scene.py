"""The part of the scene that the page draws, with the browser's own WebGL."""

from typing import Any

import pytest

from mujoco_ros.viewer.web.page_files import script_part

WIDTH, HEIGHT = 300, 200
PART = [0.5, 0.25, 0.75, 0.5, WIDTH / HEIGHT]
"""Left, top, right, bottom in fractions, and aspect."""
INSIDE, OUTSIDE, AT_THE_EDGE = (187, 125), (30, 30), (140, 125)
"""Pixels from the lower left corner; the last one is outside by less than the margin."""
RED, GREEN = [255, 0, 0, 255], [0, 255, 0, 255]
CONTEXT = """
  window.gl = Object.assign(document.createElement("canvas"), {width: 300, height: 200})
    .getContext("webgl2", {preserveDrawingBuffer: true});
  const shader = (type, source) => {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, "#version 300 es\\n" + source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  };
  const program = gl.createProgram();
  shader(gl.VERTEX_SHADER, `void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1);
  }`);
  shader(gl.FRAGMENT_SHADER, `precision mediump float;
    out vec4 colour;
    void main() { colour = vec4(0, 1, 0, 1); }`);
  gl.linkProgram(program);
  gl.useProgram(program);
  window.texture = (width, height) => {
    const [framebuffer, texture] = [gl.createFramebuffer(), gl.createTexture()];
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.framebufferTexture2D(
      gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    return framebuffer;
  };
  window.clear = (framebuffer) => { // as the renderer, before it sets the viewport
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.clearColor(1, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  };
  window.fill = (framebuffer, width, height) => {
    clear(framebuffer);
    gl.viewport(0, 0, width, height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  };
  window.at = (pixels) => pixels.map(([x, y]) => {
    const pixel = new Uint8Array(4);
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return [...pixel];
  });
"""


@pytest.fixture
def page(tabs: Any) -> Any:
    page = tabs.new_page()
    page.set_content(script_part("visible_scene").decode() + f"<script>{CONTEXT}</script>")
    page.evaluate("numbers => visibleScene.set(numbers)", PART)
    yield page
    assert page.evaluate("gl.getError()") == 0
    page.close()


def drawn(page: Any, target: str = "texture(300, 200), 300, 200", *pixels: tuple[int, int]) -> Any:
    """Fill a target with green over red, and return the colours of pixels."""
    page.evaluate(f"fill({target})")
    return page.evaluate("pixels => at(pixels)", pixels or (INSIDE, OUTSIDE))


def test_the_scene_is_drawn_in_the_visible_part_and_a_margin_for_filters(page):
    assert drawn(page) == [GREEN, RED]
    assert page.evaluate("pixels => at(pixels)", [AT_THE_EDGE]) == [GREEN]


def test_passes_of_a_smaller_size_are_drawn_in_the_same_part(page):
    smaller = "texture(150, 100), 150, 100"
    assert drawn(page, smaller, (93, 62), (40, 62), (93, 10)) == [GREEN, RED, RED]


@pytest.mark.parametrize(
    "target", ["texture(200, 200), 200, 200", "texture(512, 200), 512, 200", "null, 300, 200"]
)
def test_shadow_maps_other_textures_and_the_panels_are_drawn_as_a_whole(page, target):
    drawn(page)
    assert drawn(page, target) == [GREEN, GREEN]


def test_without_panels_the_whole_scene_is_drawn(page):
    drawn(page)
    page.evaluate("visibleScene.set([])")
    assert drawn(page) == [GREEN, GREEN]


def test_a_changed_part_has_an_effect_without_a_change_by_the_renderer(page):
    drawn(page)
    page.evaluate("visibleScene.set([0, 0, 1, 1, 1.5]); gl.drawArrays(gl.TRIANGLES, 0, 3)")
    assert page.evaluate("pixels => at(pixels)", [OUTSIDE]) == [GREEN]


def test_the_scissor_of_the_renderer_stays_in_effect(page):
    page.evaluate("gl.enable(gl.SCISSOR_TEST); gl.scissor(180, 0, 120, 200)")
    page.evaluate("window.target = texture(300, 200)")
    colours = drawn(page, "target, 300, 200", INSIDE, AT_THE_EDGE, (250, 10))
    assert colours[0] == GREEN
    assert GREEN not in colours[1:]
    page.evaluate("clear(target)")
    assert page.evaluate("[...gl.getParameter(gl.SCISSOR_BOX)]") == [180, 0, 120, 200]
    page.evaluate("gl.disable(gl.SCISSOR_TEST)")
    assert drawn(page, "target, 300, 200") == [GREEN, RED]
    assert drawn(page, "null, 300, 200") == [GREEN, GREEN]
