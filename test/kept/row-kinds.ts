// The kinds that a batch stores for its rows.

import fc from 'fast-check';
import { keptEvidence } from '../../activities/finalize-batch.ts';
import type { BatchEvent } from '../../src/batch/events.ts';
import { OUTCOMES, type AttemptRun } from '../../src/batch/outcome.ts';
import { readEvents, writeEvents } from '../../src/results/all-events.ts';
import { sealOf, sealParts, type PartNumber } from '../../src/results/parts-seal.ts';
import { parsePart, partName } from '../../src/results/parts.ts';
import type { AttemptRecord, FileRecord, PartRecord } from '../../src/results/row-record.ts';
import { openDuplicates, readDuplicates, type DuplicateRun } from '../../src/results/duplicates-file.ts';
import { readLatestSummary, writeSummary, type Summary } from '../../src/results/summary.ts';
import type { InputChange } from '../../src/sheet/input-change.ts';
import { PageWriter, readPage, rowLine, type SheetRow } from '../../src/sheet/pages.ts';
import { laneWriter, readQueuePage, type Queued } from '../../src/sheet/placed-rows.ts';
import { evidenceName } from '../../src/store/batch-file.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createStarted } from '../../src/store/started.ts';
import { jsonLines } from '../../src/store/pieces.ts';
import { kind } from './kind.ts';
import {
  count,
  date,
  dictionary,
  few,
  hex,
  inputs,
  list,
  ms,
  name,
  recordOf,
  share,
  text,
  yes,
} from './shapes.ts';

const least = fc.integer({ min: 1, max: 1e9 });
const outcome = fc.constantFrom(...OUTCOMES);

const row = recordOf<SheetRow>(
  { row: fc.constant(1), key: text, gpu: text, inputs, name: text, refused: text },
  ['gpu', 'name', 'refused'],
);
const change = recordOf<InputChange>({ set: inputs, unset: list(name) }, ['unset']);
const queued = recordOf<Queued>({ row: least, gpu: text, before: text, fetch: text, change, in: text }, [
  'gpu',
  'before',
  'fetch',
  'change',
  'in',
]);

const attempt = recordOf<AttemptRecord>(
  {
    attempt: least,
    outcome: fc.constantFrom(...OUTCOMES, 'absent'),
    reason: text,
    failure: fc.constantFrom('out-of-memory', 'unknown'),
    run_id: text,
    gpu_asked: text,
    gpu_used: text,
    climbed: yes,
    created_at: date,
    ended_at: date,
    queue_seconds: share,
    cold_start_seconds: share,
    run_seconds: share,
    lost_executions: least,
    lost_seconds: share,
    cost_usd: share,
    cost_incomplete: yes,
  },
  [
    'reason',
    'failure',
    'run_id',
    'gpu_asked',
    'gpu_used',
    'climbed',
    'created_at',
    'ended_at',
    'queue_seconds',
    'cold_start_seconds',
    'run_seconds',
    'lost_executions',
    'lost_seconds',
    'cost_usd',
    'cost_incomplete',
  ],
);
const part = recordOf<PartRecord>(
  {
    row: least,
    place: least,
    gpu_asked: text,
    change,
    before: fc.record({ outcome, attempts: few }),
    outcome,
    reason: text,
    attempts: list(attempt),
    result_attempt: few,
    files: list(
      recordOf<FileRecord>(
        { path: text, bytes: count, sha256: hex(64), name: text, node: text, title: text },
        ['node', 'title'],
      ),
    ),
    texts: list(text),
    reused_from: text,
  },
  ['place', 'gpu_asked', 'change', 'before', 'reason', 'result_attempt', 'texts', 'reused_from'],
);

const attemptRun = recordOf<AttemptRun>({ place: least, attempt: least, runId: text });
const duplicate = recordOf<DuplicateRun>(
  { row: least, attempt: least, run_id: text, status: text, gpu: text, gpu_seconds: share, cost_usd: share },
  ['gpu', 'cost_usd'],
);
/** The other fields are numbers. */
const summary = fc
  .record({
    batch: text,
    deployment: text,
    started_at: date,
    ended_at: date,
    gpus: dictionary(fc.record({ runs: count, seconds: share })),
  })
  .map(
    (more) =>
      ({
        ...more,
        pass: 1,
        outcomes: {},
        requests: {},
        duplicates: { runs: 0, gpu_seconds: 0, first: [] },
      }) as unknown as Summary,
  );

/** The sealed parts of three passes. */
const SEALED: readonly PartNumber[] = [1, 2, 3].flatMap((of) =>
  [1, 2, 3, 4, 5].map((number) => ({ pass: of, part: number })),
);

/** The only thing in a list. */
async function first<T>(values: AsyncIterable<T>): Promise<T> {
  for await (const value of values) return value;
  throw new Error('there is none');
}

export const ROW_KINDS = [
  kind<SheetRow>({
    name: 'row of a page',
    made: row,
    restored: async ({ row: number, key, gpu, inputs: own, name: file, refused }, folder) => {
      const pages = new PageWriter(openStore(folder));
      await pages.add(rowLine(number, key, gpu, JSON.stringify(own), { name: file, refused }));
      await pages.end();
      return (await readPage(openStore(folder), 1))[0] as SheetRow;
    },
    // A number beyond 2^53 comes back with its digits: what is sent is the same text.
    behaves: (original) => JSON.stringify(original.inputs),
  }),
  kind<Queued>({
    name: 'place of a queue',
    made: queued,
    restored: async (place, folder) => {
      const lane = laneWriter(openStore(folder), 0);
      await lane.add(place);
      await lane.end();
      return (await readQueuePage(openStore(folder), 1)).value[0] as Queued;
    },
  }),
  kind<PartRecord>({
    name: 'record of a part',
    made: part,
    restored: async (record, folder) => {
      await openStore(folder).create(partName(1, 1), jsonLines([record]));
      return parsePart((await openStore(folder).read(partName(1, 1))) ?? '')[0] as PartRecord;
    },
  }),
  kind<readonly PartNumber[]>({
    name: 'seal of parts',
    made: fc.subarray([...SEALED]),
    restored: async (parts, folder) => {
      await sealParts(openStore(folder), 4, parts);
      // In force for the execution that has the batch.
      const workflow = { workflowId: 'w', runId: 'r' };
      await createStarted(openStore(folder), { at: new Date(0).toISOString(), workflow, rebuiltPass: 4 });
      return SEALED.filter(await sealOf(openStore(folder)));
    },
  }),
  kind<BatchEvent>({
    name: 'event',
    made: fc.record(
      { at: ms, event: fc.constant('resumed'), by: text, reason: text, note: text },
      { requiredKeys: ['at', 'event'] },
    ),
    restored: async (event, folder) => {
      await writeEvents(openStore(folder), 1, [event]);
      return first(readEvents(openStore(folder)));
    },
  }),
  kind<AttemptRun>({
    name: 'evidence',
    made: attemptRun,
    restored: async (run, folder) => {
      await openStore(folder).write(evidenceName(1), jsonLines([run]));
      return first(keptEvidence(openStore(folder), []));
    },
  }),
  kind<Summary>({
    name: 'summary.json',
    made: summary,
    restored: async (kept, folder) => {
      await writeSummary(openStore(folder), kept);
      return (await readLatestSummary(openStore(folder))) as Summary;
    },
  }),
  kind<DuplicateRun>({
    name: 'duplicate',
    made: duplicate,
    restored: async (run, folder) => {
      const draft = await openDuplicates(openStore(folder));
      await draft.add(run);
      await draft.commit();
      return first(readDuplicates(openStore(folder)));
    },
  }),
];
