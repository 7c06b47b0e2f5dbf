// Draws the scene only where no panel covers it.
//
// Studio's page draws the scene on the whole page, and then the panels over more than half of it.
// The renderer draws it in several passes into textures, which have the size of the page, or a
// fraction of it; shadow maps are square.

const visibleScene = (() => {
  "use strict";
  const MARGIN = 16; // Passes read the neighbours of a pixel [px].
  const SAME_ASPECT = 0.02;
  let part = null; // Fractions of the page, from its upper left corner, and the page's aspect.

  const set = (numbers) => {
    const [left, top, right, bottom, aspect] = numbers;
    part = aspect > 0 ? { left, top, right, bottom, aspect } : null;
    states.forEach((state) => { state.isCurrent = false; });
  };

  const states = [];
  if (!window.WebGL2RenderingContext) return { set };
  const methods = WebGL2RenderingContext.prototype;
  const { bindFramebuffer, viewport, scissor, enable, disable } = methods;

  const of = (gl) => {
    if (!gl.mujocoRosScissor) {
      gl.mujocoRosScissor = {
        hasTexture: false, view: [0, 0, 0, 0], // What is drawn to.
        isOn: false, box: gl.getParameter(gl.SCISSOR_BOX), // The renderer's own scissor.
        isClipped: false, isCurrent: true,
      };
      states.push(gl.mujocoRosScissor);
    }
    return gl.mujocoRosScissor;
  };

  // Record the renderer's state.
  const record = (name, note) => {
    const method = methods[name];
    methods[name] = function (...values) {
      const state = of(this);
      note(this, state, values);
      state.isCurrent = false;
      return method.apply(this, values);
    };
  };
  record("bindFramebuffer", (gl, state, [target, framebuffer]) => {
    if (target !== gl.READ_FRAMEBUFFER) state.hasTexture = Boolean(framebuffer);
  });
  record("viewport", (_, state, values) => { state.view = values; });
  record("scissor", (_, state, values) => { state.box = values; });
  record("enable", (gl, state, [what]) => { if (what === gl.SCISSOR_TEST) state.isOn = true; });
  record("disable", (gl, state, [what]) => { if (what === gl.SCISSOR_TEST) state.isOn = false; });

  const isOfScene = ({ hasTexture, view: [, , width, height] }) =>
    part && hasTexture && width !== height && Math.abs(width / height - part.aspect) < SAME_ASPECT;

  // Leaves the state to which the renderer has set it.
  const restore = (gl, state) => {
    if (state.isClipped) {
      state.isClipped = false;
      if (!state.isOn) disable.call(gl, gl.SCISSOR_TEST);
      scissor.apply(gl, state.box);
    }
  };

  const clip = (gl) => {
    const state = of(gl);
    if (state.isCurrent) return;
    state.isCurrent = true;
    if (!isOfScene(state)) {
      restore(gl, state);
      return;
    }
    const [x, y, width, height] = state.view;
    let left = Math.max(Math.floor(x + width * part.left) - MARGIN, 0);
    let lower = Math.max(Math.floor(y + height * (1 - part.bottom)) - MARGIN, 0);
    let right = Math.ceil(x + width * part.right) + MARGIN;
    let upper = Math.ceil(y + height * (1 - part.top)) + MARGIN;
    if (state.isOn) {
      const [x, y, width, height] = state.box;
      left = Math.max(left, x);
      lower = Math.max(lower, y);
      right = Math.min(right, x + width);
      upper = Math.min(upper, y + height);
    }
    enable.call(gl, gl.SCISSOR_TEST);
    scissor.call(gl, left, lower, Math.max(right - left, 0), Math.max(upper - lower, 0));
    state.isClipped = true;
  };

  const precede = (name, prepare) => {
    const method = methods[name];
    methods[name] = function (...values) {
      prepare(this);
      return method.apply(this, values);
    };
  };
  const DRAWING = /^(draw(Elements|Arrays|RangeElements)|blitFramebuffer$)/;
  // The renderer clears a texture before it sets the viewport; the whole of it, as depth is read.
  const CLEARING = /^clear(Buffer|$)/;
  for (const name of Object.getOwnPropertyNames(methods)) {
    if (DRAWING.test(name)) precede(name, clip);
    if (CLEARING.test(name)) {
      precede(name, (gl) => {
        const state = of(gl);
        restore(gl, state);
        state.isCurrent = false;
      });
    }
  }
  return { set };
})();
