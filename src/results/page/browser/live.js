// A batch that still runs: asks the local server for the rows that have ended since the last time, until it has all of them.

/** @import { LiveRow, Summary, Table } from './table.js' */
/** @import { Running } from './head.js' */

/** @typedef {{ rows: LiveRow[], cursor: string, total: number, hasMore: boolean, running?: Running, summary?: Summary }} News */

const ASK_MS = 2_000;
const AWAY_MS = 5_000;

/**
 * @param {Table} table
 * @param {(news: { added: number, running: Running | undefined }) => void} onNews
 */
export async function follow(table, onNews) {
  const same = new SameFiles();
  for (let cursor = ''; ;) {
    const news = await ask(cursor);
    if (news === undefined) {
      onNews({
        added: 0,
        running: { state: 'the server does not answer', reason: 'is runsheet open still running?' },
      });
      await wait(AWAY_MS);
      continue;
    }
    cursor = news.cursor;
    table.grow(news.total);
    for (const row of news.rows) {
      table.put(row);
      same.add(table, row);
    }
    if (news.summary !== undefined && !news.hasMore) table.facts.summary = news.summary;
    const isOver = news.summary !== undefined && !news.hasMore;
    onNews({ added: news.rows.length, running: isOver ? undefined : (news.running ?? { state: 'loading' }) });
    if (isOver) return;
    if (!news.hasMore) await wait(ASK_MS);
  }
}

/**
 * @param {string} cursor
 * @returns {Promise<News | undefined>}
 */
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

  /**
   * @param {Table} table
   * @param {LiveRow} row
   */
  add(table, { row, sha, cells }) {
    table.same[row - 1] = 0;
    if (sha === undefined) return;
    const group = this.#groups.get(sha) ?? { rows: [], cells: new Set(), number: (this.#number += 1) };
    group.rows.push(row - 1);
    group.cells.add(JSON.stringify(cells));
    this.#groups.set(sha, group);
    if (group.cells.size < 2) return;
    for (const one of group.rows) table.same[one] = group.number;
  }
}
