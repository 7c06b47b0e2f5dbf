// Turns touches into what a mouse does: one finger is the left button, two turn the wheel.
//
// Studio's page reads a tap, but a finger does not drag, and two do not zoom or scroll. A finger
// presses when it moves, is lifted, or stays: until then a second one may begin to zoom.

(() => {
  "use strict";
  const ZOOM_PX = 2000; // Studio's page moves its camera by 5 % for 100 px of the wheel.
  const STAYS_MS = 300;
  const NEAR_PX = 4;
  let waiting = null; // The finger that has not pressed yet.
  let timer = 0;
  let pressed = null; // The finger that holds the button, where it was last.
  let pair = null; // Two fingers: their distance and middle [px].

  const at = ({ clientX, clientY, screenX, screenY }) => ({ clientX, clientY, screenX, screenY });
  const send = (Kind, type, place, values = {}) => {
    const settings = { bubbles: true, cancelable: true, view: window, ...place, ...values };
    document.querySelector("canvas").dispatchEvent(new Kind(type, settings));
  };
  const stopWaiting = () => {
    clearTimeout(timer);
    waiting = null;
  };
  const press = () => {
    if (waiting === null) return;
    pressed = waiting;
    stopWaiting();
    send(MouseEvent, "mousemove", pressed);
    send(MouseEvent, "mousedown", pressed, { buttons: 1 });
  };
  const hasMoved = (finger) =>
    Math.hypot(finger.clientX - waiting.clientX, finger.clientY - waiting.clientY) > NEAR_PX;
  const release = () => {
    if (pressed !== null) send(MouseEvent, "mouseup", pressed);
    pressed = null;
  };
  const paired = ([first, second]) => ({
    distance: Math.hypot(first.clientX - second.clientX, first.clientY - second.clientY) || 1,
    clientX: (first.clientX + second.clientX) / 2,
    clientY: (first.clientY + second.clientY) / 2,
  });
  const turn = (now) => {
    const place = { clientX: now.clientX, clientY: now.clientY };
    const zoom = ZOOM_PX * Math.log(now.distance / pair.distance);
    const deltaY = zoom + pair.clientY - now.clientY;
    send(MouseEvent, "mousemove", place);
    send(WheelEvent, "wheel", place, { deltaY, deltaMode: WheelEvent.DOM_DELTA_PIXEL });
  };

  const onTouch = (event) => {
    if (!(event.target instanceof HTMLCanvasElement)) return;
    event.preventDefault(); // The browser would scroll, zoom, or send mouse events of its own.
    event.stopImmediatePropagation();
    const fingers = [...event.targetTouches];
    if (event.type === "touchmove") {
      if (waiting !== null && hasMoved(fingers[0])) press();
      if (pressed !== null) {
        pressed = at(fingers[0]);
        send(MouseEvent, "mousemove", pressed, { buttons: 1 });
      } else if (pair !== null && fingers.length === 2) {
        const now = paired(fingers);
        turn(now);
        pair = now;
      }
      return;
    }
    if (event.type === "touchend" && fingers.length === 0) press();
    stopWaiting();
    release();
    pair = fingers.length === 2 ? paired(fingers) : null;
    if (event.type === "touchstart" && fingers.length === 1) {
      waiting = at(fingers[0]);
      timer = setTimeout(press, STAYS_MS);
    }
  };
  for (const type of ["touchstart", "touchmove", "touchend", "touchcancel"]) {
    window.addEventListener(type, onTouch, { capture: true, passive: false });
  }
})();
