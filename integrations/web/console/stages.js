// The stages of a turn by its timeline: milliseconds on one clock, as docs/json.md tells them.

// Of a turn in their order, each with the moment that ends it.
const PHASES = [
  ["speech", "speech_end"],
  ["pause", "end_of_turn"],
  ["recognition", "heard"],
  ["house", "last_tool_result"],
  ["voice", "first_audio_out"],
  ["answer", "answer_done"],
];

// Stage, moments that may begin it (the last of them counts), moment that ends it.
const ROWS = [
  ["wake", [], "wake"],
  ["speech", ["speech_start"], "speech_end"],
  ["pause", ["speech_end"], "end_of_turn"],
  ["connection", [], "connected"],
  ["upload", ["first_upload"], "upload_done"],
  ["recognition", ["end_of_turn"], "heard"],
  ["house", ["first_tool_call"], "last_tool_result"],
  ["first_words", [], "first_reply_text"],
  ["voice", ["first_reply_text", "last_tool_result"], "first_audio_out"],
  ["answer", ["first_audio_out"], "answer_done"],
];

/** One after the other, without gaps: `{stage, ms}`. */
export function phases(timeline) {
  const moments = Object.values(timeline);
  if (moments.length < 2) return [];
  let cursor = timeline.speech_start ?? Math.min(...moments);
  const parts = [];
  for (const [stage, moment] of PHASES) {
    const end = timeline[moment] ?? cursor;
    if (end <= cursor) continue;
    parts.push({ stage, ms: end - cursor });
    cursor = end;
  }
  return parts;
}

/** Each with its begin and end since the first moment; `from` is null where it is a moment only. */
export function rows(timeline) {
  const moments = Object.values(timeline);
  if (!moments.length) return [];
  const first = Math.min(...moments);
  return ROWS.filter(([, , moment]) => moment in timeline).map(([stage, begins, moment]) => {
    const to = timeline[moment];
    const starts = begins.filter((name) => name in timeline).map((name) => timeline[name]);
    const from = starts.length ? Math.min(Math.max(...starts), to) - first : null;
    return { stage, from, to: to - first };
  });
}

/** How long all of it took. */
export function whole(timeline) {
  const moments = Object.values(timeline);
  return moments.length ? Math.max(...moments) - Math.min(...moments) : 0;
}

/** The longest stage between the last word and the first sound: what a person waited for. */
export function longest(timeline) {
  const waited = phases(timeline).filter(({ stage }) => stage !== "speech" && stage !== "answer");
  return waited.length ? waited.reduce((most, one) => (one.ms > most.ms ? one : most)) : null;
}

/** From the last voiced sample (typed: from the end of typing) to the answer's first sample. */
export function firstSound(timeline) {
  const since = timeline.speech_end ?? timeline.end_of_turn;
  return since === undefined || timeline.first_audio_out === undefined ? null : timeline.first_audio_out - since;
}
