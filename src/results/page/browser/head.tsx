// The head of the page: how the batch goes or ended in one sentence, what failed and why, and pictures that look wrong.

import { useMemo } from 'preact/hooks';
import type { Running } from '../living-page.ts';
import type { Table } from './all-rows.ts';
import { failureGroups, sameGroups, type FailureGroup, type Wish } from './arrange.ts';
import { Button, Copy, Terms, toneOf } from './view-parts.tsx';
import { asCalled, commandOf, retryOf } from './user-commands.ts';
import { count, money, plural, span } from '../../../options/text/printed-numbers.ts';
import { dateOf, ifPaid, joined, rough } from './text.ts';

type AttentionProps = {
  table: Table;
  filter: (change: Partial<Wish>) => void;
  open: (row: number) => void;
};
type HeadProps = AttentionProps & {
  /** While the batch runs. */
  running: Running | undefined;
  /** Beside the other views. */
  isShort: boolean;
};
type Fact = readonly [name: string, value: string, note?: string];

const GROUPS_SHOWN = 8;
const SAME_SHOWN = 3;
const ROWS_NAMED = 6;

export function Head({ table, filter, open, running, isShort }: HeadProps) {
  const { facts } = table;
  const counts = useMemo(() => [...table.counts()], [table.version, table.rows]);
  const present = counts.filter(([, rows]) => rows > 0);
  const started = dateOf(facts.summary?.started_at ?? facts.startedAt);
  const source = joined([facts.sheet.name, facts.deployment, started, facts.rehearsal ? 'rehearsal' : '']);
  return (
    <>
      <div id="head" class={isShort ? 'short' : ''}>
        <p class="wrap">
          <b id="title">{facts.batch}</b>
          {running && (
            <span id="state" class="pill" role="status">
              {running.state}
            </span>
          )}
          {!isShort && (
            <span id="source" class="note">
              {source}
            </span>
          )}
        </p>
        <h1 id="sentence">{sentenceOf(table.rows, new Map(present), running !== undefined)}</h1>
        {running?.reason && <Trouble running={running} table={table} />}
        {!isShort && (
          <>
            <Bar counts={present} />
            <Terms id="facts" class="wrap" entries={factsOf(table, running)} />
          </>
        )}
      </div>
      {!isShort && <Attention table={table} filter={filter} open={open} />}
    </>
  );
}

function sentenceOf(total: number, counts: ReadonlyMap<string, number>, isRunning: boolean): string {
  const rows = plural(total, 'row');
  if (isRunning) return `${count(total - (counts.get('open') ?? 0))} of ${rows} done`;
  const good = counts.get('succeeded') ?? 0;
  return `${good < total ? `${count(good)} of ${rows}` : `${good > 1 ? 'All ' : ''}${rows}`} succeeded`;
}

/** How many rows have each outcome, as parts of a bar. */
const Bar = ({ counts }: { counts: readonly (readonly [name: string, rows: number])[] }) => (
  <div id="bar" role="img" aria-label={counts.map(([name, rows]) => `${rows} ${name}`).join(', ')}>
    {counts.map(([name, rows]) => (
      <i key={name} title={`${count(rows)} ${name}`} style={{ ...toneOf(name), flexGrow: `${rows}` }} />
    ))}
  </div>
);

/** Why a batch does not advance, and the command that helps. */
function Trouble({ running, table: { facts } }: { running: Running; table: Table }) {
  const { reason, hint, state } = running;
  const canResume = state === 'paused' || state === 'interrupted';
  return (
    <div id="trouble" class="wrap box" style={toneOf('unknown')} role="status">
      <p>
        <b>{reason}</b>
        {hint && (
          <>
            <br />
            {asCalled(hint, facts.program)}
          </>
        )}
      </p>
      {canResume && <Copy label="Copy resume" text={commandOf(facts, 'resume')} />}
    </div>
  );
}

function factsOf(
  { facts: { summary, startedAt }, of }: Table,
  running: Running | undefined,
): readonly Fact[] {
  const cost = of.cost.reduce((sum, usd) => sum + usd, 0);
  const done = of.tries.reduce((sum, tries) => sum + Number(tries > 0), 0);
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
  const facts: (readonly [isKnown: unknown, ...fact: Fact])[] = [
    [true, 'Wall time', span(seconds)],
    [
      'total_cost_usd' in summary && (total_cost_usd ?? 0) + unpriced,
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

type SoFar = { seconds: number; cost: number; done: number };

/** The same facts as in the terminal. */
function runningFacts(running: Running | undefined, { seconds, cost, done }: SoFar): readonly Fact[] {
  const now: Running = running ?? { state: '' };
  const { outstanding, allowed = 0, waiting = 0, etaSeconds, aboutUsd, perMinute, costUsd = cost } = now;
  const left = etaSeconds === undefined ? '' : `about ${span(etaSeconds)} left`;
  const about = aboutUsd === undefined ? '' : `about ${money(aboutUsd)} in total`;
  const speed = rough(perMinute || (done / Math.max(1, seconds)) * 60);
  const facts: Fact[] = [['So far', span(seconds), left]];
  if (costUsd > 0) facts.push(['Cost, estimated', money(costUsd), about]);
  facts.push(['Speed', speed, 'rows/min']);
  if (outstanding !== undefined)
    facts.push(['In flight', `${count(outstanding)} of ${count(allowed)}`, `${count(waiting)} waiting`]);
  return facts;
}

/** An unknown cost is not $0.00. */
function costText(usd: number | null, unpriced: number): string {
  if (!usd) return unpriced === 0 ? money(0) : 'not known';
  return unpriced === 0 ? money(usd) : `at least ${money(usd)}`;
}

/** Failures and suspicious pictures. On a phone it is one line, which opens. */
function Attention({ table, filter, open }: AttentionProps) {
  const [groups, same] = useMemo(() => [failureGroups(table), sameGroups(table)] as const, [table.version]);
  const failed = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const alike = same.reduce((sum, [, rows]) => sum + rows, 0);
  if (failed + alike === 0) return null;
  const seed = table.facts.columns.find((name) => /seed/i.test(name));
  const title = joined([
    failed > 0 ? `${plural(failed, 'row')} did not succeed` : '',
    alike > 0 ? `${plural(alike, 'row')} with the same picture as another row` : '',
  ]);
  const hidden = Math.max(0, groups.length - GROUPS_SHOWN) + Math.max(0, same.length - SAME_SHOWN);
  return (
    <details id="attention" class="box" style={toneOf('failed')} open={innerWidth > 640}>
      <summary>
        <h2>{title}</h2>
      </summary>
      <ul id="failures" class="lined">
        {groups.slice(0, GROUPS_SHOWN).map((group, nth) => (
          <GroupItem key={nth} table={table} filter={filter} open={open} group={group} />
        ))}
      </ul>
      <div id="notices">
        {same.slice(0, SAME_SHOWN).map(([group, rows]) => (
          <p key={group} class="wrap">
            {count(rows)} rows with different inputs gave the same picture
            {seed === undefined ? '' : `; is ${seed} wired?`}{' '}
            <Button onClick={() => filter({ same: group })}>Show them</Button>
          </p>
        ))}
      </div>
      {hidden > 0 && <p class="note">and {plural(hidden, 'other group')}</p>}
      {failed > 0 && (
        <Button class="link" onClick={() => filter({ outcome: 'others' })}>
          Show all that did not succeed
        </Button>
      )}
    </details>
  );
}

function GroupItem({ table, filter, open, group }: AttentionProps & { group: FailureGroup }) {
  const { reason, outcome, rows, gpus } = group;
  const more = rows.length - ROWS_NAMED;
  // Rows that were refused would be refused again, and those without a known end may have been paid for.
  const canRetry = ['failed', 'timed-out', 'cancelled'].includes(outcome);
  const first = rows.slice(0, 500);
  const label = `Copy retry${first.length < rows.length ? ` of the first ${count(first.length)}` : ''}`;
  // The part without numbers finds the whole group.
  const [beginning = ''] = reason.split(/\d|…/);
  const find = () => filter({ text: beginning.trim().slice(0, 60), outcome: '' });
  return (
    <li class="wrap">
      <b class="tone" style={toneOf(outcome)}>
        {count(rows.length)}
      </b>
      <div>
        <p class="reason clamp">{reason}</p>
        <p class="facts">{joined([outcome, ...gpus])}</p>
        <p class="wrap">
          {rows.slice(0, ROWS_NAMED).map((row) => (
            <Button key={row} class="row-link link clip" onClick={() => open(row)}>
              {table.title(row)}
            </Button>
          ))}
          {more > 0 && (
            <Button class="link" onClick={find}>
              {count(more)} more
            </Button>
          )}
        </p>
      </div>
      {canRetry && (
        <Copy
          label={label}
          spoken={`${label}: ${count(rows.length)} ${outcome}`}
          text={retryOf(table.facts, first, outcome)}
        />
      )}
    </li>
  );
}
