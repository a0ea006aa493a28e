// On the page that says that Hearth can't be reached: goes back when it can.

const AGAIN_MS = 5_000;

async function look() {
  try {
    await fetch("healthz", { cache: "no-store" });
    location.reload();
  } catch {
    setTimeout(look, AGAIN_MS);
  }
}
setTimeout(look, AGAIN_MS);
