// A batch that still runs: looks again and again for what its worker writes beside the page, or what a server shows there.

import { jsonIn } from './data.js';
import { OPEN } from './all-rows.js';
import { commandOf, span } from './text.js';

/** @import { ReadDetail } from './data.js' */
/** @import { Live, LivePart, Running } from '../living-page.ts' */
/** @import { Table } from './all-rows.js' */

const POLL_MS = 2_000;
const PARTS_EACH = 100;
const LATE_SECONDS = 60;
const AWAY = { state: 'the server does not answer', reason: 'Is runsheet open still running?' };
const OVER = { state: 'ended', reason: 'The batch has ended', hint: 'Load this page again for its results' };

/** `onNews`: without `running`, the batch has ended. @type {(table: Table, read: ReadDetail) => { read: ReadDetail, follow: (onNews: (running: Running | undefined) => void) => Promise<void> }} */
export function besidePage(table, read) {
  const known = new Set();
  /** The part with a row. @type {Map<number, string>} */
  const partOf = new Map();
  /** Shows new parts. @type {(live: Live) => Promise<'all' | 'more' | 'missing'>} */
  const take = async ({ rows: total, parts }) => {
    table.grow(total);
    const names = Object.entries(parts).flatMap(([pass, [first, last]]) =>
      Array.from({ length: last - first + 1 }, (_, nth) => `live/${pass}-${first + nth}.js`),
    );
    const missing = names.filter((name) => !known.has(name));
    const next = missing.slice(0, PARTS_EACH);
    const loaded = await Promise.all(next.map(jsonIn));
    for (const [nth, name] of next.entries()) {
      const part = /** @type {LivePart | undefined} */ (loaded[nth]);
      if (part === undefined) continue;
      known.add(name);
      table.load(part.columns, part, part.rows);
      for (const row of part.rows) partOf.set(row - 1, name);
    }
    if (loaded.some((part) => part?.rows.length > 0)) table.markSame();
    if (!loaded.every(Boolean)) return 'missing';
    return missing.length > next.length ? 'more' : 'all';
  };
  const follow = async (onNews) => {
    for (let isServed = false; ;) {
      const live = await jsonIn(`live.js?${Date.now()}`);
      if (live === undefined && !isServed) return onNews(OVER);
      const taken = live && (await take(live));
      if (live?.summary && taken === 'all') {
        Object.assign(table.facts, { summary: live.summary });
        return onNews(undefined);
      }
      isServed ||= Boolean(live?.running ?? live?.summary);
      onNews(live ? (live.running ?? runningIn(table, live)) : AWAY);
      if (taken !== 'more') await wait(POLL_MS);
    }
  };
  const detail = async (row) => {
    const name = partOf.get(row);
    if (name === undefined) return table.of.outcome[row] === OPEN ? undefined : read(row);
    /** @type {LivePart | undefined} */
    const part = await jsonIn(name);
    return part?.full[part.rows.indexOf(row + 1)];
  };
  return { read: detail, follow };
}

/** How old it is, because nothing says whether the batch still runs. @type {(table: Table, live: Live) => Running} */
function runningIn({ facts, of: { ended, outcome } }, live) {
  const { at, idleSeconds } = live;
  const late = (Date.now() - at) / 1_000;
  const seconds = (at - facts.startedAt) / 1_000 - idleSeconds;
  const perMinute = (60 * ended.filter(Boolean).length) / Math.max(1, seconds);
  const left = outcome.filter((one) => one === OPEN).length;
  const shown = { ...live, state: `as of ${new Date(at).toLocaleTimeString()}`, perMinute };
  const hint = `${commandOf({ ...facts, program: 'runsheet' }, 'status')} says why`;
  if (late > LATE_SECONDS) return { ...shown, reason: `No row has ended for ${span(late)}`, hint };
  return perMinute * left > 0 ? { ...shown, etaSeconds: (60 * left) / perMinute } : shown;
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
