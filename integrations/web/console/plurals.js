// Numbers with their nouns, by the plural rules of a language.

/** `plural(2, {one: "day", other: "days"})` is "2 days". A language may need more forms than these
 * two; they are named as Intl.PluralRules names them. */
export function plurals(language) {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (number, nouns) => `${numbers.format(number)} ${nouns[rules.select(number)] ?? nouns.other}`;
}
