// The cost of the batch: by GPU, and by why a run was needed.

import { useMemo } from 'preact/hooks';
import type { Attempt, Table } from './all-rows.ts';
import { outcomeOf } from './course.ts';
import { Lines, Section, type Line } from './view-parts.tsx';
import { count, money, span } from '../../../options/text/printed-numbers.ts';

type Use = { runs: number; seconds: number; cost: number; failed: number };
type Uses = Map<string, Use>;

const HEADS = ['Runs', 'Not succeeded', 'GPU time', 'GPU time a run'];

export function Costs({ table }: { table: Table }) {
  const { gpus, kinds } = useMemo(() => usesOf(table), [table.version]);
  const { total_cost_usd, cost_usd } = table.facts.summary ?? {};
  const twice = (total_cost_usd ?? 0) - (cost_usd ?? 0);
  const isPaid = [...gpus.values()].some(({ cost }) => cost > 0);
  return (
    <>
      <div class="columns">
        <UsesTable title="By GPU" head="GPU" uses={gpus} isPaid={isPaid} />
        <UsesTable title="By reason" head="Why it ran" uses={kinds} isPaid={isPaid} />
      </div>
      <p class="note">
        {isPaid ? 'Estimated: cold start and run seconds at the price of the GPU.' : 'No run had a price.'}
        {twice > 0 && ` Duplicate runs cost ${money(twice)} more.`}
      </p>
    </>
  );
}

function usesOf(table: Table): { gpus: Uses; kinds: Uses } {
  const gpus: Uses = new Map();
  const kinds: Uses = new Map();
  let before = '';
  for (const attempt of table.attempts) {
    const { nth, run, cold, gpu, cost, outcome } = attempt;
    const why = nth === 1 ? 'First attempt' : before;
    before = reasonOf(table, attempt);
    const seconds = Math.max(0, run) + Math.max(0, cold);
    // An attempt that never reached a machine used nothing.
    if (gpu === 0 && seconds === 0) continue;
    const use = { seconds, cost, failed: Number(outcome !== 0) };
    addUse(gpus, table.gpus[gpu] || 'not named', use);
    addUse(kinds, why, use);
  }
  return { gpus, kinds };
}

function addUse(uses: Uses, name: string, { seconds, cost, failed }: Omit<Use, 'runs'>): void {
  const sum = uses.get(name) ?? { runs: 0, seconds: 0, cost: 0, failed: 0 };
  uses.set(name, {
    runs: sum.runs + 1,
    seconds: sum.seconds + seconds,
    cost: sum.cost + cost,
    failed: sum.failed + failed,
  });
}

/** Why a row was sent again, from how its last attempt ended. */
function reasonOf(table: Table, attempt: Attempt): string {
  const { kind } = attempt;
  if (kind >= 128) return 'Climbed to a larger GPU';
  const name = table.facts.failureKinds[kind - 1] ?? 'unknown';
  if (name !== 'unknown') return `Sent again after ${name.replaceAll('-', ' ')}`;
  const outcome = outcomeOf(table, attempt);
  const ends: Record<string, string> = { 'timed-out': 'a time-out', succeeded: 'success' };
  return `Sent again after ${ends[outcome] ?? `another end (${outcome})`}`;
}

type UsesTableProps = { title: string; head: string; uses: Uses; isPaid: boolean };

function UsesTable({ title, head, uses, isPaid }: UsesTableProps) {
  const dearestFirst = [...uses].sort(([, a], [, b]) => b.cost - a.cost);
  const lines = dearestFirst.map(([name, { runs, seconds, cost, failed }]): Line => [
    name,
    { text: count(runs) },
    failed > 0 ? { text: count(failed), outcome: 'failed' } : { text: '–' },
    { text: span(seconds) },
    { text: span(seconds / runs) },
    ...(isPaid ? [{ text: <b>{money(cost)}</b> }] : []),
  ]);
  return (
    <Section head="h2" title={title}>
      <div class="scroll" tabindex={0} role="region" aria-label={`Cost ${title}`}>
        <Lines heads={[head, ...HEADS, ...(isPaid ? ['Cost'] : [])]} lines={lines} />
      </div>
    </Section>
  );
}
