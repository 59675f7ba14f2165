// The kinds that the run service stores in its database.

import fc from 'fast-check';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  openDatabase,
  type Database,
  type NewRun,
  type RunRow,
  type ServerRow,
  type UploadRow,
} from '../../src/run-service/database.ts';
import {
  keptState,
  stateIn,
  type RunState,
  type StoredFile,
  type StoredOutput,
} from '../../src/run-service/executors/driving/assigned-run.ts';
import type { Graph, MadeOutput, NodeClass } from '../../src/run-service/executors/backend.ts';
import { filledGraph, NO_FILES } from '../../src/run-service/executors/workflow/filled-workflow.ts';
import { faultsOf, workflowOf, type Workflow } from '../../src/run-service/executors/workflow/workflow.ts';
import { inputRefusals } from '../../src/run-service/executors/workflow/input-refusals.ts';
import { keptTask, restoredTask } from '../../src/run-service/executors/task.ts';
import type { RunPlan } from '../../src/run-service/executors/rehearsal/planned-result.ts';
import { openStorage } from '../../src/run-service/storage.ts';
import { keptPlan, planOf } from '../../src/run-service/executors/rehearsal/rehearsal.ts';
import { STATUSES } from '../../src/service-client/contract/statuses.ts';
import { kind } from './kind.ts';
import { count, few, integer, list, ms, name, nested, recordOf, scalar, text } from './shapes.ts';

/** Writes with one service, and reads with the next one. */
export function through<T>(
  folder: string,
  write: (database: Database) => void,
  read: (database: Database) => T,
): T {
  const file = join(folder, `${randomUUID()}.db`);
  const before = openDatabase(file);
  before.together(() => write(before));
  before.close();
  const after = openDatabase(file);
  try {
    return read(after);
  } finally {
    after.close();
  }
}

const run = recordOf<NewRun>({
  id: fc.uuid(),
  deploymentId: fc.uuid(),
  inputs: fc.dictionary(name, nested, { noNullPrototype: true }).map((any) => JSON.stringify(any)),
  gpu: text,
  webhook: fc.option(text),
  intermediate: fc.constantFrom(0, 1),
  createdMs: ms,
  owner: text,
  faults: text,
  servers: text,
  timeLimitMs: fc.option(count),
});

const SOME_RUN: NewRun = {
  id: 'r',
  deploymentId: 'd',
  inputs: '{}',
  gpu: 'L4',
  webhook: null,
  intermediate: 0,
  createdMs: 1,
  owner: 'ann',
  faults: '',
  servers: '',
  timeLimitMs: null,
};
type RunProgress = {
  readonly [
    Field in 'containerId' | 'queuedMs' | 'startedMs' | 'endedMs' | 'updatedMs' | 'lostMs' | 'status'
  ]: NonNullable<RunRow[Field]>;
};

type KeptUpload = Omit<UploadRow, 'bytes'> & { readonly bytes: Uint8Array };

const logLine = recordOf<RunState['lines'][number]>({
  atMs: ms,
  level: fc.constantFrom('info', 'error', 'webhook'),
  message: text,
});
const made = recordOf<MadeOutput>({
  node: name,
  key: text,
  files: list(
    recordOf<MadeOutput['files'][number]>(
      { filename: text, subfolder: text, type: text, asset: text, path: text },
      ['asset', 'path'],
    ),
  ),
  texts: list(text),
});
const state = recordOf<RunState>(
  {
    server: text,
    isSent: fc.boolean(),
    deaths: few,
    losses: few,
    placedMs: ms,
    askedMs: ms,
    account: text,
    price: fc.constantFrom({ per: 'told' as const }, { per: 'run' as const, nano: 7 }),
    tries: count,
    ref: text,
    left: list(text),
    startedMs: ms,
    unknownSinceMs: ms,
    notPutAt: list(text),
    made: recordOf<NonNullable<RunState['made']>>(
      { outputs: list(made), ranMs: count, costNano: count, atMs: ms },
      ['ranMs', 'costNano'],
    ),
    costNano: count,
    outputs: list(
      recordOf<StoredOutput>({
        node: name,
        key: text,
        files: list(recordOf<StoredFile>({ filename: text, path: text, type: text, bytes: count })),
        texts: list(text),
      }),
    ),
    lines: list(logLine),
  },
  [
    'losses',
    'placedMs',
    'askedMs',
    'account',
    'price',
    'tries',
    'ref',
    'left',
    'startedMs',
    'unknownSinceMs',
    'notPutAt',
    'made',
    'costNano',
    'outputs',
  ],
);

const plan = recordOf<RunPlan>({
  queuedMs: ms,
  startsMs: ms,
  runMs: count,
  endsMs: ms,
  ending: fc.constantFrom('success', 'failed', 'timeout', 'preempted', 'silent'),
  outputs: few,
});

const server = recordOf<ServerRow>({
  url: text,
  kind: fc.constantFrom('comfyui', 'comfy-api'),
  gpu: fc.option(text),
  headersFile: fc.option(text),
  seats: fc.option(count),
});

const bound = fc.oneof(
  integer.map((any) => JSON.stringify(any)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const classInput = recordOf<NodeClass['inputs'][string]>(
  {
    type: fc.constantFrom('INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO', 'IMAGE'),
    default: nested,
    min: bound,
    max: bound,
    options: list(text),
    isRequired: fc.boolean(),
    isFile: fc.boolean(),
    upload: fc.constantFrom('image', 'video', 'audio', 'file'),
  },
  ['default', 'min', 'max', 'options', 'isRequired', 'upload'],
);
const CLASSES = ['Draw', 'Sampler', 'SaveImage'];
const classes = fc
  .tuple(
    ...CLASSES.map(() =>
      recordOf<NodeClass>(
        {
          inputs: fc.dictionary(name, classInput, { maxKeys: 4, noNullPrototype: true }),
          displayName: text,
          outputs: list(fc.record({ name: text, type: text })),
          isOutput: fc.constant(true),
          isPaid: fc.boolean(),
        },
        ['displayName', 'outputs'],
      ),
    ),
  )
  .map((ports) => new Map(ports.map((port, at) => [CLASSES[at] ?? '', port])));

const graph: fc.Arbitrary<Graph> = fc.dictionary(
  fc.constantFrom('3', '12', '7:1'),
  fc.record({
    class_type: fc.constantFrom(...CLASSES),
    inputs: fc.dictionary(fc.oneof(name, fc.constant('filename_prefix')), fc.oneof(scalar, nested), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    _meta: fc.record({ title: text }, { requiredKeys: [] }),
  }),
  { minKeys: 1, maxKeys: 3, noNullPrototype: true },
);

/** A workflow of any graph that the server would take, with names of the user. */
const workflow = fc
  .tuple(text, graph, fc.option(classes, { nil: undefined }), fc.nat({ max: 1e6 }))
  .filter(([, nodes, nodeClasses]) => faultsOf(nodes, nodeClasses).length === 0)
  .map(([title, nodes, nodeClasses, runTimeoutSeconds]) => ({
    ...workflowOf(title, nodes, nodeClasses),
    runTimeoutSeconds,
  }));

export const REQUESTS = fc.sample(
  fc.dictionary(fc.constantFrom('3.seed', '3.prompt', 'prompt', '12.größe', '7:1.prompt'), scalar),
  { numRuns: 40, seed: 7 },
);

/** The refusals of a workflow and the requests that it sends: as texts, with every digit. */
function answersOf(subject: Workflow): readonly unknown[] {
  const usualInputs = subject.inputs.map(({ name: input, default: usual }) => ({ [input]: usual }));
  return [...REQUESTS, ...usualInputs].map((request) => [
    JSON.stringify(inputRefusals(subject, request)),
    JSON.stringify(filledGraph(subject, request, { id: 'r', day: '2026-11-29' }, NO_FILES)),
  ]);
}

export const SERVICE_KINDS = [
  kind<NewRun>({
    name: 'run',
    made: run,
    restored: (original, folder) =>
      through(
        folder,
        (database) => database.insert(original),
        (database) => {
          const { id, deploymentId, inputs, gpu, webhook, intermediate, createdMs, ...own } =
            database.find(original.id) ?? original;
          const { owner, faults, servers, timeLimitMs } = own;
          const request = { inputs, gpu, webhook, intermediate, servers, timeLimitMs };
          return { id, deploymentId, ...request, createdMs, owner, faults };
        },
      ),
  }),
  kind<RunProgress>({
    name: 'progress of a run',
    made: fc.record({
      containerId: text,
      queuedMs: ms,
      startedMs: ms,
      endedMs: ms,
      updatedMs: ms,
      lostMs: fc.nat(),
      status: fc.constantFrom(...STATUSES),
    }),
    restored: (original, folder) =>
      through(
        folder,
        (database) => {
          database.insert({ ...SOME_RUN, id: 'r' });
          database.lost(1, original.lostMs, true, true);
          const { containerId: place, queuedMs, updatedMs } = original;
          database.took(1, { place, state: '{}', atMs: updatedMs, queuedMs, gpu: 'L4' });
          database.reached(1, 'started', updatedMs, original.startedMs);
          database.ended(1, original.status, original.endedMs, updatedMs);
        },
        (database) => {
          const { containerId, queuedMs, startedMs, endedMs, updatedMs, lostMs, lostRuns, status } =
            database.find('r') as RunRow;
          if (lostRuns !== 1) throw new Error(`it was executed in vain ${lostRuns} times`);
          return { containerId, queuedMs, startedMs, endedMs, updatedMs, lostMs, status } as RunProgress;
        },
      ),
  }),
  kind<RunState>({
    name: 'run.state of own GPUs',
    made: state,
    restored: (original, folder) =>
      through(
        folder,
        (database) => {
          database.insert({ ...SOME_RUN, id: 'r' });
          database.keep(1, keptState(original));
        },
        (database) => stateIn(database.find('r')?.state ?? null) as RunState,
      ),
  }),
  kind<RunPlan>({
    name: 'run.state of the simulation',
    made: plan,
    restored: (original) => planOf(keptPlan(original)) as RunPlan,
  }),
  kind<ServerRow>({
    name: 'server',
    made: server,
    restored: (original, folder) =>
      through(
        folder,
        (database) => database.keepServer(original),
        (database) => ({ ...database.servers()[0] }) as ServerRow,
      ),
  }),
  kind<readonly [string, string]>({
    name: 'other address of a server',
    made: fc.tuple(text, text),
    restored: ([address, url], folder) =>
      through(
        folder,
        (database) => database.nameServer(address, url),
        (database) => [...database.serverNames()][0] ?? ['', ''],
      ),
  }),
  kind<Workflow>({
    name: 'workflow',
    made: workflow,
    restored: (original, folder) =>
      through(
        folder,
        (database) => database.keepWorkflow(original.id, keptTask(original)),
        (database) => restoredTask(database.workflows()[0] ?? '') as Workflow,
      ),
    behaves: answersOf,
  }),
  kind<{
    readonly atMs: number;
    readonly method: string;
    readonly outcome: string;
    readonly tookMs: number;
    readonly body: string;
  }>({
    name: 'delivery',
    made: fc.record({ atMs: ms, method: text, outcome: text, tookMs: count, body: text }),
    restored: (original, folder) =>
      through(
        folder,
        (database) => database.delivered([{ ...original, run: 1 }]),
        (database) => {
          const [{ atMs, method, outcome, tookMs, body } = original] = database.deliveriesOf(1);
          return { atMs, method, outcome, tookMs, body };
        },
      ),
  }),
  kind<KeptUpload>({
    name: 'upload',
    made: fc.record({
      id: fc.uuid(),
      owner: text,
      name: text,
      type: text,
      uploadedMs: ms,
      bytes: fc.uint8Array(),
    }),
    restored: async ({ bytes, ...upload }, folder) => {
      const at = { database: join(folder, 'runs.db'), ownerUploadBytes: 1_000 };
      const before = openStorage(at);
      await before.uploads.store(upload, Readable.from([bytes]), 1_000);
      before.close();
      const after = openStorage(at);
      const { bytes: length, ...row } = after.uploads.find(upload.id) as UploadRow;
      const content = await after.uploads.open(upload.id);
      const again = content === undefined ? Buffer.of() : await buffer(content);
      after.close();
      if (length !== again.length) throw new Error(`it has ${length} bytes, and its file ${again.length}`);
      return { ...row, bytes: Uint8Array.from(again) };
    },
  }),
  kind<null>({
    name: 'id of the service',
    made: fc.constant(null),
    runs: 1,
    restored: (_, folder) => {
      const idOf = (): string => {
        const database = openDatabase(join(folder, 'runs.db'));
        database.close();
        return database.id;
      };
      const [first, second] = [idOf(), idOf()];
      if (first === '' || first !== second) throw new Error(`it is ${first}, and then ${second}`);
      return null;
    },
  }),
];
