// The lines that commands print when a batch has ended.

import { describe, expect, it } from 'vitest';
import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { NO_OUTCOMES } from '../../src/batch/outcome.ts';
import { closing, printEnd, closingLine, type EndParams } from '../../src/cli/follow/batch-end.ts';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import { nextLine, type Next, type Printer } from '../../src/cli/context.ts';
import type { Summary } from '../../src/results/summary.ts';

const SUMMARY: Summary = {
  batch: 'b',
  pass: 1,
  rehearsal: false,
  deployment: 'd',
  rows: 300,
  outcomes: { ...NO_OUTCOMES, succeeded: 300 },
  reused: 0,
  runs: 300,
  bought_twice: 0,
  started_at: '2026-11-21T10:00:00.000Z',
  ended_at: '2026-11-21T10:01:00.000Z',
  seconds: 60,
  idle: [],
  undelivered: { rows: 0, cost_usd: 0 },
  unpriced: 0,
  cost_usd: 4.12,
  total_cost_usd: 4.12,
  gpus: {},
  requests: NO_LEDGER,
  lists: 'complete',
  duplicates: { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] },
  is_evidence_lost: false,
  unseen_runs_at_most: 0,
  workers: 4,
  restarts: 3,
};
const plain = (_: unknown, text: string): string => text;

describe('the closing line of a batch', () => {
  it.each<readonly [string, Partial<Summary>]>([
    ['300 rows, 300 runs, 0 bought twice, $4.12 estimated, survived 3 restarts', {}],
    ['300 rows, 300 runs, 0 bought twice, $4.12 estimated, survived 1 restart', { workers: 2, restarts: 1 }],
    ['300 rows, 300 runs, 0 bought twice, $4.12 estimated', { workers: 1, restarts: 0 }],
    [
      '300 rows, 301 runs, 2 bought twice, $4.32 estimated',
      { runs: 301, bought_twice: 2, total_cost_usd: 4.32, restarts: 0 },
    ],
    [
      '1 row, 1 run, 0 known to be bought twice, $0.0041 estimated',
      { rows: 1, runs: 1, total_cost_usd: 0.0041, lists: 'none', restarts: 0 },
    ],
    [
      '300 rows, 297 runs, 1 known to be bought twice, at most 3 unseen runs, $4.12 estimated',
      { runs: 297, bought_twice: 1, lists: 'incomplete', unseen_runs_at_most: 3, restarts: 0 },
    ],
    [
      '3 rows, 3 runs, 0 bought twice, cost not known',
      { rows: 3, runs: 3, total_cost_usd: null, unpriced: 3, restarts: 0 },
    ],
    ['300 rows, 300 runs, 0 bought twice, at least $4.12 estimated', { unpriced: 1, restarts: 0 }],
    ['300 rows, 300 runs, 0 bought twice', { total_cost_usd: 0, restarts: 0 }],
  ])('says %s', (line, facts) => {
    expect(closingLine({ ...SUMMARY, ...facts })).toBe(line);
  });

  it('counts the workers of a cluster, which are no restarts', () => {
    const { restarts: _, ...summary } = SUMMARY;
    expect(closingLine(summary)).toMatch(/estimated, 4 workers$/);
    expect(closingLine({ ...summary, workers: 1 })).toMatch(/estimated$/);
  });

  it('says nothing about workers that were not counted', () => {
    const { restarts: _, workers: __, ...summary } = SUMMARY;
    expect(closingLine(summary)).toMatch(/estimated$/);
  });

  it('is the last line of what happened, and names the only sum of money', () => {
    const lines = closing(SUMMARY, '/b', plain).trimEnd().split('\n');
    expect(lines.at(-1)).toBe(closingLine(SUMMARY));
    expect(lines.filter((line) => line.includes('$'))).toHaveLength(1);
  });

  it('comes after what was paid for and not kept', () => {
    const outcomes = { ...NO_OUTCOMES, succeeded: 297, failed: 3 };
    const text = closing({ ...SUMMARY, outcomes, undelivered: { rows: 3, cost_usd: 0.5 } }, '/b', plain);
    expect(text).toContain('3 rows paid for and not kept, $0.50 estimated: retry fetches the files');
    expect(closing({ ...SUMMARY, undelivered: { rows: 0, cost_usd: 0 } }, '/b', plain)).not.toContain(
      'not kept',
    );
  });

  it('comes after rows that were executed again, each of which is said', () => {
    const again = { rows: 1, executions: 1, seconds: 12.34 };
    const textOf = (executed_again: typeof again): string =>
      closing({ ...SUMMARY, executed_again }, '/b', plain);
    expect(textOf(again)).toContain('1 row was executed again (the server stopped): 12 s of GPU time lost');
    expect(textOf({ ...again, rows: 2 })).toContain('2 rows were executed again (the server stopped)');
    expect(closing(SUMMARY, '/b', plain)).not.toContain('again');
  });

  it('and what comes before it say nothing of cost if the GPUs have no price', () => {
    const free = { cost_usd: 0, total_cost_usd: 0, reused: 3, undelivered: { rows: 3, cost_usd: 0 } };
    const duplicates = { runs: 1, gpu_seconds: 2, cost_usd: 0, first: [] };
    expect(closing({ ...SUMMARY, ...free, duplicates }, '/b', plain)).not.toContain('$');
  });

  it('is printed by a command that is silent otherwise', async () => {
    const said: string[] = [];
    const quiet = {
      raw: () => undefined,
      data: () => undefined,
      name: () => undefined,
      notice: () => undefined,
      next: () => undefined,
    };
    const printer = { output: 'text', paint: plain, ...quiet } as unknown as Printer;
    const batchFolder = { folder: '/b' } as FoundBatch;
    const printClosingLine = (line: string): void => void said.push(line);
    expect(await printEnd({ printer, batchFolder, printClosingLine }, SUMMARY)).toBe(0);
    expect(said).toEqual([closingLine(SUMMARY)]);
  });

  const ended = async (
    more: Partial<EndParams>,
    facts: Partial<Summary> = {},
    output = 'text',
  ): Promise<readonly string[]> => {
    const lines: string[] = [];
    const put = (text: string): void => void lines.push(text);
    const printer = {
      output,
      next: (...next: readonly Next[]) =>
        output === 'text' && next.forEach((command) => put(nextLine(command))),
      paint: plain,
      raw: put,
      notice: put,
      data: put,
      name: put,
      json: put,
    } as unknown as Printer;
    const batchFolder = { batch: 'b', folder: '/d/b' } as FoundBatch;
    await printEnd({ printer, batchFolder, ...more }, { ...SUMMARY, ...facts });
    return lines.slice(1);
  };

  it('is followed by the folder and the next commands', async () => {
    const next = ['  open      runsheet open b --out /d', '  export    runsheet export b --out /d --as xlsx'];
    expect(await ended({})).toEqual(['/d/b', ...next]);
    const outcomes = { ...NO_OUTCOMES, succeeded: 299, 'timed-out': 1 };
    expect(await ended({}, { outcomes })).toEqual(['/d/b', '  again     runsheet retry b --out /d', ...next]);
    const cancelled = { ...NO_OUTCOMES, succeeded: 1, cancelled: 2 };
    expect((await ended({}, { outcomes: cancelled }))[1]).toBe(
      '  again     runsheet retry b --out /d --outcome cancelled',
    );
    expect(await ended({}, { outcomes: { ...NO_OUTCOMES, refused: 300 } })).toEqual(['/d/b', ...next]);
  });

  it('names no next command to programs', async () => {
    expect(await ended({}, {}, 'jsonl')).toEqual([]);
  });
});
