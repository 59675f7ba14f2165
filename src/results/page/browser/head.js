// The head of the page: how the batch ended in one sentence, what failed and why, and pictures that look wrong.

import { drawFacts } from './controls.js';
import { at, button, copyButton, make } from './dom.js';
import { count, dateOf, joined, money, plural, rowRanges, shellWord, span } from './text.js';
import { OPEN } from './table.js';

/** @import { Table } from './table.js' */
/** @import { Wish } from './arrange.js' */

/** @typedef {{ table: Table, filter: (change: Partial<Wish>) => void, open: (row: number) => void }} HeadParams */
/** @typedef {{ state: string, reason?: string, note?: string }} Running */

/** `running`: while the batch runs. @type {(params: HeadParams, running?: Running) => void} */
export function drawHead(params, running) {
  const { table } = params;
  const { facts } = table;
  const counts = outcomeCounts(table);
  at('title').textContent = facts.batch;
  const started = dateOf(facts.summary?.started_at ?? facts.startedAt);
  const rehearsal = facts.rehearsal ? 'rehearsal on the local run service' : '';
  at('source').textContent = joined([facts.sheet.name, facts.deployment, started, rehearsal], '  ·  ');
  at('state').hidden = running === undefined;
  at('state').textContent = joined([running?.state, running?.reason], ': ');
  const [good = 0, open = 0] = [counts.get('succeeded'), counts.get('open')];
  const all = `of ${count(table.rows)}`;
  if (running !== undefined) at('sentence').textContent = `${count(table.rows - open)} ${all} rows done`;
  else
    at('sentence').textContent =
      `${good === table.rows ? `All ${count(good)}` : `${count(good)} ${all}`} rows succeeded`;
  drawBar(counts, params.filter);
  drawFacts(factsOf(table, running));
  drawFailures(params);
  drawNotices(params);
}

/** @param {Table} table */
export function outcomeCounts(table) {
  const counts = new Map([...table.facts.outcomes, 'open'].map((name) => [name, 0]));
  for (let row = 0; row < table.rows; row += 1) {
    const name = table.outcomeName(row);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** @type {(counts: Map<string, number>, filter: HeadParams['filter']) => void} */
function drawBar(counts, filter) {
  const known = [...counts].filter(([, rows]) => rows > 0);
  const bar = at('bar');
  bar.replaceChildren(
    ...known.map(([name, rows]) =>
      make(`i.${name}`, { title: `${count(rows)} ${name}`, style: { 'flex-grow': `${rows}` } }),
    ),
  );
  bar.setAttribute('aria-label', known.map(([name, rows]) => `${rows} ${name}`).join(', '));
  at('legend').replaceChildren(
    ...known.map(([name, rows]) =>
      button(
        'legend.wrap.note',
        () => filter({ outcome: name }),
        make(`i.${name}`),
        make('b', count(rows)),
        name === 'open' ? 'not done yet' : name,
      ),
    ),
  );
}

/** @type {(table: Table, running: Running | undefined) => [name: string, value: string, note?: string][]} */
function factsOf({ facts: { summary, startedAt }, of }, running) {
  const cost = of.cost.reduce((sum, one) => sum + one, 0);
  const seconds = summary?.seconds ?? Math.max(0, (Date.now() - startedAt) / 1_000);
  const done = of.outcome.reduce((sum, one) => sum + Number(one !== OPEN), 0);
  /** @type {[name: string, value: string, note?: string][]} */
  const facts = [
    [running === undefined ? 'Wall time' : 'So far', span(seconds)],
    [
      'Cost, estimated',
      costText(summary?.total_cost_usd ?? cost, summary?.unpriced ?? 0),
      done > 0 ? `${money(cost / done)} a row` : '',
    ],
    ['Speed', count(Math.round((done / Math.max(1, seconds)) * 600) / 10), 'rows/min'],
  ];
  if (summary === undefined) return running?.note ? [...facts, ['About', running.note]] : facts;
  const { runs, reused, lists, bought_twice, undelivered, restarts } = summary;
  facts.push(
    ['Runs', count(runs), reused > 0 ? `${plural(reused, 'row')} reused` : ''],
    [lists === 'complete' ? 'Bought twice' : 'Known bought twice', count(bought_twice)],
  );
  if (undelivered?.rows)
    facts.push(['Paid, not kept', plural(undelivered.rows, 'row'), money(undelivered.cost_usd)]);
  if (restarts) facts.push(['Survived', plural(restarts, 'restart')]);
  return facts;
}

/** What is not known is not $0.00. @type {(usd: number, unpriced: number) => string} */
function costText(usd, unpriced) {
  if (unpriced === 0) return money(usd);
  return usd === 0 ? 'not known' : `at least ${money(usd)}`;
}

const GROUPS_SHOWN = 8;
const ROWS_NAMED = 6;

/** @param {HeadParams} params */
function drawFailures(params) {
  const { table, filter } = params;
  const groups = failureGroups(table);
  const all = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const rest = groups.length - GROUPS_SHOWN;
  at('failures').hidden = all === 0;
  at('failures').replaceChildren(
    make(
      'header.between',
      make('h2', `${plural(all, 'row')} did not succeed`),
      button('button', () => filter({ outcome: 'others' }), 'Show them'),
    ),
    make(
      'ul.lined',
      groups.slice(0, GROUPS_SHOWN).map((group) => groupItem(params, group)),
    ),
    rest > 0 ? make('p.note', `and ${plural(rest, 'other reason')}`) : '',
  );
}

/** @typedef {{ reason: string, outcome: string, rows: number[], gpus: Set<string> }} Group */

/** @type {(params: HeadParams, group: Group) => HTMLElement} */
function groupItem({ table, filter, open }, { reason, outcome, rows, gpus }) {
  const named = rows.slice(0, ROWS_NAMED);
  const more = rows.length - named.length;
  // Rows that were refused would be refused again, and those without a known end may have been paid for.
  const canRetry = outcome === 'failed' || outcome === 'timed-out';
  const numbers = rowRanges(rows.slice(0, 500).map((row) => row + 1));
  const again = `runsheet retry ${shellWord(table.facts.batch)} --row ${numbers}`;
  // The part without numbers finds the whole group.
  const [beginning = ''] = reason.split(/\d|…/);
  const find = () => filter({ text: beginning.trim().slice(0, 60), outcome: '' });
  return make(
    'li',
    make(`b.tone.${outcome}`, count(rows.length)),
    make(
      'div',
      make('p.reason.clamp', reason),
      make('p.facts', [outcome, ...gpus].join(' · ')),
      make(
        'p.row-links.wrap',
        named.map((row) => button('row-link.link.clip', () => open(row), table.title(row))),
        more > 0 && button('row-link.link', find, `${count(more)} more`),
      ),
    ),
    canRetry && copyButton('Copy retry', again),
  );
}

/** @param {Table} table */
function failureGroups(table) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (let row = 0; row < table.rows; row += 1) {
    const outcome = table.outcomeName(row);
    if (outcome === 'succeeded' || outcome === 'open') continue;
    const reason = table.reason[row] || outcome;
    const name = `${outcome} ${reason.replaceAll(/[0-9a-f]{8,}|\d+/gi, '#')}`;
    const group = groups.get(name) ?? { reason, outcome, rows: [], gpus: new Set() };
    group.rows.push(row);
    if (table.gpuName(row) !== '') group.gpus.add(table.gpuName(row));
    groups.set(name, group);
  }
  return [...groups.values()].sort((a, b) => b.rows.length - a.rows.length);
}

/** Identical pictures of rows with different inputs. @param {HeadParams} params */
function drawNotices({ table, filter }) {
  /** @type {Map<number, number>} */
  const groups = new Map();
  for (const group of table.of.same) if (group > 0) groups.set(group, (groups.get(group) ?? 0) + 1);
  const largest = [...groups].sort((a, b) => b[1] - a[1]);
  const seed = table.facts.columns.find((name) => /seed/i.test(name));
  const hint = seed === undefined ? '' : `; is ${seed} wired?`;
  const rest = largest.length - 3;
  at('notices').hidden = largest.length === 0;
  at('notices').replaceChildren(
    ...largest.slice(0, 3).map(([same, rows]) =>
      make(
        'p.between',
        `${count(rows)} rows with different inputs gave the same picture${hint}`,
        button('button', () => filter({ same }), 'Show them'),
      ),
    ),
    rest > 0 ? make('p.note', `and ${plural(rest, 'other group')} of identical pictures`) : '',
  );
}
