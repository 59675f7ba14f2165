// What a running batch has cost, and about what it will have cost in the end.

import { costSoFar } from '../../batch/accounting/tally.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { money } from '../format.ts';

/** How many rows have to end first: the first ones are not typical, because the service starts containers for them. */
const ENOUGH = { share: 0.05, atLeast: 10, atMost: 1_000 };

type Spent = Pick<Progress, 'rows' | 'reused' | 'done' | 'state' | 'tally' | 'budget' | 'maxCostNano'>;

/**
 * The cost of all rows if the others cost as much as those that have ended. It has no interval, because the progress does not
 * contain single runs. undefined if too few rows have ended, or if no more will be sent.
 */
export function aboutCostUsd({ state, tally, reused = 0, ...all }: Spent): number | undefined {
  // Reused rows cost nothing and show nothing about the others.
  const [rows, done] = [all.rows - reused, all.done - reused];
  const enough = Math.min(Math.max(rows * ENOUGH.share, ENOUGH.atLeast), ENOUGH.atMost);
  const isSending = state === 'running' || state === 'paused';
  if (!isSending || done < enough || done >= rows) return undefined;
  return (costSoFar(tally) / done) * rows;
}

export function spentText(spent: Spent): string {
  const about = aboutCostUsd(spent);
  const total = about === undefined ? '' : `, about ${money(about)} in total`;
  // Nothing says what the runs of unknown rows cost.
  const least = spent.tally.outcomes.unknown > 0 ? 'at least ' : '';
  return `${least}${money(costSoFar(spent.tally))} so far${total}, estimated${budgetText(spent)}`;
}

/** With --max-cost: the limit, and what counts against it. */
function budgetText({ maxCostNano, budget }: Spent): string {
  if (maxCostNano === undefined || budget === undefined) return '';
  const [limit, spent, reserved] = [maxCostNano, budget.spentNano, budget.reservedNano].map((nano) =>
    money(nano / 1e9),
  );
  return ` · limit ${limit}${budget.isEstimate ? ' (an estimate)' : ''}: ${spent} spent, ${reserved} reserved`;
}
