// What the batch cost: by GPU, and by why a run was needed.

import { at, make } from './dom.js';
import { count, money, span } from './text.js';

/** @import { Table } from './table.js' */

/** @typedef {{ runs: number, seconds: number, cost: number, failed: number }} Use */

/** @param {Table} table */
export function drawCosts(table) {
  const { gpus, kinds } = usesOf(table);
  const { summary } = table.facts;
  const twice = summary === undefined ? 0 : summary.total_cost_usd - summary.cost_usd;
  at('costs').replaceChildren(
    make(
      'div',
      'tables',
      make('section', '', make('h3', '', 'By GPU'), tableOf('GPU', gpus)),
      make('section', '', make('h3', '', 'By reason'), tableOf('Why it ran', kinds)),
    ),
    make(
      'p',
      'note',
      `Estimated: cold start and run seconds at the price of the GPU.${twice > 0 ? ` Duplicate runs cost ${money(twice)} more.` : ''}`,
    ),
  );
}

/** @param {Table} table */
function usesOf({ attempts, facts, gpus: names }) {
  /** @type {Map<string, Use>} */
  const gpus = new Map();
  /** @type {Map<string, Use>} */
  const kinds = new Map();
  const field = (/** @type {Parameters<typeof attempts.field>[0]} */ name) => attempts.field(name);
  let [before, kind] = [-1, 0];
  for (let one = 0; one < attempts.length; one += 1) {
    const row = attempts.row[one] ?? -1;
    if (row === -1) continue;
    const why = row === before ? reasonOf(kind, facts.failureKinds) : 'First attempt';
    [before, kind] = [row, field('kind')[one] ?? 0];
    const seconds = Math.max(0, field('run')[one] ?? 0) + Math.max(0, field('cold')[one] ?? 0);
    const gpu = field('gpu')[one] ?? 0;
    // An attempt that never reached a machine used nothing.
    if (gpu === 0 && seconds === 0) continue;
    const use = {
      runs: 1,
      seconds,
      cost: field('cost')[one] ?? 0,
      failed: Number(field('outcome')[one] !== 0),
    };
    add(gpus, names[gpu] || 'not named', use);
    add(kinds, why, use);
  }
  return { gpus, kinds };
}

/** Why a row was sent again, from how its last attempt failed.
 * @param {number} kind
 * @param {string[]} names
 */
function reasonOf(kind, names) {
  if (kind >= 128) return 'Climbed to a larger GPU';
  const name = names[kind - 1];
  return name === undefined || name === 'unknown'
    ? 'Sent again'
    : `Sent again after ${name.replaceAll('-', ' ')}`;
}

/**
 * @param {Map<string, Use>} uses
 * @param {string} name
 * @param {Use} use
 */
function add(uses, name, { runs, seconds, cost, failed }) {
  const sum = uses.get(name) ?? { runs: 0, seconds: 0, cost: 0, failed: 0 };
  uses.set(name, {
    runs: sum.runs + runs,
    seconds: sum.seconds + seconds,
    cost: sum.cost + cost,
    failed: sum.failed + failed,
  });
}

/**
 * @param {string} title
 * @param {Map<string, Use>} uses
 */
function tableOf(title, uses) {
  const body = make('tbody');
  const all = [...uses].sort(([, a], [, b]) => b.cost - a.cost);
  const most = Math.max(1e-12, ...all.map(([, { cost }]) => cost));
  for (const [name, { runs, seconds, cost, failed }] of all) {
    const share = make('i', 'share');
    share.style.width = `${(cost / most) * 100}%`;
    body.append(
      make(
        'tr',
        '',
        make('th', { scope: 'row' }, name),
        make('td', '', count(runs)),
        make('td', failed > 0 ? 'failed' : 'none', failed > 0 ? count(failed) : '–'),
        make('td', '', span(seconds)),
        make('td', '', span(seconds / runs)),
        make('td', 'cost', money(cost), share),
      ),
    );
  }
  const names = [title, 'Runs', 'Failed', 'GPU time', 'Each', 'Cost'];
  const head = make('tr', '', ...names.map((name) => make('th', { scope: 'col' }, name)));
  return make('div', 'scroll', make('table', '', make('thead', '', head), body));
}
