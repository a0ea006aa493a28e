// What happens, told to whoever of the page wants to know: the events of the box by their own
// names, and of the page itself "away", "back", "signed-out" and "standing" (how the box stands).

const bus = new EventTarget();

/** Tell everybody. */
export function tell(kind, data = {}) {
  bus.dispatchEvent(new CustomEvent(kind, { detail: data }));
}

/** Be told until the signal ends it. What a listener asks of the box in vain is no fault of the
 * page: the banner tells that the box is away. */
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
