// Plays the answer as it comes, without gaps.

const LEAD_S = 0.04; // before the first sample, so that the next ones are there in time

/** A loudspeaker for mono int16 of one rate at a time. */
export class Mouth {
  played = 0; // samples so far
  #context = null;
  #rate = 0;
  #next = 0; // time at which the next sound begins
  #sounding = new Set();

  /** Take this rate in Hz from now on. */
  use(rate) {
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#context?.close();
    this.#context = new AudioContext({ sampleRate: rate }); // the browser then converts all of it at once
    this.#next = 0;
    this.#sounding.clear();
  }

  /** Play this after what came before. */
  play(bytes) {
    const context = this.#context;
    if (!context) return;
    const samples = new Int16Array(bytes);
    const buffer = context.createBuffer(1, samples.length, this.#rate);
    buffer.copyToChannel(Float32Array.from(samples, (sample) => sample / 32_768), 0);
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.addEventListener("ended", () => this.#sounding.delete(source));
    this.#sounding.add(source);
    this.#next = Math.max(this.#next, context.currentTime + LEAD_S);
    source.start(this.#next);
    this.#next += buffer.duration;
    this.played += samples.length;
    if (context.state === "suspended") context.resume();
  }

  /** Play nothing more of what has come. */
  hush() {
    for (const source of this.#sounding) source.stop();
    this.#sounding.clear();
    this.#next = 0;
  }

  close() {
    this.hush();
    this.#context?.close();
    this.#context = null;
    this.#rate = 0;
  }
}
