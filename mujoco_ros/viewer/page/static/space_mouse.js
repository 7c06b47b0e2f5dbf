// 3D mice of 3Dconnexion by WebHID, as devices with the attributes of the Gamepad API.

const MULTI_AXIS = { usagePage: 0x01, usage: 0x08 };
const FILTERS = [0x256f, 0x046d].map((vendorId) => ({ vendorId, ...MULTI_AXIS }));
const TRANSLATION = 1, ROTATION = 2, BUTTONS = 3; // numbers of the reports
const FULL = 350; // value of a full deflection
const BYTES = 2; // of an axis
const SILENT_MS = 500; // A deflected mouse reports many times a second, if it is in reach.

const mice = new Map();

// Return the open 3D mice; one that is deflected and silent is released.
export function spaceMice() {
  const now = performance.now();
  for (const mouse of mice.values()) {
    if (mouse.axes.some(Boolean) && now - mouse.reportedAt > SILENT_MS) {
      mouse.axes.fill(0);
      mouse.buttons = [];
    }
  }
  return [...mice.values()];
}

export const hasWebHid = () => "hid" in navigator;

// Ask the user for a 3D mouse, which needs a click, and open it.
export async function askForMouse() {
  await Promise.all((await navigator.hid.requestDevice({ filters: FILTERS })).map(open));
}

// Open the 3D mice that the user has allowed, now and when one is plugged in.
export async function openAllowedMice() {
  if (!hasWebHid()) return;
  navigator.hid.addEventListener("connect", ({ device }) => open(device));
  navigator.hid.addEventListener("disconnect", ({ device }) => mice.delete(device));
  await Promise.all((await navigator.hid.getDevices()).map(open));
}

async function open(device) {
  if (mice.has(device)) return;
  const ids = [device.vendorId, device.productId].map((it) => it.toString(16).padStart(4, "0"));
  const mouse = { id: [...ids, device.productName].join("-"), connected: true, mapping: "",
    axes: new Array(6).fill(0), buttons: [], reportedAt: 0 };
  device.addEventListener("inputreport", ({ reportId, data }) => read(mouse, reportId, data));
  if (!device.opened) await device.open();
  mice.set(device, mouse);
}

// Read a report: three axes, six of wireless devices, or a bit per button.
function read(mouse, number, data) {
  mouse.reportedAt = performance.now();
  if (number === TRANSLATION || number === ROTATION) {
    const first = number === ROTATION ? 3 : 0;
    const count = Math.min(Math.floor(data.byteLength / BYTES), mouse.axes.length - first);
    for (let it = 0; it < count; ++it) {
      const share = data.getInt16(BYTES * it, true) / FULL;
      mouse.axes[first + it] = Math.max(-1, Math.min(1, share));
    }
  } else if (number === BUTTONS) {
    mouse.buttons = Array.from({ length: 8 * data.byteLength }, (_, it) => ({
      pressed: ((data.getUint8(it >> 3) >> (it & 7)) & 1) === 1,
    }));
  }
}
