// A batch that still runs: asks the local server, or looks beside the page, for the rows that have ended since the last time.

import { jsonIn } from './data.js';
import { OPEN } from './table.js';
import { commandOf, span } from './text.js';

/** @import { ReadDetail } from './data.js' */
/** @import { Live, News, Running } from '../living-page.ts' */
/** @import { Table } from './table.js' */
/** @typedef {{ ask: (cursor: string) => Promise<News | undefined>, read: ReadDetail }} Source */

const ASK_MS = 2_000;
const AWAY = { state: 'the server does not answer', reason: 'Is runsheet open still running?' };

/** `onNews`: without `running`, the batch has ended. @type {(table: Table, ask: Source['ask'], onNews: (running: Running | undefined) => void) => Promise<void>} */
export async function follow(table, ask, onNews) {
  const shas = /** @type {string[]} */ ([]);
  for (let cursor = ''; ;) {
    const news = await ask(cursor);
    if (news === undefined) {
      onNews(AWAY);
      await wait(ASK_MS);
      continue;
    }
    cursor = news.cursor;
    table.grow(news.total);
    for (const row of news.rows) {
      table.put(row);
      shas[row.row - 1] = row.sha ?? '';
    }
    if (news.rows.length > 0) markSame(table, shas);
    const isOver = news.summary !== undefined && !news.hasMore;
    if (isOver) Object.assign(table.facts, { summary: news.summary });
    onNews(isOver ? undefined : (news.running ?? { state: 'loading' }));
    if (isOver || news.isLast) return;
    if (!news.hasMore) await wait(ASK_MS);
  }
}

const answerOf = (address) => fetch(address).then((answer) => (answer.ok ? answer.json() : undefined));
/** What the local server tells. @type {Source} */
export const served = {
  ask: (cursor) => answerOf(`rows?after=${encodeURIComponent(cursor)}`).catch(() => undefined),
  read: (row) => answerOf(`detail?row=${row + 1}`),
};

const PARTS_EACH = 100;
const LATE_SECONDS = 60;
const NOTHING = { rows: [], cursor: '', hasMore: false };
const OVER = { state: 'ended', reason: 'The batch has ended', hint: 'Load this page again for its results' };

/** What the worker writes beside a page that was opened from its folder. @type {(table: Table, read: ReadDetail) => Source} */
export function besidePage(table, read) {
  const known = new Set();
  /** The part with a row. @type {Map<number, string>} */
  const partOf = new Map();
  const ask = async () => {
    const live = await jsonIn(`live.js?${Date.now()}`);
    if (live === undefined) return { ...NOTHING, total: table.rows, running: OVER, isLast: true };
    const names = Object.entries(live.parts).flatMap(([pass, parts]) =>
      Array.from({ length: parts }, (_, part) => `live/${pass}-${part + 1}.js`),
    );
    const next = names.filter((name) => !known.has(name)).slice(0, PARTS_EACH);
    const parts = await Promise.all(next.map(jsonIn));
    for (const [nth, name] of next.entries()) {
      if (parts[nth]) known.add(name);
      for (const { row } of parts[nth] ?? []) partOf.set(row - 1, name);
    }
    const hasMore = next.length === PARTS_EACH && parts.every(Boolean);
    const rows = parts.flatMap((part = []) => part);
    return { ...NOTHING, rows, total: live.rows, hasMore, running: runningIn(table, live) };
  };
  const detail = async (row) => {
    const name = partOf.get(row);
    if (name === undefined) return table.of.outcome[row] === OPEN ? undefined : read(row);
    return (await jsonIn(name))?.find((one) => one.row === row + 1)?.full;
  };
  return { ask, read: detail };
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

/** Numbers the groups of rows whose pictures are the same and whose cells differ. @type {(table: Table, shas: readonly string[]) => void} */
function markSame({ of: { same }, cells }, shas) {
  const cellsOf = (row) => JSON.stringify(cells.map((column) => column[row]));
  same.fill(0);
  for (const [first = 0, ...rows] of Map.groupBy(shas.keys(), (row) => shas[row] || row).values())
    if (rows.some((row) => cellsOf(row) !== cellsOf(first)))
      for (const row of [first, ...rows]) same[row] = first + 1;
}
