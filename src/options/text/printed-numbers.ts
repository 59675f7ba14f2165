// Numbers, money, bytes and durations as people read them: in the terminal, on both pages, and in texts that the core writes.

export const count = (number: number): string => number.toLocaleString('en-US');

export const plural = (number: number, word: string, several = `${word}s`): string =>
  `${count(number)} ${number === 1 ? word : several}`;

const dollars = (usd: number, least: number, most: number): string =>
  `$${usd.toLocaleString('en-US', { minimumFractionDigits: least, maximumFractionDigits: most })}`;

/** `$0.00`, `$0.0034`, `$1,234.50`. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.000_05) return '<$0.0001';
  const decimals = usd > 0 && usd < 0.1 ? 4 : 2;
  return dollars(usd, decimals, decimals);
}

export const usdOf = (nano: number): number => nano / 1e9;

/** In whole nano-dollars, whose sums are exact. */
export const nanoOf = (usd: number): number => Math.round(usd * 1e9);

/** A limit, or what is compared with one, in nano-dollars; no cent is hidden: `$20.00`, `$0.1234`. */
export const exactMoney = (nano: number): string => dollars(usdOf(nano), 2, 4);

/** `940 bytes`, `12 kB`, `3.4 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, 'byte');
  const [unit, size] = bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9];
  const number = bytes / size;
  return `${number < 10 ? number.toFixed(1) : Math.round(number)} ${unit}`;
}

/** `40 ms`, `4.2 s`, `3 min 05 s`, `2 h 10 min`, `24 h`. */
export function span(seconds: number): string {
  if (seconds > 0 && seconds < 0.1) return `${Math.ceil(seconds * 1_000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${part(seconds % 60, 's')}`;
  return `${count(Math.floor(minutes / 60))} h${part(minutes % 60, 'min')}`;
}

const part = (number: number, unit: string): string =>
  number < 1 ? '' : ` ${String(Math.floor(number)).padStart(2, '0')} ${unit}`;

/** Amounts as files and JSON store them. */
export const rounded = (number: number): number => Number(number.toFixed(6));
