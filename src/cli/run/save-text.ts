// What run --watch prints about a save: one line, or why it is refused.

import { EXIT, isRunsheetError } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { Save } from '../../library/watched/saved-sheet.ts';
import { errorText, money, plural, type Paint } from '../format.ts';
import { problemJson } from '../json/problem.ts';

export function saveLine(at: Date, save: Save): string {
  const { changed, appended, deleted, waiting } = save;
  const parts = [
    changed > 0 ? `${plural(changed, 'row')} changed` : undefined,
    appended > 0 ? `${appended} new` : undefined,
    deleted > 0 ? `${deleted} deleted` : undefined,
  ].filter((part) => part !== undefined);
  const later = waiting > 0 ? `; ${plural(waiting, 'row')} after the run of now` : '';
  const unheld =
    save.unheld > 0 ? `; ${plural(save.unheld, 'row')} too many to hold back: may first run as before` : '';
  const ignored = save.others.length > 0 ? `; ignored: ${save.others.map(terminalLine).join(', ')}` : '';
  return `saved ${clock(at)}: ${parts.length === 0 ? 'no row changed' : parts.join(', ')} → ${plural(save.runs, 'run')}${costText(save)}${later}${unheld}${ignored}`;
}

/** 14:03:22, by the clock of the user. */
const clock = (at: Date): string => at.toTimeString().slice(0, 8);

function costText({ runs, estimate }: Save): string {
  const cost = estimate?.source === 'prices' ? undefined : estimate?.cost_usd;
  return runs === 0 || !cost ? '' : `, about ${money(cost.expected)}`;
}

export function refusalLines(at: Date, error: unknown, paint: Paint): string {
  const why = isHeader(error)
    ? 'the columns have changed; nothing is sent until they are as before'
    : isRefused(error)
      ? 'refused, nothing is sent of it; the next save counts'
      : 'not taken yet, it is tried again';
  return `saved ${clock(at)}: ${paint('yellow', why)}\n${errorText(error, paint).trimEnd()}`;
}

export const isRefused = (error: unknown): boolean =>
  isRunsheetError(error) && error.exit === EXIT.inputRefused;

const isHeader = (error: unknown): boolean => isRunsheetError(error, 'E532');

/** A line for programs. */
export const saveJson = (at: Date, { estimate, ...save }: Save): object => ({
  save: { at: at.toISOString(), ...save, cost_usd: estimate?.cost_usd?.expected ?? null },
});

export const refusalJson = (at: Date, error: unknown): object => ({
  save: { at: at.toISOString(), ...problemJson(error) },
});
