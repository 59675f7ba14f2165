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
  const same = new SameFiles();
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
      same.add(table, row);
    }
    const isOver = news.summary !== undefined && !news.hasMore;
    if (isOver) Object.assign(table.facts, { summary: news.summary });
    onNews(isOver ? undefined : (news.running ?? { state: 'loading' }));
    if (isOver) return;
    if (!news.hasMore) await wait(ASK_MS);
  }
}

/** @type {(cursor: string) => Promise<News | undefined>} */
async function ask(cursor) {
  try {
    const answer = await fetch(`rows?after=${encodeURIComponent(cursor)}`);
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Groups of rows whose pictures are the same and whose cells differ. */
class SameFiles {
  /** @type {Map<string, { rows: number[], cells: Set<string>, number: number }>} */
  #groups = new Map();
  #number = 0;

  /** @type {(table: Table, row: LiveRow) => void} */
  add = ({ of: { same } }, { row, sha, cells }) => {
    same[row - 1] = 0;
    if (sha === undefined) return;
    const group = this.#groups.get(sha) ?? { rows: [], cells: new Set(), number: (this.#number += 1) };
    group.rows.push(row - 1);
    group.cells.add(JSON.stringify(cells));
    this.#groups.set(sha, group);
    if (group.cells.size < 2) return;
    for (const one of group.rows) same[one] = group.number;
  };
}
