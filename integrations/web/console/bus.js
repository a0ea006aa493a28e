// The page's event bus: the device's events under their own names, and the page's own "away",
// "back", "signed-out" and "standing" (the device's state).

const bus = new EventTarget();

/** Publish an event. */
export function tell(kind, data = {}) {
  bus.dispatchEvent(new CustomEvent(kind, { detail: data }));
}

/** Register a listener until the signal aborts. Failed requests of a listener are not errors of the
 * page: the banner shows that the device is offline. */
export function on(kinds, listener, signal) {
  for (const kind of kinds.split(" ")) {
    bus.addEventListener(kind, async (event) => {
      try {
        await listener(event.detail, kind);
      } catch (error) {
        if (error.status === undefined && error.name !== "AbortError") throw error;
      }
    }, { signal });
  }
}
