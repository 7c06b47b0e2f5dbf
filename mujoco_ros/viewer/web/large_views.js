// Gives WebGL parts of the program's memory where Studio's page gives the whole of it.
//
// Studio's memory has 3 GB, and browsers such as Firefox 140 refuse views of more than 2 GB, so
// that the page would stay black. Emscripten's own remedy left out the methods with a place in the
// view (https://github.com/emscripten-core/emscripten/pull/27039).

(() => {
  "use strict";
  if (!window.WebGL2RenderingContext) return;
  const LARGEST = 2 ** 30; // [bytes]
  const WITH_PLACE = /^(texSubImage3D|compressedTex|clearBuffer.+v$|uniform.+v$)/;
  const methods = WebGL2RenderingContext.prototype;
  const isLarge = (it) => ArrayBuffer.isView(it) && it.byteLength > LARGEST;

  for (const name of Object.getOwnPropertyNames(methods).filter((it) => WITH_PLACE.test(it))) {
    const method = methods[name];
    methods[name] = function (...values) {
      const index = values.findIndex(isLarge);
      if (index >= 0) {
        const [view, first = 0] = values.slice(index);
        values[index] = view.subarray(first, first + LARGEST / view.BYTES_PER_ELEMENT);
        values[index + 1] = 0;
      }
      return method.apply(this, values);
    };
  }
})();
