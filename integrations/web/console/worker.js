// The service worker of the installed console. It only shows a page while Hearth can't be reached:
// it keeps nothing that Hearth tells, and answers no other request.

const KEPT = "offline-1";
const PAGE = "console/offline.html";
const FILES = [PAGE, "console/offline.js", "console/styles/base.css", "console/styles/shell.css", "console/icon.svg"];

const address = (file) => new URL(file, self.registration.scope).href;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES.map(address))));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("offline-") && name !== KEPT);
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const file = request.mode === "navigate" ? address(PAGE) : request.url;
  if (request.method !== "GET" || !FILES.map(address).includes(file)) return;
  event.respondWith(fetch(request).catch(async () => (await caches.match(file)) ?? Response.error()));
});
