// The connection to the box for speaking. It comes back by itself until the view ends.

import { learnSession } from "../api.js";
import { tell } from "../bus.js";

const SIGNED_OUT = 4401; // close code of the box
const AGAIN_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** A line that hands messages to `told`, sound to `sound`, and says with `up` whether it is there. */
export class Line {
  #on;
  #socket = null;
  #failures = 0;
  #timer = 0;
  #ended = false;

  constructor(on) {
    this.#on = on;
    this.#open();
  }

  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Send a command, or sound. Lost if the line is away. */
  send(message) {
    if (this.open) this.#socket.send(message instanceof ArrayBuffer ? message : JSON.stringify(message));
  }

  close() {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (this.#socket?.readyState !== WebSocket.CONNECTING) this.#socket?.close();
    else this.#socket.onopen = () => this.#socket.close(); // sooner, the browser complains
  }

  #open() {
    const address = new URL("v1/speech", document.baseURI);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.hash = "";
    const socket = (this.#socket = new WebSocket(address));
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) return this.#on.sound(data);
      const message = JSON.parse(data);
      if (message.type !== "ready") return this.#on.told(message);
      this.#failures = 0;
      return this.#on.up(true);
    };
    socket.onclose = ({ code }) => {
      if (this.#ended) return;
      this.#on.up(false);
      if (code === SIGNED_OUT) tell("signed-out");
      else this.#again();
    };
  }

  #again() {
    const wait = AGAIN_MS[Math.min(this.#failures, AGAIN_MS.length - 1)];
    this.#failures += 1;
    this.#timer = setTimeout(async () => {
      try {
        await learnSession(); // a refused connection does not say why
      } catch (error) {
        if (error.status === 401) return tell("signed-out");
      }
      if (!this.#ended) this.#open();
    }, wait);
  }
}
