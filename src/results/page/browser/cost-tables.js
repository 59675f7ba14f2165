// What the batch cost: by GPU, and by why a run was needed.

import { at, make, section, tableOf } from './dom.js';
import { count, money, span } from './text.js';

/** @import { Table } from './table.js' */

/** @typedef {{ runs: number, seconds: number, cost: number, failed: number }} Use */
/** @typedef {Map<string, Use>} Uses */

/** @param {Table} table */
export function drawCosts(table) {
  const { gpus, kinds } = usesOf(table);
  const { summary } = table.facts;
  const twice = summary === undefined ? 0 : summary.total_cost_usd - summary.cost_usd;
  at('costs').replaceChildren(
    make(
      'div.tables.columns',
      section('By GPU', usesTable('GPU', gpus)),
      section('By reason', usesTable('Why it ran', kinds)),
    ),
    make(
      'p.note',
      'Estimated: cold start and run seconds at the price of the GPU.',
      twice > 0 && ` Duplicate runs cost ${money(twice)} more.`,
    ),
  );
}

/** @param {Table} table */
function usesOf({ attempts, facts, gpus: names }) {
  /** @type {Uses} */
  const gpus = new Map();
  /** @type {Uses} */
  const kinds = new Map();
  let before = { row: -1, kind: 0 };
  for (const { row, kind, run, cold, gpu, cost, outcome } of attempts) {
    const why = row === before.row ? reasonOf(before.kind, facts.failureKinds) : 'First attempt';
    before = { row, kind };
    const seconds = Math.max(0, run) + Math.max(0, cold);
    // An attempt that never reached a machine used nothing.
    if (gpu === 0 && seconds === 0) continue;
    add(gpus, names[gpu] || 'not named', seconds, cost, outcome);
    add(kinds, why, seconds, cost, outcome);
  }
  return { gpus, kinds };
}

/** Why a row was sent again, from how its last attempt failed.
 * @type {(kind: number, names: readonly string[]) => string}
 */
function reasonOf(kind, names) {
  if (kind >= 128) return 'Climbed to a larger GPU';
  const name = names[kind - 1] ?? 'unknown';
  return name === 'unknown' ? 'Sent again' : `Sent again after ${name.replaceAll('-', ' ')}`;
}

/** @type {(uses: Uses, name: string, seconds: number, cost: number, outcome: number) => void} */
function add(uses, name, seconds, cost, outcome) {
  const sum = uses.get(name) ?? { runs: 0, seconds: 0, cost: 0, failed: 0 };
  sum.runs += 1;
  sum.seconds += seconds;
  sum.cost += cost;
  sum.failed += Number(outcome !== 0);
  uses.set(name, sum);
}

/** @type {(title: string, uses: Uses) => HTMLElement} */
function usesTable(title, uses) {
  const all = [...uses].sort(([, a], [, b]) => b.cost - a.cost);
  const most = Math.max(1e-12, ...all.map(([, { cost }]) => cost));
  const lines = all.map(([name, { runs, seconds, cost, failed }]) => [
    name,
    make('td', count(runs)),
    failed > 0 ? make('td.failed.tone', count(failed)) : make('td', '–'),
    make('td', span(seconds)),
    make('td', span(seconds / runs)),
    make('td.cost', money(cost), make('i.share', { style: { width: `${(cost / most) * 100}%` } })),
  ]);
  return make('div.scroll', tableOf([title, 'Runs', 'Failed', 'GPU time', 'Each', 'Cost'], lines));
}
