// What the batch cost: by GPU, and by why a run was needed.

import { html, Lines, Section, useMemo } from './parts.js';
import { outcomeOf } from './course.js';
import { count, money, span } from './text.js';

/** @import { Table } from './all-rows.js' */
/** @typedef {Map<string, { runs: number, seconds: number, cost: number, failed: number }>} Uses */

const HEADS = ['Runs', 'Not succeeded', 'GPU time', 'GPU time a run'];

/** @param {{ table: Table }} props */
export function Costs({ table }) {
  const { gpus, kinds } = useMemo(() => usesOf(table), [table.version]);
  const { summary } = table.facts;
  const { total_cost_usd = 0, cost_usd = 0 } = summary ?? {};
  const twice = total_cost_usd - cost_usd;
  const isPaid = [...gpus.values()].some(({ cost }) => cost > 0);
  return html`<div class="columns">
      <${UsesTable} title="By GPU" what="GPU" ...${{ uses: gpus, isPaid }} /><${UsesTable} title="By reason" what="Why it ran" ...${{ uses: kinds, isPaid }} />
    </div>
    <p class="note">
      ${isPaid ? 'Estimated: cold start and run seconds at the price of the GPU.' : 'No run had a price.'}${twice > 0 && ` Duplicate runs cost ${money(twice)} more.`}
    </p>`;
}

/** @param {Table} table */
function usesOf(table) {
  /** @type {Uses} */
  const gpus = new Map();
  /** @type {Uses} */
  const kinds = new Map();
  let before = '';
  for (const attempt of table.attempts) {
    const { nth, run, cold, gpu, cost, outcome } = attempt;
    const why = nth === 1 ? 'First attempt' : before;
    before = reasonOf(table, attempt);
    const seconds = Math.max(0, run) + Math.max(0, cold);
    // An attempt that never reached a machine used nothing.
    if (gpu === 0 && seconds === 0) continue;
    for (const [uses, name] of /** @type {[Uses, string][]} */ ([
      [gpus, table.gpus[gpu] || 'not named'],
      [kinds, why],
    ])) {
      const sum = uses.get(name) ?? { runs: 0, seconds: 0, cost: 0, failed: 0 };
      const failed = sum.failed + Number(outcome !== 0);
      uses.set(name, { runs: sum.runs + 1, seconds: sum.seconds + seconds, cost: sum.cost + cost, failed });
    }
  }
  return { gpus, kinds };
}

/** Why a row was sent again, from how its last attempt ended. @type {(table: Table, attempt: import('./all-rows.js').Attempt) => string} */
function reasonOf(table, attempt) {
  const { kind } = attempt;
  if (kind >= 128) return 'Climbed to a larger GPU';
  const name = table.facts.failureKinds[kind - 1] ?? 'unknown';
  if (name !== 'unknown') return `Sent again after ${name.replaceAll('-', ' ')}`;
  const outcome = outcomeOf(table, attempt);
  return `Sent again after ${{ 'timed-out': 'a time-out', succeeded: 'success' }[outcome] ?? `another end (${outcome})`}`;
}

/** @param {{ title: string, what: string, uses: Uses, isPaid: boolean }} props */
function UsesTable({ title, what, uses, isPaid }) {
  const all = [...uses].sort(([, a], [, b]) => b.cost - a.cost);
  const lines = all.map(([name, { runs, seconds, cost, failed }]) => [
    name,
    { text: count(runs) },
    failed > 0 ? { text: count(failed), outcome: 'failed' } : { text: '–' },
    { text: span(seconds) },
    { text: span(seconds / runs) },
    ...(isPaid ? [{ text: html`<b>${money(cost)}</b>` }] : []),
  ]);
  return html`<${Section} head="h2" title=${title}>
    <div class="scroll" tabindex="0" role="region" aria-label="Cost ${title}"><${Lines} heads=${[what, ...HEADS, ...(isPaid ? ['Cost'] : [])]} lines=${lines} /></div>
  <//>`;
}
