// Who may see this: by a token, or by the link that `hearth link` makes.

import { signIn } from "./api.js";
import { el, say } from "./dom.js";
import { flame } from "./icons.js";
import { busy, field, languages } from "./parts.js";
import { words } from "./words.js";

/** The page. `message`: why one has to sign in again. `done`: called once signed in. */
export function signInPage(message, done) {
  const text = words.signIn;
  const token = el("input", {
    type: "password", name: "token", autocomplete: "current-password", required: true,
    autocapitalize: "off", spellcheck: "false",
  });
  const problem = el("p", { class: "problem", role: "alert" }, message);
  const send = el("button", { type: "submit", class: "button primary wide" }, text.button);

  async function submit(event) {
    event.preventDefault();
    say(problem, "");
    await busy(send, async () => {
      try {
        await signIn({ token: token.value.trim() });
      } catch (error) {
        if (error.status === undefined) throw error;
        say(problem, error.status === 401 ? text.badToken : error.message);
        token.select();
        return;
      }
      done();
    });
  }

  return el("main", { class: "alone" },
    el("form", { class: "signin card", on: { submit } },
      el("div", { class: "brand big" }, flame(), el("span", {}, words.name)),
      el("h1", {}, text.title),
      el("p", { class: "lead" }, text.lead),
      // For managers of passwords, which keep a secret under a name.
      el("input", { type: "text", name: "username", autocomplete: "username", value: words.name, hidden: true }),
      field(text.token, token, text.hint),
      problem,
      send,
    ),
    languages(),
  );
}
