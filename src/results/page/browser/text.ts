// Texts of the page: rough numbers, dates, and the facts of a row in a line.

import { count, money, span } from '../../../options/text/printed-numbers.ts';

/** No more digits than are known. */
export const rough = (value: number): string =>
  count(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);

/** GPUs of one's own have no price. */
export const ifPaid = (usd: number): string => (usd > 0 ? money(usd) : '');

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
