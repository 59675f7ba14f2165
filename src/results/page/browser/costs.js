// What the batch cost, by GPU.

import { html, Lines, useMemo } from './parts.js';
import { count, money, span } from './text.js';

/** @import { Table } from './table.js' */

const HEADS = ['Runs', 'Not succeeded', 'GPU time', 'GPU time a run'];

/** @param {{ table: Table }} props */
export function Costs({ table }) {
  const uses = useMemo(() => usesOf(table), [table.version]);
  const { summary } = table.facts;
  const twice = summary === undefined ? 0 : summary.total_cost_usd - summary.cost_usd;
  const isPaid = uses.some(([, { cost }]) => cost > 0);
  const lines = uses.map(([gpu, { runs, seconds, cost, failed }]) => [
    table.gpus[gpu] || 'not named',
    ...(isPaid ? [{ text: html`<b>${money(cost)}</b>` }] : []),
    { text: count(runs) },
    failed > 0 ? { text: count(failed), outcome: 'failed' } : { text: '–' },
    { text: span(seconds) },
    { text: span(seconds / runs) },
  ]);
  return html`<div class="columns">
      <div class="scroll" tabindex="0" role="region" aria-label="Cost by GPU"><${Lines} heads=${['GPU', ...(isPaid ? ['Cost'] : []), ...HEADS]} lines=${lines} /></div>
    </div>
    <p class="note">
      ${isPaid ? 'Estimated: cold start and run seconds at the price of the GPU.' : 'No run had a price.'}${twice > 0 && ` Duplicate runs cost ${money(twice)} more.`}
    </p>`;
}

/** By the number of the GPU, the dearest first. @param {Table} table */
function usesOf(table) {
  /** @type {Map<number, { runs: number, seconds: number, cost: number, failed: number }>} */
  const uses = new Map();
  for (const { run, cold, gpu, cost, outcome } of table.attempts) {
    const seconds = Math.max(0, run) + Math.max(0, cold);
    // An attempt that never reached a machine used nothing.
    if (gpu === 0 && seconds === 0) continue;
    const sum = uses.get(gpu) ?? { runs: 0, seconds: 0, cost: 0, failed: 0 };
    const failed = sum.failed + Number(outcome !== 0);
    uses.set(gpu, { runs: sum.runs + 1, seconds: sum.seconds + seconds, cost: sum.cost + cost, failed });
  }
  return [...uses].sort(([, a], [, b]) => b.cost - a.cost);
}
