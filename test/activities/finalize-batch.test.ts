// The end of a batch in a real folder: three rows, of which two are in its only part and one was never sent.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenBatch } from '../../activities/deps.ts';
import { finalizeBatch } from '../../activities/finalize-batch.ts';
import { tallyOutcome } from '../../src/batch/accounting/tally.ts';
import type { Outcome } from '../../src/batch/outcome.ts';
import { progress } from '../../src/batch/progress.ts';
import { begin } from '../../src/batch/state.ts';
import { WRITES } from '../../src/batch/version.ts';
import { partName } from '../../src/results/parts.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, SUMMARY_FILE, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { depsOf, MARK, REF } from './deps.ts';

const ROWS = [1, 2, 3];
const FILE = {
  batch: 'b',
  mark: MARK,
  sheet: {
    name: 'sheet.csv',
    file: 'sheet.csv',
    options: { format: 'csv', map: {}, set: {}, drop: [], types: {} },
    columns: ['number'],
    inputs: [],
    rows: ROWS.length,
    pages: 1,
    repeats: 0,
  },
  deployment: { id: 'd' },
  service: { base: 'local', api: 'v2', rehearsal: true, prices: {} },
} as unknown as BatchFile;

describe('the end of a batch', () => {
  let folder = '';
  let store: Store;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-finalize-'));
    store = folderStore(folder);
    const layout = layoutOf(store, FILE);
    await layout.write('sheet.csv', 'number\n1\n2\n3\n');
    const lines = ROWS.map((row) => rowLine(row, `k${row}`, undefined, `{"n":${row}}`));
    await layout.write(pageName(1), lines.join(''));
    const records = [1, 2].map((row) => ({ row, outcome: 'succeeded', attempts: [], files: [] }));
    await store.write(partName(1, 1), records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const finalize = (...counted: readonly Outcome[]): Promise<void> => {
    const state = begin(paramsOf({ rows: ROWS.length }), WRITES, 1_000);
    for (const outcome of counted) state.tally = tallyOutcome(state.tally, outcome);
    const input = {
      ...REF,
      progress: progress(state),
      startedAt: 1_000,
      endedAt: 2_000,
      evidence: [],
      isEvidenceLost: false,
      back: { agoMs: 1_000, wallAt: 2_000 },
    };
    const deps = { ...depsOf({}), open: async () => ({ file: FILE, store, service: {} }) as OpenBatch };
    return new MockActivityEnvironment().run(() => finalizeBatch(deps, input));
  };

  it('writes the results of a batch whose parts hold what it has counted', async () => {
    await finalize('succeeded', 'succeeded', 'cancelled');
    expect(await store.exists(SUMMARY_FILE)).toBe(true);
  });

  it('writes nothing if a part is missing, and says which rows: they were paid for, and are not "never sent"', async () => {
    await expect(finalize('succeeded', 'succeeded', 'succeeded')).rejects.toMatchObject({
      type: 'StoreFailed',
      message: expect.stringContaining('2 succeeded rows in its parts, 3 counted; 1 cancelled'),
    });
    expect(await store.exists(SUMMARY_FILE)).toBe(false);
    expect(await store.exists('results.csv')).toBe(false);
  });
});
