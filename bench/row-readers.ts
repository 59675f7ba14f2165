// Every reader that visits all rows of a batch. As a program, it measures one of them: `row-readers.ts <reader> <folder>
// <batch>`.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import type { Deps } from '../activities/deps.ts';
import { finalizeBatch } from '../activities/finalize-batch.ts';
import { KnownRuns } from '../src/audit/known-runs.ts';
import { rebuild } from '../src/audit/rebuild.ts';
import { recount } from '../src/audit/verify.ts';
import { NO_LEDGER } from '../src/batch/accounting/request-ledger.ts';
import { begin } from '../src/batch/state/state.ts';
import { progress } from '../src/batch/shown/progress.ts';
import { closedSnapshot } from '../src/batch/state/snapshot.ts';
import { WRITES } from '../src/batch/behaviour-version.ts';
import { candidates } from '../src/batches/append/add-pass.ts';
import { findOverlap, rowsIn } from '../src/batches/reuse/overlap.ts';
import { readStanding } from '../src/batches/standing-rows.ts';
import { isRunsheetError } from '../src/errors/error.ts';
import { rowOf, rowsOf } from '../src/results/batch-rows.ts';
import { cacheRows } from '../src/sheet/placed-rows.ts';
import { layoutOf, paramsOf, readBatchFile, type BatchFile } from '../src/store/batch-file.ts';
import { folderStore } from '../src/store/folder.ts';
import type { Store } from '../src/store/store.ts';
import { placeIn } from '../src/batch/state/lanes.ts';
import { countsOf, type EndedBatch } from './ended-batch.ts';

export type Read = { readonly seconds: number; readonly cpuSeconds: number; readonly peakMb: number };

type ReaderInput = {
  readonly store: Store;
  readonly file: BatchFile;
  readonly batch: EndedBatch;
  readonly folder: string;
};
type Reader = (given: ReaderInput) => Promise<unknown>;

const NOW = Date.parse('2026-11-21T12:00:00Z');
const BACK = { agoMs: 7_200_000, wallAt: NOW, offset: { min: 0, max: 0 } };

const finalize: Reader = async ({ store, file, batch, folder }) => {
  const { outcomes, gpus, runs } = countsOf(batch);
  const pass = (batch.redrives ?? 0) + 1;
  const state = begin(paramsOf(file, { webhooks: false, lists: true, pass: 1 }), WRITES, NOW);
  const last = {
    ...progress(state),
    tally: { ...state.tally, outcomes, gpus },
    ledger: { ...NO_LEDGER, sent: runs, accepted: runs },
  };
  const deps = {
    log: pino({ level: 'silent' }),
    completion: { heartbeat: async () => undefined },
    // A service without run lists: only the folder is measured.
    open: async () => ({ store, file, service: { listRuns: async () => undefined, nowMs: () => NOW } }),
  } as unknown as Deps;
  const times = { startedAt: NOW - 1_000, endedAt: NOW, evidence: [], isEvidenceLost: false, back: BACK };
  const logFields = { log: [], logNumber: 1, throughPass: pass, closed: closedSnapshot(state) };
  const input = { batch: file.batch, mark: file.mark, folder, progress: last, ...times, ...logFields };
  await new MockActivityEnvironment().run(() => finalizeBatch(deps, input));
};

const walk: Reader = async ({ store, file }) => {
  let rowCount = 0;
  for await (const { record } of rowsOf(store, file)) if (record !== undefined) rowCount += 1;
  if (rowCount !== file.sheet.rows) throw new Error(`${rowCount} rows of ${file.sheet.rows}`);
};

const rebuilt: Reader = ({ store, file, batch }) => {
  return rebuild({
    store,
    file,
    service: { listRuns: async () => [], nowMs: () => NOW },
    back: BACK,
    pass: (batch.redrives ?? 0) + 2,
    now: NOW,
  }).catch((error: unknown) => {
    // The list shows none of its runs; the folder was read before.
    if (!isRunsheetError(error, 'E511')) throw error;
  });
};

/** The rows of a new batch that are all in this one. */
const overlap: Reader = async ({ store, file, folder }) => {
  const layout = layoutOf(store, file);
  const otherBatch = { batch: basename(folder), folder, file, store };
  (await findOverlap([otherBatch], rowsIn({ file: { ...file, batch: 'c' }, layout })))[Symbol.dispose]();
};

const sent: Reader = async ({ store, file }) => {
  const read = cacheRows(32);
  const layout = layoutOf(store, file);
  const sheet = { rows: file.sheet.rows, isQueued: file.sheet.isQueued };
  for (const [lane, { places }] of file.sheet.lanes.entries())
    for (let at = 1; at <= places; at += 32) {
      const numbers = Array.from({ length: Math.min(32, places - at + 1) }, (_, n) => placeIn(lane, at + n));
      const { size } = await read(layout, sheet, numbers);
      if (size !== numbers.length) throw new Error(`${size} rows at ${numbers.length} places`);
    }
};

/** In this order: what comes after `finalize` needs a batch that has ended. */
export const READERS: Readonly<Record<string, Reader>> = {
  walk,
  finalize,
  recount: async ({ store, file }) => {
    const knownRuns = new KnownRuns();
    await recount(store, file, { files: false, known: knownRuns });
  },
  rebuild: rebuilt,
  overlap,
  candidates: ({ store, file }) => candidates({ store, file }, { isWanted: () => true, by: 'ada' }),
  standing: ({ store, file }) => readStanding({ store, file }),
  'one row': ({ store, file }) => rowOf(store, file, Math.ceil(file.sheet.rows / 2)),
  send: sent,
};

if (import.meta.main) {
  const [name = '', folder = '', batch = ''] = process.argv.slice(2);
  const store = folderStore(folder);
  const file = await readBatchFile(store);
  const reader = READERS[name];
  if (file === undefined || reader === undefined) throw new Error(`no batch or no reader ${name}`);
  const idle = process.memoryUsage().rss;
  const before = process.cpuUsage();
  const began = performance.now();
  await reader({ store, file, folder, batch: JSON.parse(batch) as EndedBatch });
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  const [, kb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(join('/proc/self/status'), 'utf8')) ?? [];
  console.log(
    JSON.stringify({
      seconds,
      cpuSeconds: (user + system) / 1e6,
      peakMb: Number(kb) / 1024 - idle / 1024 / 1024,
    }),
  );
}
