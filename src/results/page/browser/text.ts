// Numbers, times and words as people read them.

const counting = new Intl.NumberFormat('en');

export const count = (value: number): string => counting.format(value);

/** No more digits than are known. */
export const rough = (value: number): string =>
  count(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);

export const plural = (times: number, word: string): string =>
  `${count(times)} ${word}${times === 1 ? '' : 's'}`;

export function money(usd: number): string {
  if (usd < 0.000_05) return usd === 0 ? '$0' : '<$0.0001';
  if (usd >= 1_000) return `$${count(Math.round(usd))}`;
  return `$${usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** GPUs of one's own have no price. */
export const ifPaid = (usd: number): string => (usd > 0 ? money(usd) : '');

export function span(seconds: number): string {
  if (seconds > 0 && seconds < 0.1) return `${Math.ceil(seconds * 1_000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export const dateOf = (time: string | number | Date): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Decodes a part of an address; a viewer may type one that is badly encoded. */
export const decoded = (text: string): string =>
  new URLSearchParams(`=${text.replaceAll(/[+&]/g, encodeURIComponent)}`).get('') ?? '';

/** A cell of CSV. */
export const csvCell = (text: string): string =>
  /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

export type RowFacts = { outcome: string; gpu: string; seconds: number; cost: number; attempts: number };

/** The outcome, GPU, time and cost of a row in a line. */
export const factsText = ({ outcome, gpu, seconds, cost, attempts }: RowFacts): string =>
  joined([
    outcome === 'succeeded' ? '' : outcome,
    gpu,
    seconds > 0 ? span(seconds) : '',
    ifPaid(cost),
    attempts > 1 ? `${attempts} attempts` : '',
  ]);

/** Facts beside each other, without those that are not known. */
export const joined = (facts: readonly (string | undefined)[], between = ' · '): string =>
  facts.filter(Boolean).join(between);
