// The microphone of this browser. It is on only while somebody is expected to speak.

const WORKLET = "console/voice/worklet.js";
const WANTED = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/** Why this page cannot have a microphone at all: "insecure", "none" or "" for no reason. */
export function hindrance() {
  if (!window.isSecureContext) return "insecure";
  return navigator.mediaDevices?.getUserMedia && window.AudioWorkletNode ? "" : "none";
}

/** A microphone that hands frames of 20 ms to `take`, as 16 kHz mono int16 in an ArrayBuffer. */
export class Ear {
  #take;
  #context = null;
  #stream = null;
  #opening = null;

  constructor(take) {
    this.#take = take;
  }

  /** Switch it on. Throws what `getUserMedia` throws: NotAllowedError, NotFoundError and others. */
  open() {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Switch it off: the browser then shows that nobody listens. */
  close() {
    const opening = this.#opening;
    this.#opening = null;
    opening?.then(() => this.#end(), () => {});
  }

  async #open() {
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
      this.#context = new AudioContext();
      await this.#context.audioWorklet.addModule(WORKLET);
      const node = new AudioWorkletNode(this.#context, "ear", { numberOfOutputs: 0 });
      node.port.onmessage = ({ data }) => this.#take(data);
      this.#context.createMediaStreamSource(this.#stream).connect(node);
      await this.#context.resume();
    } catch (error) {
      this.#opening = null;
      this.#end();
      throw error;
    }
  }

  #end() {
    if (this.#opening) return; // it was opened again meanwhile
    this.#stream?.getTracks().forEach((track) => track.stop());
    this.#context?.close();
    this.#stream = this.#context = null;
  }
}
