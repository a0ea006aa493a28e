// Asks the box. All addresses are relative, so that the page works under any path.

import { tell } from "./bus.js";
import { words } from "./words.js";

const PATIENCE_MS = 15_000;

/** An answer from 400 on, or none at all (`status` 0). The message is a sentence for people. */
export class ApiError extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

let session = null; // {name, scopes}

/** Who is signed in; null: nobody. */
export function who() {
  return session;
}

/** Whether the session may do what needs this scope; the box lists those that others include. */
export function may(scope) {
  return (session?.scopes ?? []).includes(scope);
}

/** Learn who is signed in. Throws ApiError. */
export async function learnSession() {
  session = await get("v1/session", { quiet: true });
  return session;
}

/** Sign in with `{token}` or `{code}`. Throws ApiError. */
export async function signIn(proof) {
  await send("POST", "v1/session", proof, { quiet: true });
  return learnSession();
}

/** Sign out, here and at the box. */
export async function signOut() {
  try {
    await send("DELETE", "v1/session");
  } finally {
    session = null;
    tell("signed-out");
  }
}

/** What a path tells. Throws ApiError. `quiet`: a 401 is the caller's own business. */
export function get(path, options = {}) {
  return send("GET", path, undefined, options);
}

/** Have the box do something. Throws ApiError. */
export function post(path, body = {}, options = {}) {
  return send("POST", path, body, options);
}

/** Have something taken away. Throws ApiError. */
export function remove(path) {
  return send("DELETE", path);
}

async function send(method, path, body, { quiet = false, signal = null, patience = PATIENCE_MS } = {}) {
  const answer = await reached(method, path, body, signal, patience);
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  const error = await refusal(answer);
  if (error.status === 401 && !quiet) {
    session = null;
    tell("signed-out");
  }
  throw error;
}

async function reached(method, path, body, signal, patience) {
  const ends = [AbortSignal.timeout(patience), ...(signal ? [signal] : [])];
  try {
    return await fetch(path, {
      method,
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.any(ends),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    tell("unreachable");
    throw new ApiError(0, "unreachable", words.away.request);
  }
}

async function refusal(answer) {
  try {
    const { error } = await answer.json();
    return new ApiError(answer.status, error.kind, words.refused[error.kind] || error.message);
  } catch {
    return new ApiError(answer.status, "broken", words.away.strange(answer.status));
  }
}
