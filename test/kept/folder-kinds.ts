// The kinds that a batch and a pipeline store in their folders.

import fc from 'fast-check';
import { MadeLog, type Creation, type Entry } from '../../src/batches/batch-log.ts';
import {
  createPipeline,
  openPipeline,
  type PipelineFile,
} from '../../src/batches/pipeline/pipeline-folder.ts';
import { readWatched, writeWatched, type PlaceRange } from '../../src/batches/watched/watched-file.ts';
import { createBatchFile, readBatchFile, type BatchFile } from '../../src/store/batch-file.ts';
import type { Holder } from '../../src/store/holder.ts';
import { openStore } from '../../src/store/open-store.ts';
import {
  createContinued,
  createPass,
  readContinued,
  readPass,
  type PassFile,
} from '../../src/store/passes.ts';
import { createStarted, readStarted, type StartedFile } from '../../src/store/started.ts';
import { openWorkerNotes, readWorkerNotes } from '../../src/store/workers.ts';
import { definitionOf } from '../schedule/definition.ts';
import { FILE } from '../store/batch-facts.ts';
import { kind } from './kind.ts';
import {
  count,
  date,
  dictionary,
  few,
  hex,
  list,
  ms,
  name,
  nested,
  recordOf,
  scalar,
  share,
  text,
  yes,
} from './shapes.ts';

const least = fc.integer({ min: 1, max: 1e9 });

const batch: fc.Arbitrary<BatchFile> = fc
  .record({
    batch: text,
    mark: hex(16),
    content: text,
    madeFor: text,
    stage: dictionary(nested),
    createdAt: date,
    seed: count,
    columns: list(text),
    inputs: list(
      fc.record({
        input: name,
        kind: text,
        from: fc.oneof(fc.record({ column: text }), fc.record({ value: fc.oneof(scalar, nested) })),
      }),
    ),
    map: dictionary(text),
    set: dictionary(text),
    types: dictionary(fc.constantFrom('string', 'int', 'float', 'bool', 'json', 'file', 'files')),
    prices: dictionary(share),
    lanes: list(
      fc.record(
        { places: count, gpu: text, size: count, least: share, canary: count },
        { requiredKeys: ['places'] },
      ),
    ),
    deployment: fc.record(
      { id: text, name: text, gpu: text, concurrencyLimit: count },
      { requiredKeys: ['id'] },
    ),
    rehearsal: fc.boolean(),
  })
  .map(({ columns, inputs: fed, map, set, types, lanes, prices, deployment, rehearsal, ...more }) => ({
    ...FILE,
    ...more,
    deployment,
    sheet: {
      ...FILE.sheet,
      columns,
      inputs: fed,
      lanes,
      options: { format: 'csv', map, set, drop: [...columns], types },
    },
    service: { ...FILE.service, prices, rehearsal },
  }));

const holder = recordOf<Holder>(
  {
    kind: fc.constantFrom('embedded', 'cluster'),
    home: text,
    address: text,
    namespace: text,
    host: text,
    pid: count,
    version: text,
  },
  ['home', 'address', 'namespace'],
);
const workflow = fc.record({ workflowId: text, runId: text });
const started = recordOf<StartedFile>(
  {
    at: date,
    serviceNowMs: ms,
    workflow,
    holder,
    rebuilding: fc.record({
      id: text,
      holder,
      since: fc.array(fc.record({ host: text, now: ms, serviceNow: ms }), { maxLength: 3 }),
    }),
    rebuiltPass: least,
    takenBack: text,
  },
  ['serviceNowMs', 'holder', 'rebuilding', 'rebuiltPass', 'takenBack'],
);
const passFile = recordOf<PassFile>(
  {
    at: date,
    kind: fc.constantFrom('recover', 'retry', 'append'),
    by: text,
    reason: text,
    isChanged: yes,
    appended: fc.record({ folder: text, rows: least }),
    segments: list(
      recordOf<PassFile['segments'][number]>(
        { lane: few, gpu: text, first: least, count: least, isNew: yes },
        ['gpu', 'isNew'],
      ),
    ),
  },
  ['by', 'reason', 'isChanged', 'appended'],
);

const watched = fc.record({
  sheet: text,
  deployment: text,
  rows: fc.dictionary(least.map(String), hex(64), { noNullPrototype: true }),
  places: list(recordOf<PlaceRange>({ lane: few, first: least, count: least })),
});
const { request } = definitionOf({});
const pipeline = recordOf<PipelineFile>(
  {
    pipeline: fc.constant('poster'),
    stages: fc.array(
      fc
        .record(
          {
            name: text,
            from: text,
            sheet: hex(64),
            set: dictionary(text),
            map: dictionary(text),
            deadlineMs: ms,
          },
          { requiredKeys: ['name', 'set', 'map'] },
        )
        .map(({ set, map, ...more }) => ({
          ...more,
          pick: true,
          partial: false,
          each: 'row' as const,
          reuse: 'ask' as never,
          request: { ...request, options: { ...request.options, set, map } },
        })),
      { minLength: 1, maxLength: 3 },
    ),
    command: list(text),
    mark: hex(16),
    createdAt: date,
  },
  ['command'],
);

export const FOLDER_KINDS = [
  kind<BatchFile>({
    name: 'batch.json',
    made: batch,
    restored: async (file, folder) => {
      await createBatchFile(openStore(folder), file);
      return (await readBatchFile(openStore(folder))) as BatchFile;
    },
  }),
  kind<StartedFile>({
    name: 'started.json',
    made: started,
    restored: async (file, folder) => {
      await createStarted(openStore(folder), file);
      return (await readStarted(openStore(folder))) as StartedFile;
    },
  }),
  kind<PassFile>({
    name: 'pass',
    made: passFile,
    restored: async (file, folder) => {
      await createPass(openStore(folder), 2, file);
      return readPass(openStore(folder), 2);
    },
  }),
  kind<Creation>({
    name: 'entry of the log',
    made: fc.record({
      mark: hex(16),
      batch: fc.constantFrom('portraits', 'posters-7f3a'),
      file: fc.constantFrom('batch.json', 'passes/00002.json'),
      text: fc.string(),
    }),
    restored: async (creation, folder) => {
      const checkFree = async () => true;
      await new MadeLog(folder).commit(0, creation, { checkFree, isOvertaken: async () => false });
      const entries: Entry[] = [];
      const isOvertaken = async (chain: readonly (Entry | undefined)[]) =>
        chain.every((entry) => entry && entries.push(entry));
      await new MadeLog(folder).commit(0, creation, { checkFree, isOvertaken });
      const [{ id: _, ...entry }] = entries as [Entry];
      return entry;
    },
  }),
  kind<StartedFile['workflow']>({
    name: 'continued pass',
    made: workflow,
    restored: async (run, folder) => {
      await createContinued(openStore(folder), 2, run);
      return (await readContinued(openStore(folder), 2)) as StartedFile['workflow'];
    },
  }),
  kind<Holder>({
    name: 'worker note',
    made: holder,
    restored: async (note, folder) => {
      await openWorkerNotes(note)(openStore(folder));
      return (await readWorkerNotes(openStore(folder)))[0]?.holder as Holder;
    },
  }),
  kind<Parameters<typeof writeWatched>[1]>({
    name: 'watched.json',
    made: watched,
    restored: async (file, folder) => {
      await writeWatched(openStore(folder), file);
      return (await readWatched(openStore(folder))) as Parameters<typeof writeWatched>[1];
    },
  }),
  kind<PipelineFile>({
    name: 'pipeline.json',
    made: pipeline,
    restored: async (file, folder) => {
      await createPipeline(openStore(`${folder}/${file.pipeline}`), file);
      return (await openPipeline(folder, file.pipeline))?.file as PipelineFile;
    },
  }),
];
