// A person talks with the box: what is pressed, heard and answered, without its looks.

import { Ear } from "./ear.js";
import { Line } from "./line.js";
import { Mouth } from "./mouth.js";

const HEARS = ["waking", "listening", "follow_up"]; // states in which the box wants sound
const TAIL_MS = 150; // people let go of the button a little early

/** A conversation. Its owner gets each change: state, heard, answer, done, trouble, up. */
export class Talk {
  state = "idle";
  answer = "page"; // where the answer is heard
  #on;
  #begins = false; // pressed, but the box has not said so yet
  #ear = new Ear((frame) => this.#hears && this.#line.send(frame));
  #mouth = new Mouth();
  #line;

  constructor(on) {
    this.#on = on;
    this.#line = new Line({
      told: (message) => this.#take(message),
      sound: (bytes) => this.#mouth.play(bytes),
      up: (up) => this.#stand(up),
    });
  }

  get up() {
    return this.#line.open;
  }

  /** Samples of answers that were played. */
  get played() {
    return this.#mouth.played;
  }

  get #hears() {
    return this.#begins || HEARS.includes(this.state);
  }

  /** Begin to listen; what is being said is interrupted. Whether it worked. */
  async press() {
    if (this.state === "confirming" || !this.up) {
      this.#on.trouble(this.up ? "confirming" : "away");
      return false;
    }
    this.#mouth.hush();
    this.#change("starting");
    try {
      await this.#ear.open();
    } catch (error) {
      this.#change("idle");
      this.#on.trouble(error.name);
      return false;
    }
    this.#begins = true;
    this.#line.send({ type: "press", answer: this.answer });
    return true;
  }

  /** The sentence is over. */
  release() {
    setTimeout(() => this.#line.send({ type: "release" }), TAIL_MS);
  }

  stop() {
    this.#mouth.hush();
    this.#line.send({ type: "stop" });
  }

  close() {
    this.#line.close();
    this.#ear.close();
    this.#mouth.close();
  }

  #take(message) {
    if (message.type === "state") this.#follow(message.state);
    else if (message.type === "heard") this.#on.heard(message.text);
    else if (message.type === "answer") this.#on.answer(message.text);
    else if (message.type === "sound") this.#mouth.use(message.rate);
    else if (message.type === "quiet") this.#mouth.hush();
    else if (message.type === "done") this.#on.done(message);
    else if (message.type === "error") {
      this.#begins = false;
      this.#on.trouble(message.kind, message.message);
    }
  }

  #follow(state) {
    if (this.#begins && state !== "waking") return; // still about the turn before
    this.#begins = false;
    this.#change(state);
    if (HEARS.includes(state)) this.#ear.open().catch((error) => this.#on.trouble(error.name));
    else this.#ear.close();
  }

  #stand(up) {
    if (!up) {
      this.#begins = false;
      this.#mouth.hush();
      this.#ear.close();
      this.#change("idle");
    }
    this.#on.up(up);
  }

  #change(state) {
    this.state = state;
    this.#on.state(state);
  }
}
