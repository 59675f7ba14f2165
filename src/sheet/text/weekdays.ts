// The names of weekdays in the languages of Europe and East Asia, which are neither speakers nor descriptions. Months may be both.

const LANGUAGES = 'en de fr es it pt nl pl cs hu sv da nb fi tr ru uk el ja zh ko'.split(' ');

const DAY_MS = 86_400_000;

/** Made when first needed: the formatters take time. */
let weekdays: ReadonlySet<string> | undefined;

export function isWeekday(text: string): boolean {
  weekdays ??= new Set(
    LANGUAGES.flatMap((language) => {
      const { format } = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
      return Array.from({ length: 7 }, (_, day) => format(day * DAY_MS).toLowerCase());
    }),
  );
  return weekdays.has(text.trim().toLowerCase());
}
