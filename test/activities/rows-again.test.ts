import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectRows } from '../../activities/collect-rows.ts';
import type { PartResult } from '../../src/batch/events.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { parsePart, partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { depsOf, downloadOf, REF, runOf, type Given } from './deps.ts';

const PART = partName(1, 2);

describe('the record of a row that was sent again', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-again-'));
    store = folderStore(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (rows: readonly EndedRow[], readRows: NonNullable<Given['readRows']>): Promise<PartResult> =>
    new MockActivityEnvironment().run(() => {
      const service = { getRun: async (id: string) => runOf(id, 'failed') };
      const deps = depsOf({ store, service, readRows, download: downloadOf(() => Buffer.from('a picture')) });
      return collectRows(deps, { ...REF, pass: 1, part: 2, rows });
    });
  const records = async (): Promise<readonly PartRecord[]> => parsePart((await store.read(PART)) ?? '');

  it('continues the earlier one, and keeps its success unless it succeeds again', async () => {
    const earlier: PartRecord = {
      row: 7,
      outcome: 'succeeded',
      attempts: [
        { attempt: 1, outcome: 'succeeded', run_id: 'old', gpu_used: 'L4', run_seconds: 2, cost_usd: 1 },
      ],
      files: [{ path: 'outputs/k7.png', bytes: 1, sha256: '00', name: 'one.bin' }],
    };
    await store.write('parts/0001-000001.jsonl', `${JSON.stringify(earlier)}\n`);
    const readRows: NonNullable<Given['readRows']> = async (_, places) =>
      new Map(
        places.map((place) => [
          place,
          {
            row: 7,
            key: 'k7',
            inputs: {},
            gpu: 'T4',
            before: '0001-000001.jsonl',
            change: { set: { a: 1 } },
          },
        ]),
      );
    const absent: EndedRow = { place: 5_001, attempts: [{ attempt: 1, outcome: 'absent' }] };
    const kept = await write([absent], readRows);
    expect(kept).toMatchObject({ again: 1, tally: { outcomes: { succeeded: 0, cancelled: 0 }, gpus: {} } });
    expect(await records()).toMatchObject([
      {
        row: 7,
        place: 5_001,
        outcome: 'succeeded',
        files: earlier.files,
        attempts: [{ attempt: 1 }, { attempt: 2, outcome: 'absent' }],
        before: { outcome: 'succeeded', attempts: 1 },
      },
    ]);
    // Its inputs and its GPU are those of the run that led to its outcome.
    expect((await records())[0]).not.toHaveProperty('change');
    expect((await records())[0]).not.toHaveProperty('gpu_asked');
    rmSync(join(folder, PART));
    const failed: EndedRow = { place: 5_001, attempts: [{ attempt: 1, outcome: 'failed', runId: 'new' }] };
    const again = await write([failed], readRows);
    expect(again.tally.outcomes).toMatchObject({ succeeded: 0, failed: 0 });
    expect(await records()).toMatchObject([
      {
        row: 7,
        outcome: 'succeeded',
        reason: 'sent again: failed; the earlier result is kept',
        attempts: [{}, { attempt: 2, outcome: 'failed', run_id: 'new' }],
        result_attempt: 1,
        files: earlier.files,
      },
    ]);
    expect((await records())[0]).not.toHaveProperty('change');
  });
});
