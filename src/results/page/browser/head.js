// The head of the page: how the batch goes or ended in one sentence, what failed and why, and pictures that look wrong.

import { Button, Copy, html, Terms, toneOf, useMemo } from './parts.js';
import { failureGroups, sameGroups } from './arrange.js';
import {
  asCalled,
  commandOf,
  count,
  dateOf,
  ifPaid,
  joined,
  money,
  plural,
  retryOf,
  rough,
  span,
} from './text.js';

/** @import { Table } from './all-rows.js' */
/** @import { Group, Wish } from './arrange.js' */
/** @import { Running } from '../living-page.ts' */

/** @typedef {{ table: Table, filter: (change: Partial<Wish>) => void, open: (row: number) => void, running?: Running | undefined }} HeadProps */
/** @typedef {readonly [name: string, value: string, note?: string]} Fact */

const GROUPS_SHOWN = 8;
const SAME_SHOWN = 3;
const ROWS_NAMED = 6;

/** `running`: while the batch runs; `isShort`: beside the other views. @param {HeadProps & { isShort: boolean }} props */
export function Head({ table, filter, open, running, isShort }) {
  const { facts } = table;
  const counts = useMemo(() => [...table.counts()], [table.version, table.rows]);
  const known = counts.filter(([, rows]) => rows > 0);
  const { succeeded: good = 0, open: left = 0 } = Object.fromEntries(known);
  const started = dateOf(facts.summary?.started_at ?? facts.startedAt);
  const source = joined([facts.sheet.name, facts.deployment, started, facts.rehearsal ? 'rehearsal' : '']);
  const rows = plural(table.rows, 'row');
  const ended = good < table.rows ? `${count(good)} of ${rows}` : `${good > 1 ? 'All ' : ''}${rows}`;
  const sentence = running ? `${count(table.rows - left)} of ${rows} done` : `${ended} succeeded`;
  const ends = known.map(([name, many]) => `${many} ${name}`).join(', ');
  const part = ([name, many]) =>
    html`<i title="${count(many)} ${name}" style=${{ ...toneOf(name), flexGrow: `${many}` }}></i>`;
  return html`<div id="head" class=${isShort ? 'short' : ''}>
      <p class="wrap">
        <b id="title">${facts.batch}</b>${running && html`<span id="state" class="pill" role="status">${running.state}</span>`}
        ${!isShort && html`<span id="source" class="note">${source}</span>`}
      </p>
      <h1 id="sentence">${sentence}</h1>
      ${running?.reason && html`<${Trouble} running=${running} table=${table} />`}
      ${
        !isShort &&
        html`<div id="bar" role="img" aria-label=${ends}>${known.map(part)}</div>
        <${Terms} id="facts" name="wrap" entries=${factsOf(table, running)} />`
      }
    </div>
    ${!isShort && html`<${Attention} ...${{ table, filter, open }} />`}`;
}

/** Why a batch does not advance, and what helps. @param {{ running: Running, table: Table }} props */
function Trouble({ running: { reason, hint, state }, table: { facts } }) {
  const canResume = state === 'paused' || state === 'interrupted';
  return html`<div id="trouble" class="wrap box" style=${toneOf('unknown')} role="status">
    <p><b>${reason}</b>${hint && html`<br />${asCalled(hint, facts.program)}`}</p>
    ${canResume && html`<${Copy} label="Copy resume" text=${commandOf(facts, 'resume')} />`}
  </div>`;
}

/** @type {(table: Table, running: Running | undefined) => readonly Fact[]} */
function factsOf({ facts: { summary, startedAt }, of }, running) {
  const cost = of.cost.reduce((sum, one) => sum + one, 0);
  const done = of.tries.reduce((sum, one) => sum + Number(one > 0), 0);
  const idle = running?.idleSeconds ?? 0;
  const soFar = Math.max(0, ((running?.at ?? Date.now()) - startedAt) / 1_000 - idle);
  if (running || !summary) return runningFacts(running, { seconds: soFar, cost, done });
  const {
    seconds,
    runs,
    reused,
    lists,
    bought_twice,
    restarts,
    total_cost_usd = 0,
    unpriced,
    undelivered,
    executed_again: again,
  } = summary;
  const each = done > 0 ? `${money(cost / done)} a row` : '';
  /** @type {(readonly [isKnown: unknown, ...fact: Fact])[]} */
  const facts = [
    [true, 'Wall time', span(seconds)],
    [
      'total_cost_usd' in summary && total_cost_usd + unpriced,
      'Cost, estimated',
      costText(total_cost_usd, unpriced),
      each,
    ],
    [true, 'Speed', rough((done / Math.max(1, seconds)) * 60), 'rows/min'],
    [true, 'Runs', count(runs), reused > 0 ? `${plural(reused, 'row')} reused` : ''],
    [true, lists === 'complete' ? 'Bought twice' : 'Known bought twice', count(bought_twice)],
    [undelivered.rows, 'Paid, not kept', plural(undelivered.rows, 'row'), ifPaid(undelivered.cost_usd ?? 0)],
    [again, 'Executed again', plural(again?.rows ?? 0, 'row'), `${span(again?.seconds ?? 0)} lost`],
    [restarts, 'Survived', plural(restarts ?? 0, 'restart')],
  ];
  return facts.flatMap(([isKnown, ...fact]) => (isKnown ? [fact] : []));
}

/** What the terminal has too. @type {(running: Running | undefined, known: { seconds: number, cost: number, done: number }) => readonly Fact[]} */
function runningFacts(running, { seconds, cost, done }) {
  const now = running ?? { state: '' };
  const { outstanding, allowed = 0, waiting = 0, etaSeconds, aboutUsd, perMinute, costUsd = cost } = now;
  const left = etaSeconds === undefined ? '' : `about ${span(etaSeconds)} left`;
  /** @type {Fact} */
  const out = ['Outstanding', `${count(outstanding ?? 0)} of ${count(allowed)}`, `${count(waiting)} waiting`];
  const about = aboutUsd === undefined ? '' : `about ${money(aboutUsd)} in total`;
  return [
    ['So far', span(seconds), left],
    .../** @type {Fact[]} */ (costUsd > 0 ? [['Cost, estimated', money(costUsd), about]] : []),
    ['Speed', rough(perMinute || (done / Math.max(1, seconds)) * 60), 'rows/min'],
    ...(outstanding === undefined ? [] : [out]),
  ];
}

/** What is not known is not $0.00. @type {(usd: number, unpriced: number) => string} */
function costText(usd, unpriced) {
  if (unpriced === 0) return money(usd);
  return usd === 0 ? 'not known' : `at least ${money(usd)}`;
}

/** What one should look at. On a phone it is one line, which opens. @param {HeadProps} props */
function Attention({ table, filter, open }) {
  const [groups, same] = useMemo(() => [failureGroups(table), sameGroups(table)], [table.version]);
  const all = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const alike = same.reduce((sum, [, rows]) => sum + rows, 0);
  if (all + alike === 0) return null;
  const seed = table.facts.columns.find((name) => /seed/i.test(name));
  const title = joined([
    all > 0 ? `${plural(all, 'row')} did not succeed` : '',
    alike > 0 ? `${plural(alike, 'row')} with the picture of another` : '',
  ]);
  const others = Math.max(0, groups.length - GROUPS_SHOWN) + Math.max(0, same.length - SAME_SHOWN);
  const notice = ([group, rows]) =>
    html`<p class="wrap">
      ${count(rows)} rows with different inputs gave the same picture${seed === undefined ? '' : `; is ${seed} wired?`}
      <${Button} onClick=${() => filter({ same: group })}>Show them<//>
    </p>`;
  return html`<details id="attention" class="box" style=${toneOf('failed')} open=${innerWidth > 640}>
    <summary><h2>${title}</h2></summary>
    <ul id="failures" class="lined">
      ${groups.slice(0, GROUPS_SHOWN).map((group) => html`<${GroupItem} ...${{ table, filter, open, group }} />`)}
    </ul>
    <div id="notices">${same.slice(0, SAME_SHOWN).map(notice)}</div>
    ${others > 0 && html`<p class="note">and ${plural(others, 'other group')}</p>`}
    ${all > 0 && html`<${Button} name="link" onClick=${() => filter({ outcome: 'others' })}>Show all that did not succeed<//>`}
  </details>`;
}

/** @param {HeadProps & { group: Group }} props */
function GroupItem({ table, filter, open, group: { reason, outcome, rows, gpus } }) {
  const more = rows.length - ROWS_NAMED;
  // Rows that were refused would be refused again, and those without a known end may have been paid for.
  const canRetry = ['failed', 'timed-out', 'cancelled'].includes(outcome);
  const first = rows.slice(0, 500);
  const label = `Copy retry${first.length < rows.length ? ` of the first ${count(first.length)}` : ''}`;
  const again = retryOf(table.facts, first, outcome);
  // The part without numbers finds the whole group.
  const [beginning = ''] = reason.split(/\d|…/);
  const find = () => filter({ text: beginning.trim().slice(0, 60), outcome: '' });
  const link = (row) =>
    html`<${Button} name="row-link link clip" onClick=${() => open(row)}>${table.title(row)}<//>`;
  return html`<li class="wrap">
    <b class="tone" style=${toneOf(outcome)}>${count(rows.length)}</b>
    <div>
      <p class="reason clamp">${reason}</p>
      <p class="facts">${joined([outcome, ...gpus])}</p>
      <p class="wrap">
        ${rows.slice(0, ROWS_NAMED).map(link)}
        ${more > 0 && html`<${Button} name="link" onClick=${find}>${count(more)} more<//>`}
      </p>
    </div>
    ${canRetry && html`<${Copy} label=${label} of="${label}: ${count(rows.length)} ${outcome}" text=${again} />`}
  </li>`;
}
