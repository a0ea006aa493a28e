// Lets the console be installed as an app that says so when Hearth can't be reached.

const LATER_MS = 2_000; // the page itself comes first

/** Register the service worker, where the browser allows one: on secure pages of their own. */
export function install() {
  if (window.top !== window || !navigator.serviceWorker) return;
  setTimeout(() => {
    navigator.serviceWorker.register("console/worker.js", { scope: "./" }).catch(() => {}); // it works without
  }, LATER_MS);
}
