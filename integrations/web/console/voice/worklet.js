// Runs beside the page: brings the microphone's sound to 16 kHz and hands it on in frames of 20 ms.

const RATE = 16_000; // Hz
const FRAME = 320; // samples
const SIDE = 16; // zero crossings of the filter on each side
const STEPS = 256; // positions of the filter between two samples

/** A windowed sinc (Hann) whose cut-off lies a little below half of the lower rate. */
function kernel(ratio) {
  const width = Math.ceil(SIDE * Math.max(1, ratio));
  const cut = 0.94 / Math.max(1, ratio);
  const table = [];
  for (let step = 0; step < STEPS; step += 1) {
    const taps = new Float32Array(2 * width);
    let sum = 0;
    for (let tap = 0; tap < 2 * width; tap += 1) {
      const at = tap - width + 1 - step / STEPS;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * at) / (width + 1));
      taps[tap] = (at === 0 ? 1 : Math.sin(Math.PI * cut * at) / (Math.PI * cut * at)) * window;
      sum += taps[tap];
    }
    for (let tap = 0; tap < 2 * width; tap += 1) taps[tap] /= sum;
    table.push(taps);
  }
  return { width, table };
}

class Ear extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ratio = sampleRate / RATE; // input samples for each output sample
    Object.assign(this, kernel(this.ratio));
    this.past = new Float32Array(2 * this.width); // input that the filter still needs
    this.at = this.width - 1; // of the next output sample in `past`, with a fraction
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
  }

  process([[input]]) {
    if (input) this.take(input);
    return true;
  }

  take(input) {
    const sound = new Float32Array(this.past.length + input.length);
    sound.set(this.past);
    sound.set(input, this.past.length);
    while (Math.floor(this.at) + this.width < sound.length) {
      const first = Math.floor(this.at);
      const taps = this.table[Math.floor((this.at - first) * STEPS)];
      let sum = 0;
      for (let tap = 0; tap < taps.length; tap += 1) sum += taps[tap] * sound[first - this.width + 1 + tap];
      this.push(sum);
      this.at += this.ratio;
    }
    const spent = Math.floor(this.at) - this.width + 1;
    this.past = sound.slice(spent);
    this.at -= spent;
  }

  push(value) {
    this.frame[this.filled] = Math.max(-1, Math.min(1, value)) * 32_767;
    this.filled += 1;
    if (this.filled < FRAME) return;
    this.port.postMessage(this.frame.buffer, [this.frame.buffer]);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
  }
}

registerProcessor("ear", Ear);
