"""WebGL of browsers that refuse views of more than 2 GB, as Firefox 140 does."""

from typing import Any

import pytest

from mujoco_ros.viewer.web.page_files import script_part

REFUSING = """<script>
  for (const name of ["texSubImage3D", "clearBufferfv"]) {
    const method = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...values) {
      if (values.some((it) => ArrayBuffer.isView(it) && it.byteLength > 2 ** 31 - 1)) {
        throw new TypeError("larger than 2 GB");
      }
      return method.apply(this, values);
    };
  }
</script>"""
DRAW = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const bytes = new Uint8Array(new WebAssembly.Memory({ initial: 49152 }).buffer); // 3 GB
  const floats = new Float32Array(bytes.buffer);
  const texel = 2 ** 31 + 12;
  bytes.set([11, 22, 33, 44], texel);
  floats.set([0, 1, 0, 1], 500);
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
  gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.RGBA8, 1, 1, 1);
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTextureLayer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, texture, 0, 0);
  const drawn = () => {
    const pixel = new Uint8Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return [...pixel];
  };
  gl.texSubImage3D(
    gl.TEXTURE_2D_ARRAY, 0, 0, 0, 0, 1, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, bytes, texel);
  const written = drawn();
  gl.clearBufferfv(gl.COLOR, 0, floats, 500);
  return [written, drawn(), gl.getError()];
}"""


@pytest.fixture
def page(tabs: Any) -> Any:
    page = tabs.new_page()
    yield page
    page.close()


def test_textures_and_colours_come_from_their_place_in_a_large_memory(page):
    page.set_content(REFUSING + script_part("large_views").decode())
    assert page.evaluate(DRAW) == [[11, 22, 33, 44], [0, 255, 0, 255], 0]


def test_a_browser_that_refuses_large_views_draws_nothing_without_the_script(page):
    page.set_content(REFUSING)
    with pytest.raises(Exception, match="larger than 2 GB"):
        page.evaluate(DRAW)
