// A finished batch, counted again from its folder and from the service's lists.

import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readLast } from '../../src/audit/duplicate-runs.ts';
import { KnownRuns } from '../../src/audit/known-runs.ts';
import {
  findings,
  recount,
  reportedDuplicates,
  type Finding,
  type ListsNow,
} from '../../src/audit/verify.ts';
import { NO_LEDGER, type RequestLedger } from '../../src/batch/accounting/request-ledger.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { begin } from '../../src/batch/state/state.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { summaryOf, type LastReading, type Summary } from '../../src/results/summary.ts';
import { openDuplicates } from '../../src/results/duplicates-file.ts';
import { partName } from '../../src/results/parts.ts';
import { type FileRecord, type PartRecord } from '../../src/results/row-record.ts';
import { tallyChange } from '../../src/results/tally-rows.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { HTML, PNG } from '../results/outputs.ts';
import { BACK, FILE, idOf, listing, runOf, strangersRuns, type ListingOptions } from './lists.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const PICTURE = 'a picture';
const ROWS = FILE.sheet.rows;
const file: FileRecord = {
  path: 'outputs/1/one.bin',
  bytes: PICTURE.length,
  sha256: createHash('sha256').update(PICTURE).digest('hex'),
  name: 'one.bin',
};
const recordOf = (row: number, files: readonly FileRecord[] = []): PartRecord => ({
  row,
  outcome: 'succeeded',
  attempts: [
    {
      attempt: 1,
      outcome: 'succeeded',
      run_id: idOf(row),
      gpu_used: 'L4',
      cold_start_seconds: 1,
      run_seconds: 3,
    },
  ],
  files,
});
const RECORDS = Array.from({ length: ROWS }, (_, at) => recordOf(at + 1, at === 0 ? [file] : []));
const OWN = RECORDS.map(({ row }) => runOf({ place: row }));
const DUPLICATE = runOf({ place: 2, id: 'aaaa' });
const LEDGER = { ...NO_LEDGER, sent: ROWS, accepted: ROWS };

describe('a finished batch', () => {
  let folder = '';
  let store: Store;
  beforeEach(async () => {
    folder = freshFolder();
    store = folderStore(folder);
    const lines = RECORDS.map(({ row }) => rowLine(row, `k${row}`, undefined, '{}'));
    await layoutOf(store, FILE).write(pageName(1), lines.join(''));
    await writePart(1, 1, ...RECORDS);
    await store.write(file.path, PICTURE);
  });

  const writePart = (pass: number, part: number, ...records: readonly PartRecord[]): Promise<void> =>
    store.write(partName(pass, part), records.map((record) => `${JSON.stringify(record)}\n`).join(''));

  /** The duplicates that the batch found when it ended. */
  async function report(...runs: readonly Run[]): Promise<LastReading['duplicates']> {
    const first = runs.map(({ id }) => ({
      row: 2,
      attempt: 1,
      run_id: id,
      status: 'success',
      gpu_seconds: 4,
      cost_usd: 8,
    }));
    const draft = await openDuplicates(store);
    for (const duplicate of first) await draft.add(duplicate);
    await draft.commit();
    return { runs: runs.length, gpu_seconds: runs.length * 4, cost_usd: runs.length * 8, first };
  }

  type SummaryParts = { readonly ledger?: RequestLedger; readonly duplicates?: LastReading['duplicates'] };
  function summaryWith({ ledger = LEDGER, duplicates }: SummaryParts = {}): Summary {
    const none = { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] };
    const last = {
      ...progress(begin(paramsOf({ rows: ROWS }), WRITES, 1_000)),
      ledger,
      tally: tallyChange(RECORDS),
    };
    const reading = { lists: 'complete', duplicates: duplicates ?? none } as const;
    const ended = {
      startedAt: 1_000,
      endedAt: 2_000,
      reading,
      isEvidenceLost: false,
      throughPass: 1,
      idle: [],
    };
    return summaryOf(FILE, last, ended);
  }

  /** The findings that do not hold, as the command would report them. */
  async function wrong(
    summary: Summary,
    runs?: readonly Run[],
    options: ListingOptions = {},
    from = store,
  ): Promise<readonly Finding[]> {
    const knownRuns = new KnownRuns();
    const counted = await recount(from, FILE, { files: true, known: knownRuns });
    const lists = runs && (await listsOf([...runs], knownRuns, options));
    return findings(summary, counted, lists).filter(({ holds }) => !holds);
  }

  async function listsOf(runs: Run[], knownRuns: KnownRuns, options: ListingOptions): Promise<ListsNow> {
    const reported = new KnownRuns();
    await reportedDuplicates(store, reported);
    const hidden: string[] = [];
    const reading = await readLast({
      isAccounted: true,
      nameOf: ({ place, attempt }) => Promise.resolve({ row: place, attempt }),
      file: FILE,
      service: { ...listing(runs, options), getRun: forbidden, cancelRun: forbidden },
      known: knownRuns,
      back: BACK,
      evidence: (async function* () {})(),
      tries: 1,
      onDuplicate: async ({ run_id }) => {
        if (!reported.has(run_id)) hidden.push(run_id);
      },
    });
    return { reading, hidden };
  }
  const forbidden = (): never => {
    throw new Error('only the lists are read');
  };

  it('adds up from its folder alone', async () => {
    expect(await wrong(summaryWith())).toEqual([]);
  });

  it.each([7, 100])(
    'adds up with the lists of the service, %i runs a page, among strangers’ runs',
    async (most) => {
      const runs = OWN.flatMap((run) => [...strangersRuns(20), run]);
      expect(await wrong(summaryWith(), runs, { most })).toEqual([]);
    },
  );

  it('names a file that has grown, and does not read it to its end', async () => {
    await store.write(file.path, PICTURE.padEnd(1 << 20, 'x'));
    let read = 0;
    const open: Store['open'] = (name) => {
      const stream = store.open(name);
      if (name === file.path) stream.on('data', (chunk: Buffer) => (read += chunk.byteLength));
      return stream;
    };
    expect(await wrong(summaryWith(), undefined, {}, { ...store, open })).toMatchObject([
      { claim: '1 files match what was delivered', message: 'wrong: outputs/1/one.bin (changed)' },
    ]);
    expect(read).toBeLessThan(1 << 18);
  });

  it('adds up with duplicates, if it has reported each of them', async () => {
    const duplicates = await report(DUPLICATE);
    expect(await wrong(summaryWith({ duplicates }), [...OWN, DUPLICATE])).toEqual([]);
  });

  it('hides no duplicate: one that it has not reported is named', async () => {
    const duplicates = await report(DUPLICATE);
    const hidden = runOf({ place: 3, attempt: 2, id: 'bbbb' });
    expect(await wrong(summaryWith({ duplicates }), [...OWN, DUPLICATE, hidden])).toEqual([
      { claim: 'runs that no row names are reported', holds: false, message: 'not bbbb' },
    ]);
  });

  it('is not believed with a duplicate that duplicates.jsonl does not name', async () => {
    const duplicates = await report(DUPLICATE);
    rmSync(join(folder, 'duplicates.jsonl'));
    expect((await wrong(summaryWith({ duplicates }))).map(({ claim, message }) => [claim, message])).toEqual([
      ['duplicate runs that are named', '1 expected, 0 found'],
      ['estimated cost with duplicate runs', '$8.000000 expected, $0.000000 found'],
    ]);
  });

  it.each<readonly [string, Partial<Summary>]>([
    ['estimated cost of the rows', { cost_usd: 0.000_004 }],
    ['estimated cost with duplicate runs', { total_cost_usd: 8.000_004 }],
  ])('is not believed with another %s', async (claim, costs) => {
    const duplicates = await report(DUPLICATE);
    const faults = await wrong({ ...summaryWith({ duplicates }), ...costs });
    expect(faults.map((fault) => fault.claim)).toEqual([claim]);
  });

  it('names a run of a row that the lists do not have', async () => {
    expect(await wrong(summaryWith(), OWN.slice(1))).toEqual([
      { claim: 'runs in the lists of the service', holds: false, message: '6 expected, 5 found' },
    ]);
  });

  it('is counted by the records of its latest pass', async () => {
    const failed = { attempts: [{ attempt: 1, outcome: 'failed' }], outcome: 'failed' } as const;
    await writePart(2, 1, { ...recordOf(3), ...failed });
    expect((await wrong(summaryWith(), OWN)).map(({ claim, message }) => [claim, message])).toEqual([
      ['rows succeeded', '6 expected, 5 found'],
      ['rows failed', '0 expected, 1 found'],
      ['runs that rows name', '6 expected, 5 found'],
      ['GPU seconds', '24.0 expected, 20.0 found'],
      // The run that the row named before belongs to no row now.
      ['runs that no row names are reported', `not ${idOf(3)}`],
    ]);
    await writePart(3, 1, recordOf(3));
    expect(await wrong(summaryWith(), OWN)).toEqual([]);
  });

  it.each<readonly [string, string, (path: string) => Promise<void>]>([
    ['is missing', 'missing', async (path) => rmSync(join(folder, path))],
    ['is cut', 'changed', (path) => store.write(path, PICTURE.slice(1))],
    ['is another one of the same length', 'changed', (path) => store.write(path, 'A picture')],
  ])('names a file that %s', async (_, why, spoil) => {
    await spoil(file.path);
    expect(await wrong(summaryWith())).toEqual([
      {
        claim: '1 files match what was delivered',
        holds: false,
        message: `wrong: outputs/1/one.bin (${why})`,
      },
    ]);
  });

  it.each([
    ['is empty', Buffer.of(), 'one.png', '0 bytes'],
    ['is a sign-in page', HTML, 'one.png', 'HTML instead of PNG'],
    ['is cut', PNG.subarray(0, -4), 'one.png', 'the PNG is truncated'],
    ['is of another kind', PNG, 'clip.mp4', 'PNG instead of MP4'],
  ])('names a file that was stored as it was answered, and %s', async (_, content, name, why) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    await store.write(file.path, content);
    await writePart(
      1,
      1,
      recordOf(1, [{ ...file, name, bytes: content.length, sha256 }]),
      ...RECORDS.slice(1),
    );
    expect(await wrong(summaryWith())).toEqual([
      { claim: '1 files match what was delivered', holds: false, message: `wrong: ${file.path} (${why})` },
    ]);
  });

  it.each<readonly [string, Partial<RequestLedger>, readonly string[]]>([
    ['more requests than their answers', { sent: 7 }, ['requests, each accounted for']],
    [
      'an unconfirmed request without a decision',
      { sent: 7, unconfirmed: 1 },
      ['unconfirmed requests without a decision'],
    ],
    ['a run that no row names', { sent: 7, accepted: 7 }, ['runs that rows name']],
  ])('is not believed with %s', async (_, ledger, claims) => {
    const summary = summaryWith({ ledger: { ...LEDGER, ...ledger } });
    expect((await wrong(summary)).map(({ claim }) => claim)).toEqual(claims);
  });

  it('adds up with requests that were turned away, and with unconfirmed ones that were decided', async () => {
    const ledger = {
      ...LEDGER,
      sent: 20,
      accepted: 4,
      rejected: 1,
      throttled: 4,
      blocked: 3,
      unconfirmed: 8,
      adopted: { webhook: 1, list: 1 },
      absent: 2,
      unknown: 1,
      resubmitted: 2,
      failed: 1,
    };
    expect(await wrong(summaryWith({ ledger }), OWN)).toEqual([]);
  });
});
