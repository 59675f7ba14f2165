// Tests the check of the chaos test: each kind of error in a batch's folder is a finding, and a correct folder has none.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_LEDGER } from '../../../src/batch/accounting/request-ledger.ts';
import type { Run } from '../../../src/run-service/contract/run.ts';
import { judge, noFindings, type Evidence, type Findings } from './verdict.ts';

const NAME = { batch: 'sheet', mark: '0123456789abcdef' };
const urlOf = (row: number, attempt = 1, mark = NAME.mark): string =>
  `http://127.0.0.1:1/hook/2/${NAME.batch}/${mark}/${row}/${attempt}/${'0'.repeat(32)}`;

const PICTURE = 'data:image/png;base64,AAAA';
const runOf = (id: string, given: Partial<Run>): Run =>
  ({
    id,
    status: 'success',
    createdAtMs: 1_000,
    endedAtMs: 2_000,
    outputs: [{ nodeId: '1', files: [{ url: PICTURE, filename: 'a.png' }], texts: [] }],
    ...given,
  }) as unknown as Run;

type Scene = {
  runs: Run[];
  results: string[];
  records: unknown[];
  duplicates: { row: number; attempt: number; run_id: string; status: string; gpu_seconds: number }[];
  summary: {
    outcomes: Record<string, number>;
    requests: unknown;
    duplicates: { runs: number; gpu_seconds: number };
    cost_usd: number;
    lists: string;
  };
  calls: Evidence['calls'][number][];
  concurrency: number;
};

/** Two rows with one run each, a duplicate that the service caused, and a foreign run. */
const honest = (): Scene => ({
  runs: [
    runOf('a', { webhook: urlOf(1) }),
    runOf('b', { webhook: urlOf(2), status: 'failed', outputs: [] }),
    runOf('twin', { webhook: urlOf(1), status: 'cancelled' }),
    runOf('other', { webhook: urlOf(1, 1, 'fedcba9876543210') }),
  ],
  results: ['1,succeeded,,a,outputs/1/1.png', '2,failed,the run failed,b,'],
  records: [
    { row: 1, outcome: 'succeeded', attempts: [{ attempt: 1, run_id: 'a', cost_usd: 0.5 }] },
    { row: 2, outcome: 'failed', attempts: [{ attempt: 1, run_id: 'b', cost_usd: 0.25 }] },
  ],
  duplicates: [{ row: 1, attempt: 1, run_id: 'twin', status: 'cancelled', gpu_seconds: 1 }],
  summary: {
    outcomes: { succeeded: 1, failed: 1 },
    requests: { ...NO_LEDGER, sent: 2, accepted: 2 },
    duplicates: { runs: 1, gpu_seconds: 1 },
    cost_usd: 0.75,
    lists: 'complete',
  },
  calls: [],
  concurrency: 2,
});

describe('the verdict on a batch', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'runsheet-verdict-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const verdictOn = async (forge: (scene: Scene) => unknown, bytes = 'AAAA'): Promise<Findings> => {
    const scene = honest();
    forge(scene);
    const lines = (all: readonly unknown[]): string => all.map((one) => `${JSON.stringify(one)}\n`).join('');
    mkdirSync(join(folder, 'outputs/1'), { recursive: true });
    writeFileSync(join(folder, 'outputs/1/1.png'), Buffer.from(bytes, 'base64'));
    writeFileSync(
      join(folder, 'results.csv'),
      `row,outcome,reason,run_id,outputs\n${scene.results.join('\n')}\n`,
    );
    writeFileSync(join(folder, 'results.jsonl'), lines(scene.records));
    writeFileSync(join(folder, 'duplicates.jsonl'), lines(scene.duplicates));
    writeFileSync(join(folder, 'summary.json'), JSON.stringify(scene.summary));
    const { runs, calls, concurrency } = scene;
    return judge({ folder, name: NAME, rows: 2, concurrency, runs, calls });
  };
  const kindsIn = (found: Findings): readonly string[] =>
    Object.entries(found)
      .filter(([, all]) => all.length > 0)
      .map(([kind]) => kind);

  it('a correct batch has no finding', async () => {
    expect(await verdictOn(() => undefined)).toEqual(noFindings());
  });

  it.each<[kind: string, what: string, forge: (scene: Scene) => unknown]>([
    ['lost', 'a row that is not in the results', ({ results }) => results.pop()],
    ['lost', 'a row that is in the results twice', ({ results }) => results.push(results[1] ?? '')],
    [
      'untrue',
      'a success by a run that failed',
      ({ results }) => (results[1] = '2,succeeded,,b,outputs/1/1.png'),
    ],
    ['untrue', 'a failure by a run that succeeded', ({ results }) => (results[0] = '1,failed,,a,')],
    [
      'untrue',
      'a success by the run of another row',
      ({ runs }) => (runs[0] = runOf('a', { webhook: urlOf(2) })),
    ],
    ['untrue', 'a success without its file', ({ results }) => (results[0] = '1,succeeded,,a,')],
    ['unreported', 'a run that is in no file', ({ runs }) => runs.push(runOf('c', { webhook: urlOf(2, 2) }))],
    ['unreported', 'a duplicate that is not reported', ({ duplicates }) => duplicates.pop()],
    [
      'bought twice',
      'a duplicate that the batch caused',
      ({ runs }) => (runs[2] = runOf('twin', { webhook: urlOf(1, 2), status: 'cancelled' })),
    ],
    [
      'bought twice',
      'a request that the batch has sent twice',
      ({ calls }) => calls.push({ at: 1, webhook: urlOf(1) }, { at: 2, webhook: urlOf(1), status: 200 }),
    ],
    [
      'others',
      'a run of others that was cancelled',
      ({ runs }) => (runs[3] = runOf('other', { status: 'cancelled' })),
    ],
    ['too many', 'two runs at the same time with a concurrency of one', (scene) => (scene.concurrency = 1)],
    ['sums', 'a summary with another number of successes', ({ summary }) => (summary.outcomes['failed'] = 2)],
    ['sums', 'a request that is not accounted for', ({ summary }) => (summary.requests = NO_LEDGER)],
    ['sums', 'another cost than that of the rows', ({ summary }) => (summary.cost_usd = 1)],
    ['sums', 'lists that were not read to their end', ({ summary }) => (summary.lists = 'incomplete')],
  ])('%s: %s', async (kind, _, forge) => {
    expect(kindsIn(await verdictOn(forge))).toContain(kind);
  });

  it('untrue: a file whose bytes differ from the file of its run', async () => {
    expect(kindsIn(await verdictOn(() => undefined, 'BBBB'))).toEqual(['untrue']);
  });

  it('a second run does not count as bought twice if the POST of the first got a 429', async () => {
    const found = await verdictOn((scene) => {
      scene.runs[2] = runOf('twin', { webhook: urlOf(1, 2), status: 'cancelled' });
      scene.calls.push({ at: 1, webhook: urlOf(1), status: 429 });
    });
    expect(found).toEqual(noFindings());
  });
});
