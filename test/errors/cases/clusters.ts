// Errors of a Temporal cluster, its workers, keys and pools.

import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '../../../src/index.ts';
import { connectClient } from '../../../src/temporal/connect.ts';
import { openWire } from '../../stage/wire.ts';
import { until } from '../../stage/stage.ts';
import type { LongGround } from '../long-ground.ts';
import type { Provocation } from '../provocation.ts';

const WORKER = { prints: /webhooks at|no receiver/ };
const KEY = '5'.repeat(64);
/** A namespace that the cases make, and which has no worker. */
const OTHER = { TEMPORAL_NAMESPACE: 'my-space' };

export const CLUSTERS: readonly Provocation<LongGround>[] = [
  {
    code: 'E402',
    name: 'Temporal has no such namespace',
    args: ['pool', 'list'],
    env: OTHER,
    leads: [0],
    mend: () => wait(3_000),
  },
  {
    code: 'E418',
    name: 'Temporal is lost while a program is connected',
    throws: async ({ stage }) => {
      const wire = await openWire(stage.environment['TEMPORAL_ADDRESS'] ?? '');
      const namespace = stage.environment['TEMPORAL_NAMESPACE'] ?? '';
      try {
        const at = { address: wire.address, namespace, from: 'the test', options: {} };
        await using connected = await connectClient(at);
        await using runsheet = await connect({ client: connected.client, store: stage.path('batches') });
        wire.cut('resets');
        return await runsheet.pools.list();
      } finally {
        await wire.close();
      }
    },
    says: /Temporal: it cannot be reached/,
    leads: [0],
  },
  {
    code: 'E407',
    name: 'a batch is encrypted with a key that is not set here',
    arrange: async (ground) => {
      ground.sheet('secret.csv');
      const env = { ...OTHER, RUNSHEET_PAYLOAD_KEY: KEY };
      await ground.stage.run(['submit', 'secret.csv', '-d', 'Porträts', '--name', 'secret', '--again'], env);
    },
    args: ['status', 'secret', '-o', 'json'],
    env: OTHER,
    says: /add that key to RUNSHEET_PAYLOAD_KEY/,
  },
  {
    code: 'E408',
    name: 'a batch was begun before there was a key',
    arrange: async (ground) => {
      ground.sheet('plain.csv');
      await ground.stage.run(['submit', 'plain.csv', '-d', 'Porträts', '--name', 'plain', '--again'], OTHER);
    },
    args: ['follow', 'plain'],
    env: { ...OTHER, RUNSHEET_PAYLOAD_KEY: KEY },
    says: /set RUNSHEET_PAYLOAD_PLAIN=read to accept it/,
  },
  {
    code: 'E403',
    name: 'no worker polls the task queue',
    args: ['doctor', '-o', 'json'],
    env: OTHER,
    leads: [WORKER],
    undo: (ground) => ground.killStarted(),
  },
  {
    code: 'E401',
    name: 'nothing listens at the address of Temporal',
    // A batch without a worker, for later.
    arrange: async (ground) => {
      ground.sheet('quiet.csv');
      await ground.stage.run(['submit', 'quiet.csv', '-d', 'Porträts', '--name', 'quiet', '--again'], OTHER);
    },
    args: ['pool', 'list'],
    env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    leads: [/temporal +.*127\.0\.0\.1:1/i],
  },
  {
    code: 'E512',
    name: 'no worker takes a command',
    args: ['pause', 'quiet', '--timeout', '1s'],
    env: OTHER,
    leads: [WORKER],
    undo: (ground) => ground.killStarted(),
  },
  {
    code: 'E543',
    name: 'no worker confirms the size of a pool',
    args: ['pool', 'set', 'gpus', '--size', '3'],
    env: OTHER,
    leads: [WORKER, 0],
    undo: (ground) => ground.killStarted(),
  },
  {
    code: 'E410',
    name: 'the workers have another key than this command',
    arrange: (ground) => ground.sheet('keyed.csv'),
    args: ['submit', 'keyed.csv', '-d', 'Porträts', '--again'],
    env: { RUNSHEET_PAYLOAD_KEY: KEY },
    says: /set the same RUNSHEET_PAYLOAD_KEY/,
  },
  {
    code: 'E412',
    name: 'a worker elsewhere generated its own webhook secret',
    args: ['worker', '--no-receiver'],
    env: { RUNSHEET_HOME: 'elsewhere', RUNSHEET_WEBHOOK_URL: 'http://127.0.0.1:1' },
    says: /set the same RUNSHEET_WEBHOOK_SECRET/,
  },
  {
    code: 'E411',
    name: 'the worker may not use a folder with a blank',
    arrange: (ground) => ground.sheet('elsewhere.csv'),
    args: ({ stage }) => [
      'run',
      'elsewhere.csv',
      '-d',
      'Porträts',
      '--again',
      '--out',
      stage.path("my friend's batches"),
    ],
    leads: [WORKER],
    undo: (ground) => ground.killStarted(),
  },
  {
    code: 'E540',
    name: 'there is no such pool',
    arrange: (ground) => ground.sheet('pooled.csv'),
    args: ['run', 'pooled.csv', '-d', 'Porträts', '--again', '--pool', 'machines'],
    leads: [0],
    mend: () => undefined,
  },
  {
    code: 'E540',
    name: 'a pool is misspelt',
    args: ['pool', 'show', 'machnes'],
    leads: [0, 0],
  },
  {
    code: 'E541',
    name: 'a batch is not in the pool',
    arrange: (ground) => ground.must('pool', 'set', 'machines', '--size', '8'),
    args: ['pool', 'release', 'machines', 'stranger'],
    says: /no batch is in pool machines/,
  },
  {
    code: 'E542',
    name: 'the batch uses its slots',
    arrange: async (ground) => {
      await ground.running('pooled', 'slow', '--pool', 'machines');
      const shown = async (): Promise<string> => (await ground.must('pool', 'show', 'machines')).stdout;
      await until(async () => (await shown()).includes('pooled'), 'it has slots');
    },
    args: ['pool', 'release', 'machines', 'pooled'],
    leads: [0],
    undo: (ground) => ground.must('cancel', 'pooled', '--running'),
  },
];
