// Times, lengths and sums of money, as people read them.

import { locale } from "./words.js";

const CLOCK = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short" });
const SHORT_DAY = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });
const NEAR_DAY = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
const NUMBER = new Intl.NumberFormat(locale);
const PERCENT = new Intl.NumberFormat(locale, { style: "percent" });
const UNITS = new Intl.ListFormat(locale, { type: "unit", style: "narrow" });

/** "14:03", or "02:03 pm" where people write it so. */
export function clock(iso) {
  return CLOCK.format(new Date(iso));
}

/** "14:03" of today, else "Sat 21 Nov, 14:03". */
export function moment(iso) {
  return isToday(iso) ? clock(iso) : `${DAY.format(new Date(iso))}, ${clock(iso)}`;
}

/** "Today", "Yesterday" or "Sat 21 Nov". */
export function day(iso) {
  if (isToday(iso)) return capitalised(NEAR_DAY.format(0, "day"));
  const before = new Date();
  before.setDate(before.getDate() - 1);
  const date = new Date(iso);
  return capitalised(date.toDateString() === before.toDateString() ? NEAR_DAY.format(-1, "day") : DAY.format(date));
}

/** "21 Nov" of a date such as "2026-11-21". */
export function shortDay(date) {
  return SHORT_DAY.format(new Date(`${date}T12:00:00`));
}

/** All of it. */
export function fully(iso) {
  return FULL.format(new Date(iso));
}

/** "820 ms", "1.2 s", "14 s". */
export function span(ms) {
  if (ms < 1_000) return `${NUMBER.format(Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  return `${decimal(seconds, seconds < 10 ? 1 : 0)} s`;
}

/** "4:05" or "1:04:05" of seconds that are left. */
export function countdown(seconds) {
  const left = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(left / 60) % 60, left % 60].map((one) => String(one).padStart(2, "0"));
  const hours = Math.floor(left / 3600);
  return hours ? `${hours}:${parts.join(":")}` : `${Number(parts[0])}:${parts[1]}`;
}

/** "3 min", "2 h 5 min", "4 days" of a fault or the like. */
export function lasting(ms) {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (ms < 60_000) return unit("second", Math.max(1, Math.round(ms / 1000)));
  if (minutes < 60) return unit("minute", minutes);
  if (minutes >= 48 * 60) return unit("day", Math.round(minutes / 1440), "long");
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return UNITS.format([unit("hour", hours), ...(rest ? [unit("minute", rest)] : [])]);
}

/** "$1.20", "$0.034", "~$0.0009" for an estimate; smaller amounts are shown as such. */
export function money(usd, estimated = false) {
  if (!usd) return dollars(0, 0);
  if (estimated) return `~${money(usd)}`;
  if (usd < 0.0001) return `< ${dollars(0.0001, 4)}`;
  return dollars(usd, usd >= 0.1 ? 2 : Math.min(4, 1 - Math.floor(Math.log10(usd))));
}

/** "12,345". */
export function count(number) {
  return NUMBER.format(number);
}

/** "1.05" with so many digits. */
export function decimal(number, digits) {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(number);
}

/** "64%". */
export function percent(share) {
  return PERCENT.format(share);
}

/** Return a number with its unit, or a dash. */
export function decibels(value) {
  return typeof value === "number" ? `${value.toFixed(0).replace("-", "−")} dB` : "–";
}

function dollars(usd, digits) {
  return new Intl.NumberFormat(locale, {
    style: "currency", currency: "USD", currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits, maximumFractionDigits: digits,
  }).format(usd);
}

function unit(name, number, unitDisplay = "short") {
  return new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay }).format(number);
}

function capitalised(text) {
  return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
}

function isToday(iso) {
  return new Date(iso).toDateString() === new Date().toDateString();
}
