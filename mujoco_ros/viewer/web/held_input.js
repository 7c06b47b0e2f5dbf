// Holds back input until the viewer has read what came before it.
//
// The page sends the state of buttons and keys with each of its frames, and the viewer reads the
// newest when it builds a frame of its own. So a click that is shorter than that, as on a busy
// machine, would be lost. Here what the mouse does after a button has changed waits until the
// viewer has read the change, and a change elsewhere until it has read the motion there: widgets
// such as tabs ignore a press unless the mouse was over them in the frame before, and a drag ends
// where the button was last seen pressed. A key that was pressed is released then, too. All keeps
// its order, but for keys that are pressed while others wait for their release, as when somebody
// types.

const heldInput = (() => {
  "use strict";
  const HALTED_MS = 3000; // A viewer that reads nothing for so long is not waited for.
  const LONGEST_KEY_MS = 200; // Dear ImGui repeats keys that are down for longer.
  const MODIFIER = /^(Control|Shift|Alt|Meta)/; // By the code of a key.
  const NEAR_PX = 4; // Dear ImGui's limit between the clicks of a double click is 6.
  let isConnected = false; // To the panels.
  let sent = 0; // Messages with the state of buttons and keys.
  let read = 0; // Those of them that the viewer has read.
  let readAt = 0; // When it has read the last one.
  let motion = null; // The last one of the mouse.
  let button = null; // The last change of a button.
  let hasLeft = false; // Whether the mouse has been elsewhere since then.
  let key = null; // The last press of a key.
  const pressed = new Set(); // Buttons that were pressed in the scene.
  const queue = []; // Held events.
  const replayed = new WeakSet();

  // A change is in one of the next two messages.
  const change = (event) => ({ event, message: sent + 2, sentAt: null });
  const isUnread = (it, early = 0) =>
    it !== null && isConnected && read < it.message - early &&
    performance.now() - readAt < HALTED_MS;
  // What remains near a release waits for less, so that two clicks stay a double click.
  const isNear = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) <= NEAR_PX;
  const isOfButton = (event) => event.type === "mousedown" || event.type === "mouseup";
  const isRecent = (it) =>
    it !== null && (it.sentAt === null || performance.now() - it.sentAt < LONGEST_KEY_MS);
  const mustWait = (event) => {
    if (event.type === "keydown") return false;
    // A modifier must not end before what it modifies.
    if (event.type === "keyup") return [key, button].some((it) => isRecent(it) && isUnread(it));
    const isAtButton = button !== null && !hasLeft && isNear(event, button.event);
    if (isOfButton(event) && !isAtButton && isUnread(motion)) return true;
    if (button === null) return false;
    const isAtRelease = button.event.type === "mouseup" && isAtButton;
    return isUnread(button, isAtRelease ? 2 : 0);
  };
  const mustFollow = (press, held) =>
    held instanceof MouseEvent || held.code === press.code || MODIFIER.test(held.code);

  const replay = (event) => {
    const copy = new event.constructor(event.type, event);
    replayed.add(copy);
    event.target.dispatchEvent(copy);
  };
  const hold = (event) => {
    event.stopImmediatePropagation();
    queue.push(event);
  };
  const note = (event) => {
    if (event.type === "mousemove") {
      motion = change(event);
      hasLeft ||= button !== null && !isNear(event, button.event);
    }
    if (isOfButton(event)) {
      button = change(event);
      hasLeft = false;
    }
    if (event.type === "keydown") key = change(event);
  };

  const isOfScene = (event) => {
    if (event.type === "mouseup") return pressed.has(event.button); // It may end elsewhere.
    return event.target instanceof HTMLCanvasElement;
  };
  const onMouse = (event) => {
    if (replayed.has(event) || !isOfScene(event)) return;
    if (event.type === "mousedown") pressed.add(event.button);
    if (event.type === "mouseup") pressed.delete(event.button);
    if (!queue.length && !mustWait(event)) {
      note(event);
      return;
    }
    const last = queue[queue.length - 1];
    if (event.type === "mousemove" && last && last.type === "mousemove") queue.pop();
    hold(event);
  };
  const onKeyDown = (event) => {
    if (replayed.has(event)) return;
    if (queue.some((held) => mustFollow(event, held))) hold(event);
    else if (!event.repeat) note(event);
  };
  const onKeyUp = (event) => {
    if (replayed.has(event)) return;
    if (queue.length || mustWait(event)) hold(event);
  };
  const proceed = () => {
    while (queue.length && !mustWait(queue[0])) {
      const event = queue.shift();
      note(event);
      replay(event);
    }
  };

  // Before the listeners of the page.
  for (const type of ["mousedown", "mousemove", "mouseup", "wheel"]) {
    window.addEventListener(type, onMouse, { capture: true, passive: true });
  }
  window.addEventListener("keydown", onKeyDown, true);
  window.addEventListener("keyup", onKeyUp, true);

  return {
    connect() {
      isConnected = true;
      sent = read = 0;
      readAt = performance.now();
      motion = button = key = null;
      hasLeft = false;
      proceed();
    },
    disconnect() {
      isConnected = false;
      proceed();
    },
    noteSent() {
      sent += 1;
      for (const it of [button, key]) if (it !== null) it.sentAt ??= performance.now();
    },
    noteRead(count) {
      if (count > read) readAt = performance.now();
      read = count;
      proceed();
    },
    proceed,
    // Whether the viewer has read all input.
    isRead: () => !queue.length && ![motion, button, key].some((it) => isUnread(it)),
  };
})();
