import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { collectRows } from '../../activities/collect-rows.ts';
import type { PartResult } from '../../src/batch/events.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { parsePart, partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { FileFault } from '../../src/host/http/download-faults.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { depsOf, downloadOf, REF, runOf, type DepsOverrides } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const PART = partName(1, 2);

describe('the record of a row that was sent again', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
  });

  const write = (
    rows: readonly EndedRow[],
    readRows: NonNullable<DepsOverrides['readRows']>,
  ): Promise<PartResult> =>
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
    const readRows: NonNullable<DepsOverrides['readRows']> = async (_, places) =>
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
    // The record has the inputs and the GPU of the run that led to its outcome.
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

  describe('whose files are fetched again', () => {
    const attempt = { outcome: 'succeeded', gpu_used: 'L4', run_seconds: 2, cost_usd: 1 } as const;
    const paid: PartRecord = {
      row: 7,
      outcome: 'failed',
      reason: 'outputs_missing: file 1 (one.bin): files answered 403',
      attempts: [
        { attempt: 1, outcome: 'failed', run_id: 'first' },
        { ...attempt, attempt: 2, run_id: 'paid' },
      ],
      files: [],
    };
    const readRows: NonNullable<DepsOverrides['readRows']> = async (_, places) =>
      new Map(
        places.map((place) => [
          place,
          { row: 7, key: 'k7', inputs: {}, before: '0001-000001.jsonl', fetch: 'paid' },
        ]),
      );
    const collect = (
      end: EndedRow['attempts'][number],
      answer: () => Uint8Array,
      isLastTry?: true,
    ): Promise<PartResult> =>
      new MockActivityEnvironment().run(() => {
        const service = { getRun: async (id: string) => runOf(id, 'success', ['http://files/1']) };
        const deps = depsOf({ store, service, readRows, download: downloadOf(answer) });
        const rows = [{ place: 5_001, attempts: [end], ...(isLastTry && { isLastTry }) }];
        return collectRows(deps, { ...REF, pass: 1, part: 2, rows });
      });
    beforeEach(() => store.write('parts/0001-000001.jsonl', `${JSON.stringify(paid)}\n`));
    const paidAttempt = { attempt: 1, outcome: 'succeeded', runId: 'paid' } as const;

    it('has them, and no second run and no second cost', async () => {
      const result = await collect(paidAttempt, () => Buffer.from('a picture'));
      expect(result).toMatchObject({
        again: 1,
        fetched: 1,
        tally: { outcomes: { succeeded: 1, failed: -1 } },
      });
      expect(result.tally.gpus).toEqual({});
      const [record] = await records();
      const before = { outcome: 'failed', attempts: 2 };
      expect(record).toMatchObject({
        row: 7,
        place: 5_001,
        outcome: 'succeeded',
        attempts: paid.attempts,
        before,
      });
      expect(record?.files).toHaveLength(1);
      expect(record).not.toHaveProperty('reason');
    });

    it.each([
      ['are refused', paidAttempt, 'outputs_missing: file 1 (one.bin): gone'],
      [
        'belong to a run that is gone',
        { attempt: 1, outcome: 'unknown', reason: 'gone' },
        'outputs_missing: gone',
      ],
      ['are not fetched', { attempt: 2, outcome: 'cancelled' }, 'outputs_missing: cancelled'],
    ] as const)('stays as it was, with the newest reason, if they %s', async (_, end, reason) => {
      const refused = (): Uint8Array => {
        throw new FileFault('gone', 1);
      };
      const result = await collect(end, refused, true);
      expect(result).toMatchObject({
        again: 1,
        fetched: 0,
        tally: { outcomes: { succeeded: 0, failed: 0, unknown: 0 } },
      });
      expect(await records()).toMatchObject([{ outcome: 'failed', reason, attempts: paid.attempts }]);
    });
  });
});
