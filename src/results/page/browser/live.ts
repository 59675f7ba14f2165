// A batch that still runs: looks again and again for what its worker writes beside the page, or what a server shows there.

import type { Live, LivePart, Running } from '../living-page.ts';
import { jsonIn, type ReadDetail } from './data.ts';
import { OPEN, type Table } from './all-rows.ts';
import { commandOf } from './user-commands.ts';
import { span } from '../../../options/text/printed-numbers.ts';

const POLL_MS = 2_000;
const PARTS_EACH = 100;
const LATE_SECONDS = 60;
const OVER: Running = {
  state: 'ended',
  reason: 'The batch has ended',
  hint: 'Load this page again for its results',
};

/** `running` is undefined when the batch has ended. */
type OnNews = (running: Running | undefined) => void;
export type LivingBatch = { read: ReadDetail; follow: (onNews: OnNews) => Promise<void> };

export function besidePage(table: Table, read: ReadDetail): LivingBatch {
  const takenParts = new Set<string>();
  /** The part with a row. */
  const partOf = new Map<number, string>();
  /** Shows new parts. */
  const take = async ({ rows: total, parts }: Live): Promise<'all' | 'more' | 'missing'> => {
    table.grow(total);
    const names = Object.entries(parts).flatMap(([pass, [first, last]]) =>
      Array.from({ length: last - first + 1 }, (_, nth) => `live/${pass}-${first + nth}.js`),
    );
    const missing = names.filter((name) => !takenParts.has(name));
    const next = missing.slice(0, PARTS_EACH);
    const loaded = await Promise.all(next.map((name) => jsonIn<LivePart>(name)));
    for (const [nth, name] of next.entries()) {
      const part = loaded[nth];
      if (part === undefined) continue;
      takenParts.add(name);
      table.load(part.columns, part, part.rows);
      for (const row of part.rows) partOf.set(row - 1, name);
    }
    if (loaded.some((part) => part !== undefined && part.rows.length > 0)) table.markSame();
    if (!loaded.every(Boolean)) return 'missing';
    return missing.length > next.length ? 'more' : 'all';
  };
  const follow = async (onNews: OnNews): Promise<void> => {
    for (let isServed = false; ;) {
      const live = await jsonIn<Live>(`live.js?${Date.now()}`);
      if (live === undefined && !isServed) return onNews(OVER);
      const taken = live && (await take(live));
      if (live?.summary && taken === 'all') {
        Object.assign(table.facts, { summary: live.summary });
        return onNews(undefined);
      }
      isServed ||= Boolean(live?.running ?? live?.summary);
      onNews(live ? (live.running ?? runningIn(table, live)) : awayOf(table));
      if (taken !== 'more') await wait(POLL_MS);
    }
  };
  const detail: ReadDetail = async (row) => {
    const name = partOf.get(row);
    if (name === undefined) return table.of.outcome[row] === OPEN ? undefined : read(row);
    const part = await jsonIn<LivePart>(name);
    return part?.full[part.rows.indexOf(row + 1)];
  };
  return { read: detail, follow };
}

const awayOf = ({ facts }: Table): Running => ({
  state: 'the server does not answer',
  reason: 'The command that serves this page may have ended',
  hint: `To serve it again: ${commandOf({ ...facts, program: 'runsheet' }, 'open')}`,
});

/** Says how old the newest row is, because nothing tells whether the batch still runs. */
function runningIn({ facts, of: { ended, outcome } }: Table, live: Live): Running {
  const { at, idleSeconds } = live;
  const late = (Date.now() - at) / 1_000;
  const seconds = (at - facts.startedAt) / 1_000 - idleSeconds;
  const perMinute = (60 * ended.filter(Boolean).length) / Math.max(1, seconds);
  const left = outcome.filter((value) => value === OPEN).length;
  const shown = { ...live, state: `as of ${new Date(at).toLocaleTimeString()}`, perMinute };
  const hint = `${commandOf({ ...facts, program: 'runsheet' }, 'status')} says why`;
  if (late > LATE_SECONDS) return { ...shown, reason: `No row has ended for ${span(late)}`, hint };
  return perMinute * left > 0 ? { ...shown, etaSeconds: (60 * left) / perMinute } : shown;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
