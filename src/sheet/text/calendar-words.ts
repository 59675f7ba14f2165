// The names of weekdays and months in the languages of Europe and East Asia, which are neither speakers nor descriptions.

const LANGUAGES = 'en de fr es it pt nl pl cs hu sv da nb fi tr ru uk el ja zh ko'.split(' ');

const DAY_MS = 86_400_000;

/** Made when first needed: the formatters take time. */
let words: ReadonlySet<string> | undefined;

function calendarWords(): ReadonlySet<string> {
  const named = LANGUAGES.flatMap((language) => {
    const days = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
    const months = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
    return [
      ...Array.from({ length: 7 }, (_, day) => days.format(day * DAY_MS)),
      ...Array.from({ length: 12 }, (_, month) => months.format(month * 31 * DAY_MS)),
    ];
  });
  return new Set(named.map((word) => word.toLowerCase()));
}

/** Whether the text is the name of a weekday or of a month. */
export function isCalendarWord(text: string): boolean {
  words ??= calendarWords();
  return words.has(text.trim().toLowerCase());
}
