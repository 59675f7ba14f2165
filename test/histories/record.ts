// Records the histories for the replay test, in the version of new batches: node test/histories/record.ts
// Run it once after WRITES in src/batch/behaviour-version.ts has changed, and keep the older recordings unchanged.

import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { readBatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { pipelineIdOf, workflowIdOf } from '../../src/batch/workflow-ids.ts';
import type { PipelineFile } from '../../src/batches/pipeline/pipeline-folder.ts';
import { Stage, until } from '../stage/stage.ts';
import { writeRecording } from './recording.ts';

/** The user who gives the commands of a scene. */
const HERE = `${userInfo().username}@${hostname()}`;

type RecordedScene = {
  readonly rows: number;
  readonly cap: number;
  readonly runSeconds: number;
  readonly faults?: readonly string[];
  readonly flags?: readonly string[];
  /** The job file of a pipeline, whose own history is kept. */
  readonly job?: string;
  /** Selects an execution of the batch; the default is the last one. */
  readonly keeps?: 'first';
  /** Called while the batch runs, for example to kill the worker. */
  readonly meanwhile?: (stage: Stage, worker: Awaited<ReturnType<Stage['worker']>>) => Promise<void>;
};

const SCENES: Readonly<Record<string, RecordedScene>> = {
  'rows-that-fail-and-are-tried-again': { rows: 60, cap: 12, runSeconds: 0.2, faults: ['--fault', 'fail=0.3'] },
  'answers-that-are-dropped': { rows: 40, cap: 8, runSeconds: 0.3, faults: ['--fault', 'drop-answer=0.2'] },
  'without-webhooks': { rows: 40, cap: 8, runSeconds: 0.3, flags: ['--poll'] },
  'a-worker-killed': {
    rows: 80,
    cap: 16,
    runSeconds: 0.4,
    meanwhile: async (stage, worker) => {
      await until(async () => (await stage.truth()).length >= 30, 'the batch is under way');
      await worker.kill('SIGKILL');
      await stage.worker();
    },
  },
  cancelled: {
    rows: 60,
    cap: 6,
    runSeconds: 0.5,
    meanwhile: async (stage) => {
      await until(async () => (await stage.truth()).length >= 12, 'the batch is under way');
      await stage.run(['cancel', batchOf(stage), '--running']);
    },
  },
  'paused-scaled-and-resumed': {
    rows: 80,
    cap: 12,
    runSeconds: 0.4,
    meanwhile: async (stage) => {
      await until(async () => (await stage.truth()).length >= 20, 'the batch is under way');
      await stage.run(['scale', batchOf(stage), '-c', '4']);
      await stage.run(['pause', batchOf(stage)]);
      await stage.run(['resume', batchOf(stage), '-c', '12', '--rate', '3000/min']);
      await stage.run(['wait', batchOf(stage)]);
    },
  },
  'stopped-by-its-own-limits': {
    rows: 60,
    cap: 8,
    runSeconds: 0.2,
    faults: ['--fault', 'fail=1'],
    flags: ['--retries', '0', '--fail-after', '6', '--deadline', '1h'],
    meanwhile: async (stage) => {
      await until(async () => (await stage.run(['status', '-o', 'json'])).stdout.includes('"paused"'), 'the batch is paused');
      await stage.run(['cancel', batchOf(stage)]);
      await stage.run(['wait', batchOf(stage)]);
    },
  },
  'failing-alike-until-it-is-resumed': {
    rows: 30,
    cap: 6,
    runSeconds: 0.2,
    faults: ['--fault', 'fail=1'],
    meanwhile: async (stage) => {
      await until(async () => (await stage.run(['status', '-o', 'json'])).stdout.includes('"alike"'), 'the trial pauses the batch');
      await stage.run(['resume', batchOf(stage), '--retries', '1']);
      await stage.run(['wait', batchOf(stage)]);
    },
  },
  'unclear-answers-until-it-is-cancelled': {
    rows: 30,
    cap: 6,
    runSeconds: 0.2,
    faults: ['--fault', 'gateway-request=1'],
    meanwhile: async (stage) => {
      await until(async () => (await stage.run(['status', '-o', 'json'])).stdout.includes('"unclear"'), 'the batch is paused', 150_000);
      await stage.run(['resume', batchOf(stage)]);
      await stage.run(['cancel', batchOf(stage)]);
      await stage.run(['wait', batchOf(stage)]);
    },
  },
  'sent-again-while-it-runs': {
    rows: 60,
    cap: 8,
    runSeconds: 0.4,
    faults: ['--fault', 'fail=0.5'],
    flags: ['--retries', '0', '--gpu-concurrency', 'A10G=6', '--shuffle'],
    meanwhile: async (stage) => {
      await until(async () => (await stage.truth()).length >= 30, 'the batch is under way');
      await stage.run(['retry', batchOf(stage), '--detach']);
      await stage.run(['retry', batchOf(stage), '--gpu', 'T4', '--detach']);
      await stage.run(['wait', batchOf(stage)]);
    },
  },
  'sent-again-after-its-end': {
    rows: 40,
    cap: 8,
    runSeconds: 0.2,
    faults: ['--fault', 'fail=0.5'],
    flags: ['--retries', '0', '--max-cost', '50'],
    meanwhile: async (stage) => {
      await stage.run(['wait', batchOf(stage)]);
      await stage.run(['retry', batchOf(stage)]);
    },
  },
  'picked-after-a-kill': {
    rows: 4,
    cap: 4,
    runSeconds: 0.2,
    job: 'name = "poster"\ndeployment = "portraits"\n[[stage]]\nname = "drafts"\nfrom = "sheet.csv"\n[[stage]]\nname = "finals"\nfrom = "drafts"\npick = true\nset = { prompt = "again" }\n',
    meanwhile: async (stage, worker) => {
      const shown = async (): Promise<string> => (await stage.run(['pipeline', 'show', 'poster'])).stdout;
      await until(async () => (await shown()).includes('for picks'), 'the pipeline waits for picks');
      await worker.kill('SIGKILL');
      await stage.worker();
      await stage.run(['pick', 'poster', 'finals', '--row', '2,3']);
    },
  },
  'after-a-continue-as-new': { rows: 560, cap: 2, runSeconds: 0.02 },
  'resting-before-a-continue-as-new': { rows: 560, cap: 2, runSeconds: 0.02, keeps: 'first' },
  'a-moment-for-a-continue-as-new': { rows: 1_500, cap: 12, runSeconds: 1, keeps: 'first' },
};

const batchOf = (stage: Stage): string => stage.batch().split('/').at(-1) ?? '';

async function workflowOf(stage: Stage): Promise<string> {
  const file = await readBatchFile(folderStore(stage.batch()));
  if (file === undefined) throw new Error(`no batch in ${stage.batch()}`);
  return workflowIdOf(file);
}

const pipelineOf = (stage: Stage): string =>
  pipelineIdOf(JSON.parse(readFileSync(stage.path('batches', 'poster', 'pipeline.json'), 'utf8')) as PipelineFile);

async function record(name: string, scene: RecordedScene): Promise<void> {
  const stage = new Stage();
  try {
    await stage.temporal();
    const deployment = { name: 'portraits', concurrencyLimit: scene.cap, coldStartSeconds: 0, runSeconds: scene.runSeconds };
    const deployments = stage.write('deployments.json', JSON.stringify([deployment]));
    await stage.service(['--deployments', deployments, ...(scene.faults ?? [])]);
    const worker = await stage.worker();
    const sheet = stage.sheet(scene.rows);
    const job = scene.job === undefined ? undefined : ['run', stage.write('poster.job.toml', scene.job)];
    const args = job ?? ['run', sheet, '-d', 'portraits', '-c', String(scene.cap), ...(scene.flags ?? [])];
    const command = stage.start(args);
    await command.says(scene.job === undefined ? /progress state=/ : /drafts +running/);
    await scene.meanwhile?.(stage, worker);
    await command.ended;
    await keep(scene.job === undefined ? `version-${WRITES}/${name}` : `pipeline/${name}`, stage, scene.keeps);
  } finally {
    await stage.close();
  }
}

/** Saves the history of one execution. */
async function keep(name: string, stage: Stage, keeps: RecordedScene['keeps']): Promise<void> {
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const { client, close } = await connectClient({ address, namespace, from: 'the recorder', options: {} });
  const workflowId = name.startsWith('pipeline/') ? pipelineOf(stage) : await workflowOf(stage);
  const last = await client.workflow.getHandle(workflowId).fetchHistory();
  const { firstExecutionRunId } = last.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  const first = async () => client.workflow.getHandle(workflowId, firstExecutionRunId ?? '').fetchHistory();
  const history = keeps === 'first' ? await first() : last;
  await close();
  const text = withoutPlace(historyToJSON(history), stage.folder);
  writeRecording(name, historyFromJSON(JSON.parse(text)));
  console.log(`${name}: ${history.events?.length} events, ${text.length} characters`);
}

/** Removes the recording machine's name and folders, which a replay does not need. */
function withoutPlace(history: string, place: string): string {
  return history
    .replaceAll(/"identity":\s*"[^"]*"/g, '"identity":"recorder"')
    .replaceAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g, (whole, base64: string) => {
      const text = Buffer.from(base64, 'base64').toString();
      const replaced = text.replaceAll(place, '/recorded').replaceAll(HERE, 'user@recorder');
      return replaced === text ? whole : `"data":"${Buffer.from(replaced).toString('base64')}"`;
    });
}

const wanted = process.argv.slice(2);
for (const [name, scene] of Object.entries(SCENES)) {
  if (wanted.length === 0 || wanted.includes(name)) await record(name, scene);
}
