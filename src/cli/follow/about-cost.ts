// What a running batch has cost, and about what it will have cost in the end, as text.

import { costSoFar } from '../../batch/accounting/tally.ts';
import { aboutCostUsd, type Spent } from '../../library/handle/progress-speed.ts';
import { money } from '../format.ts';

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
