// A batch that still runs: asks the local server for the rows that have ended since the last time, until it has all of them.

/** @import { Table } from './table.js' */
/** @import { LiveRow } from '../report-row.ts' */
/** @import { Summary } from '../../summary.ts' */

/**
 * What the batch does, as the terminal shows it; only the state is always known.
 * @typedef {{ state: string, reason?: string, hint?: string, outstanding?: number, allowed?: number, waiting?: number,
 *   perMinute?: number, etaSeconds?: number, costUsd?: number, aboutUsd?: number, idleSeconds?: number }} Running
 */
/** @typedef {{ rows: LiveRow[], cursor: string, total: number, hasMore: boolean, running?: Running, summary?: Summary }} News */

const ASK_MS = 2_000;
const AWAY_MS = 5_000;
const AWAY = { state: 'the server does not answer', reason: 'Is runsheet open still running?' };

/** `onNews`: without `running`, the batch has ended. @type {(table: Table, onNews: (running: Running | undefined) => void) => Promise<void>} */
export async function follow(table, onNews) {
  const shas = /** @type {string[]} */ ([]);
  for (let cursor = ''; ;) {
    const news = await ask(cursor);
    if (news === undefined) {
      onNews(AWAY);
      await wait(AWAY_MS);
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
    if (isOver) return;
    if (!news.hasMore) await wait(ASK_MS);
  }
}

/** @type {(cursor: string) => Promise<News | undefined>} */
const ask = (cursor) =>
  fetch(`rows?after=${encodeURIComponent(cursor)}`)
    .then((answer) => (answer.ok ? answer.json() : undefined))
    .catch(() => undefined);

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Numbers the groups of rows whose pictures are the same and whose cells differ. @type {(table: Table, shas: readonly string[]) => void} */
function markSame({ of: { same }, cells }, shas) {
  const cellsOf = (row) => JSON.stringify(cells.map((column) => column[row]));
  same.fill(0);
  for (const [first = 0, ...rows] of Map.groupBy(shas.keys(), (row) => shas[row] || row).values())
    if (rows.some((row) => cellsOf(row) !== cellsOf(first)))
      for (const row of [first, ...rows]) same[row] = first + 1;
}
