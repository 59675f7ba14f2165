// The head of the page: how the batch ended in one sentence, what failed and why, and pictures that look wrong.

import { at, button, copyButton, make } from './dom.js';
import { count, dateOf, money, plural, rowRanges, shellWord, span } from './text.js';
import { OPEN } from './table.js';

/** @import { Table } from './table.js' */
/** @import { Wish } from './arrange.js' */

/** @typedef {{ table: Table, filter: (change: Partial<Wish>) => void, open: (row: number) => void }} HeadParams */

/** @typedef {{ state: string, reason?: string, note?: string }} Running */

/**
 * @param {HeadParams} params
 * @param {Running} [running] while the batch runs
 */
export function drawHead(params, running) {
  const { table } = params;
  const { facts } = table;
  const counts = outcomeCounts(table);
  at('title').textContent = facts.batch;
  at('source').textContent = [
    facts.sheet.name,
    facts.deployment,
    dateOf(facts.summary?.started_at ?? facts.startedAt),
    facts.rehearsal ? 'rehearsal on the local run service' : '',
  ]
    .filter(Boolean)
    .join('  ·  ');
  const state = at('state');
  state.hidden = running === undefined;
  state.textContent = running === undefined ? '' : [running.state, running.reason].filter(Boolean).join(': ');
  drawSentence(table, counts, running);
  drawBar(counts, params.filter);
  drawFacts(table, running);
  drawFailures(params);
  drawNotices(params);
}

/** @param {Table} table */
export function outcomeCounts(table) {
  const counts = new Map(table.facts.outcomes.map(({ name }) => [name, 0]));
  counts.set('open', 0);
  for (let row = 0; row < table.rows; row += 1) {
    const name = table.outcomeName(row);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/**
 * @param {Table} table
 * @param {Map<string, number>} counts
 * @param {Running | undefined} running
 */
function drawSentence(table, counts, running) {
  const good = counts.get('succeeded') ?? 0;
  const open = counts.get('open') ?? 0;
  const text =
    running === undefined
      ? `${good === table.rows ? `All ${count(good)}` : `${count(good)} of ${count(table.rows)}`} rows succeeded`
      : `${count(table.rows - open)} of ${count(table.rows)} rows done`;
  at('sentence').textContent = text;
}

/**
 * @param {Map<string, number>} counts
 * @param {HeadParams['filter']} filter
 */
function drawBar(counts, filter) {
  const bar = at('bar');
  const legend = at('legend');
  bar.replaceChildren();
  legend.replaceChildren();
  for (const [name, rows] of counts) {
    if (rows === 0) continue;
    const part = make('i', { className: name, title: `${count(rows)} ${name}` });
    part.style.flexGrow = String(rows);
    bar.append(part);
    const item = button('', () => filter({ outcome: name }), 'legend');
    item.append(make('i', name), make('b', '', count(rows)), name === 'open' ? 'not done yet' : name);
    legend.append(item);
  }
  bar.setAttribute(
    'aria-label',
    [...counts].flatMap(([name, rows]) => (rows > 0 ? [`${rows} ${name}`] : [])).join(', '),
  );
}

/**
 * @param {Table} table
 * @param {Running | undefined} running
 */
function drawFacts(table, running) {
  const { summary, startedAt } = table.facts;
  const box = at('facts');
  box.replaceChildren();
  const add = (/** @type {string} */ label, /** @type {string} */ value, note = '') =>
    box.append(
      make(
        'div',
        '',
        make('dt', '', label),
        make('dd', '', value, note === '' ? undefined : make('small', '', note)),
      ),
    );
  const cost = table.cost.reduce((sum, one) => sum + one, 0);
  const seconds = summary?.seconds ?? Math.max(0, (Date.now() - startedAt) / 1_000);
  const done = table.outcome.reduce((sum, one) => sum + Number(one !== OPEN), 0);
  add(running === undefined ? 'Wall time' : 'So far', span(seconds));
  add(
    'Cost, estimated',
    costText(summary?.total_cost_usd ?? cost, summary?.unpriced ?? 0),
    done > 0 ? `${money(cost / done)} a row` : '',
  );
  add('Speed', count(Math.round((done / Math.max(1, seconds)) * 600) / 10), 'rows/min');
  if (summary === undefined) {
    if (running?.note) add('About', running.note);
    return;
  }
  add('Runs', count(summary.runs), summary.reused > 0 ? `${plural(summary.reused, 'row')} reused` : '');
  add(summary.lists === 'complete' ? 'Bought twice' : 'Known bought twice', count(summary.bought_twice));
  if (summary.undelivered?.rows)
    add('Paid, not kept', plural(summary.undelivered.rows, 'row'), money(summary.undelivered.cost_usd));
  if (summary.restarts) add('Survived', plural(summary.restarts, 'restart'));
}

/**
 * What is not known is not $0.00.
 * @param {number} usd
 * @param {number} unpriced
 */
function costText(usd, unpriced) {
  if (unpriced === 0) return money(usd);
  return usd === 0 ? 'not known' : `at least ${money(usd)}`;
}

const GROUPS_SHOWN = 8;
const ROWS_NAMED = 6;

/** @param {HeadParams} params */
function drawFailures({ table, filter, open }) {
  const groups = failureGroups(table);
  const box = at('failures');
  box.hidden = groups.length === 0;
  if (groups.length === 0) return box.replaceChildren();
  const all = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const list = make('ul', 'groups');
  for (const { reason, outcome, rows, gpus } of groups.slice(0, GROUPS_SHOWN)) {
    const named = rows
      .slice(0, ROWS_NAMED)
      .map((row) => button(table.title(row), () => open(row), 'row-link'));
    const more = rows.length - named.length;
    const again = `runsheet retry ${shellWord(table.facts.batch)} --row ${rowRanges(rows.slice(0, 500).map((row) => row + 1))}`;
    list.append(
      make(
        'li',
        '',
        make('b', outcome, count(rows.length)),
        make(
          'div',
          '',
          make('p', 'reason', reason),
          make('p', 'facts', [outcome, ...gpus].join(' · ')),
          make(
            'p',
            'row-links',
            ...named,
            more > 0
              ? button(
                  `${count(more)} more`,
                  () => filter({ text: beginning(reason), outcome: '' }),
                  'row-link',
                )
              : undefined,
          ),
        ),
        canRetry(outcome) ? copyButton('Copy retry', again) : undefined,
      ),
    );
  }
  const rest = groups.length - GROUPS_SHOWN;
  box.replaceChildren(
    make(
      'header',
      '',
      make('h2', '', `${plural(all, 'row')} did not succeed`),
      button('Show them', () => filter({ outcome: 'others' })),
    ),
    list,
    ...(rest > 0 ? [make('p', 'note', `and ${plural(rest, 'other reason')}`)] : []),
  );
}

/** Rows that were refused would be refused again, and those without a known end may have been paid for.
 * @param {string} outcome
 */
const canRetry = (outcome) => outcome === 'failed' || outcome === 'timed-out';

/** @param {string} reason the part without numbers finds the whole group */
const beginning = (reason) => /** @type {string} */ (reason.split(/\d|…/)[0]).trim().slice(0, 60);

/** @param {Table} table */
function failureGroups(table) {
  const good = table.outcomeNumber('succeeded');
  /** @type {Map<string, { reason: string, outcome: string, rows: number[], gpus: Set<string> }>} */
  const groups = new Map();
  for (let row = 0; row < table.rows; row += 1) {
    if (table.outcome[row] === good || table.outcome[row] === OPEN) continue;
    const outcome = table.outcomeName(row);
    const reason = table.reason[row] || outcome;
    const name = `${outcome} ${reason.replaceAll(/[0-9a-f]{8,}|\d+/gi, '#')}`;
    const group = groups.get(name) ?? { reason, outcome, rows: [], gpus: new Set() };
    group.rows.push(row);
    if (table.gpuName(row) !== '') group.gpus.add(table.gpuName(row));
    groups.set(name, group);
  }
  return [...groups.values()].sort((a, b) => b.rows.length - a.rows.length);
}

/** Identical pictures of rows with different inputs.
 * @param {HeadParams} params
 */
function drawNotices({ table, filter }) {
  /** @type {Map<number, number>} */
  const groups = new Map();
  for (const group of table.same) if (group > 0) groups.set(group, (groups.get(group) ?? 0) + 1);
  const box = at('notices');
  const largest = [...groups].sort((a, b) => b[1] - a[1]);
  box.hidden = largest.length === 0;
  const seed = table.facts.columns.find((name) => /seed/i.test(name));
  box.replaceChildren(
    ...largest.slice(0, 3).map(([group, rows]) =>
      make(
        'p',
        '',
        make(
          'span',
          '',
          `${count(rows)} rows with different inputs gave the same picture${seed === undefined ? '' : `; is ${seed} wired?`}`,
        ),
        button('Show them', () => filter({ same: group })),
      ),
    ),
    ...(largest.length > 3
      ? [make('p', 'note', `and ${plural(largest.length - 3, 'other group')} of identical pictures`)]
      : []),
  );
}
