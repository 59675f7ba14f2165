// Cost texts: what a batch has cost so far or in total, and what counts against its limit.

import { costSoFar } from '../../batch/accounting/tally.ts';
import { aboutCostUsd, type Spent } from '../../library/handle/speedometer.ts';
import { money, usdOf } from '../../options/text/printed-numbers.ts';
import type { Summary } from '../../results/summary.ts';

/** Returns undefined while nothing has a cost. */
export function spentText(spent: Spent): string | undefined {
  if (costSoFar(spent.tally) === 0 && spent.maxCostNano === undefined) return undefined;
  const about = aboutCostUsd(spent);
  const total = about === undefined ? '' : `, about ${money(about)} in total`;
  // The runs of unknown rows may have cost more.
  const least = spent.tally.outcomes.unknown > 0 ? 'at least ' : '';
  return `${least}${money(costSoFar(spent.tally))} so far${total}, estimated${budgetText(spent)}`;
}

/** The limit of --max-cost, and what counts against it. */
function budgetText({ maxCostNano, budget }: Spent): string {
  if (maxCostNano === undefined || budget === undefined) return '';
  const [limit, spent, reserved] = [maxCostNano, budget.spentNano, budget.reservedNano].map((nano) =>
    money(usdOf(nano)),
  );
  return ` · limit ${limit}${budget.isEstimate ? ' (an estimate)' : ''}: ${spent} spent, ${reserved} reserved`;
}

/** Returns undefined if nothing had a price: an unknown cost is not $0.00. */
export function costText({ total_cost_usd: usd, unpriced }: Summary): string | undefined {
  if (usd === undefined) return undefined;
  if (!usd) return unpriced === 0 ? undefined : 'cost not known';
  return `${unpriced === 0 ? '' : 'at least '}${money(usd)} estimated`;
}
