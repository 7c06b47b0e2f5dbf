// Holds back input until the viewer has seen what came before it.
//
// The page sends the state of buttons and keys with each of its frames, and the viewer reads the
// newest when it builds one of its own. So a click shorter than that, as on a busy machine, would
// be lost. Here a button changes again only after the viewer has built a frame with its last
// change; events of the mouse keep their order. A key is released then, too.

const heldInput = (() => {
  "use strict";
  const LONGEST_MS = 1000; // a hold, if the viewer builds no frame
  let isConnected = false; // to the panels
  let sent = 0; // messages with the state of buttons and keys
  let seen = 0; // those of them that the viewer has seen
  let lastChange = null; // of a button
  const pressedKeys = new Map(); // the change by the code of the key
  const releases = new Map(); // held release by the code of the key
  const mouse = []; // held events
  const replayed = new WeakSet();

  // The message after the next one contains a change at the latest.
  const change = () => ({ message: sent + 2, at: performance.now() });
  const isUnseen = (it) =>
    it && isConnected && seen < it.message && performance.now() - it.at < LONGEST_MS;
  const isChange = (event) => event.type !== "mousemove";
  const isOfScene = (event) => event.target instanceof HTMLCanvasElement;

  const replay = (event) => {
    const copy = new event.constructor(event.type, event);
    replayed.add(copy);
    event.target.dispatchEvent(copy);
  };
  const releaseKey = (code) => {
    const event = releases.get(code);
    releases.delete(code);
    pressedKeys.delete(code);
    if (event) replay(event);
  };
  const hold = (event) => {
    event.stopImmediatePropagation();
    return event;
  };

  const onMouse = (event) => {
    if (replayed.has(event)) return;
    const mustWait = isChange(event) && isUnseen(lastChange) && isOfScene(event);
    if (mouse.length || mustWait) mouse.push(hold(event));
    else if (isChange(event) && isOfScene(event)) lastChange = change();
  };
  const onKeyDown = (event) => {
    if (event.repeat || replayed.has(event)) return;
    releaseKey(event.code); // The same key again.
    pressedKeys.set(event.code, change());
  };
  const onKeyUp = (event) => {
    if (replayed.has(event)) return;
    if (isUnseen(pressedKeys.get(event.code))) releases.set(event.code, hold(event));
    else pressedKeys.delete(event.code);
  };
  const proceed = () => {
    while (mouse.length && !(isChange(mouse[0]) && isUnseen(lastChange))) {
      const event = mouse.shift();
      if (isChange(event)) lastChange = change();
      replay(event);
    }
    for (const code of [...releases.keys()]) {
      if (!isUnseen(pressedKeys.get(code))) releaseKey(code);
    }
  };

  // Before the listeners of the page.
  for (const type of ["mousedown", "mousemove", "mouseup"]) {
    window.addEventListener(type, onMouse, true);
  }
  window.addEventListener("keydown", onKeyDown, true);
  window.addEventListener("keyup", onKeyUp, true);

  return {
    connect() {
      isConnected = true;
      sent = seen = 0;
      lastChange = null;
      pressedKeys.clear();
    },
    disconnect() {
      isConnected = false;
      proceed();
    },
    noteSent() {
      sent += 1;
    },
    noteSeen(count) {
      seen = count;
      proceed();
    },
    proceed,
  };
})();
