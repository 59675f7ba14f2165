// Batches whose payloads are encrypted, as processes: with the worker killed in the middle, with workers and commands whose
// keys do not fit, and with a batch that was begun before there was a key.

import { randomBytes } from 'node:crypto';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../src/service-client/contract/run.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { leaksBelow, leaksIn } from '../secrets/search.ts';
import { freshStage, sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Stage, until, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const KEY = randomBytes(32).toString('hex');
const OTHER = randomBytes(32).toString('hex');
const withKey = (key: string) => ({ RUNSHEET_PAYLOAD_KEY: key });
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 12, runSeconds: 0.3, runSpread: 0 });

/** All that Temporal keeps of a batch, byte by byte, and the number of its events. */
async function rawHistory(stage: Stage): Promise<{ bytes: Uint8Array; events: number }> {
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
  const parts: Uint8Array[] = [];
  let events = 0;
  const query = `WorkflowId = '${workflowIdOf(stage.batchFile())}'`;
  const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, query });
  for (const { execution } of executions ?? []) {
    const history = await client.workflow
      .getHandle(execution?.workflowId ?? '', execution?.runId ?? '')
      .fetchHistory();
    parts.push(proto.temporal.api.history.v1.History.encode(history).finish());
    events += history.events?.length ?? 0;
  }
  await close();
  return { bytes: Buffer.concat(parts), events };
}

const NO_API_KEY = { RUNSHEET_API_KEY: '' };
const ROWS = 60;
const FEW_ROWS = 12;

/** A batch with trouble of every kind: a worker that has no API key, one that is killed, rows that fail. */
async function troubledBatch(stage: Stage): Promise<readonly Run[]> {
  const lines = Array.from(
    { length: ROWS },
    (_, at) => `planted prompt ${at + 1},${at % 10 === 0 ? 'fail' : ''}`,
  );
  const sheet = stage.write('sheet.csv', `prompt,runsheet_faults\n${lines.join('\n')}\n`);
  const keyless = await stage.worker(NO_API_KEY);
  const running = stage.start(['run', sheet, '-d', 'portraits', '-c', '12', '--retries', '0']);
  await running.says(/the batch has not started: no API key is set for http/);
  await keyless.kill('SIGKILL');
  const worker = await stage.worker();
  await until(async () => (await stage.truth()).length >= 24, 'the batch is under way');
  await worker.kill('SIGKILL');
  await stage.worker();
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([3, expect.stringContaining('54 of 60 rows succeeded')]);
  const truth = await stage.truth();
  expectOneRunPerRow(truth, ROWS);
  const failed = stage.results().find(({ outcome }) => outcome === 'failed');
  expect(failed?.['reason']).toBe('RuntimeError: KSampler: injected failure');
  return truth;
}

/** Secrets of such a batch that a readable Temporal history shows, by kind. */
async function readableIn(stage: Stage, truth: readonly Run[]): Promise<readonly string[]> {
  const { bytes, events } = await rawHistory(stage);
  expect(events).toBeGreaterThan(30);
  const searched = {
    prompt: 'planted prompt',
    reason: 'injected failure',
    error: 'no API key is set for',
    stack: '    at ',
    folder: stage.folder,
  };
  const runs = Object.fromEntries(truth.map(({ id }, at) => [`run ${at}`, id]));
  return leaksIn(bytes, { ...searched, ...runs }, 'history').map(({ secret }) => secret);
}

describe('encryption', () => {
  const stage = freshStage((newStage) => newStage.cluster(DEPLOYMENTS));

  const set = (environment: Readonly<Record<string, string>>): void => {
    stage.environment = { ...stage.environment, ...environment };
  };
  const run = (rows = ROWS, cap = '4'): Running =>
    stage.start(['run', stage.sheet(rows), '-d', 'portraits', '-c', cap]);
  const expectAllRight = async (running: Running, rows = ROWS): Promise<void> => {
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${rows} of ${rows} rows succeeded`)]);
    expectOneRunPerRow(await stage.truth(), rows);
  };

  it('hides prompts, run ids, reasons and errors from the history, and another worker takes over from a killed one', async () => {
    set(withKey(KEY));
    expect(await readableIn(stage, await troubledBatch(stage))).toEqual([]);
  });

  it('run and doctor report E410 for a worker without the key; no row fails if another worker has it', async () => {
    await stage.worker();
    set(withKey(KEY));
    const refused = await run(FEW_ROWS).ended;
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('error[E410]')]);
    expect(refused.stderr).toMatch(/hint: .*RUNSHEET_PAYLOAD_KEY/);
    expect(await stage.truth()).toEqual([]);

    // Every step may be given to either of them.
    await stage.worker();
    const running = run(FEW_ROWS);
    await until(async () => (await stage.truth()).length > 0, 'the batch is under way');
    const doctor = await stage.run(['doctor']);
    expect([doctor.code, doctor.stdout]).toEqual([
      6,
      expect.stringMatching(/encryption +workers at .* reads plain/),
    ]);
    await expectAllRight(running, FEW_ROWS);
  });

  it('a key that no worker has is reported with E407, and a worker without it does not change the batch', async () => {
    const run60 = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '4'];
    const fitting = await stage.worker(withKey(KEY));
    const first = stage.start(run60, withKey(KEY));
    await until(async () => (await stage.truth()).length >= 8, 'the batch is under way');
    // All workers that there are have another key than the command.
    expect((await stage.run(['status'])).stderr).toContain('error[E410]');
    await fitting.kill('SIGKILL');
    const keyless = await stage.worker();
    for (const args of [['status'], run60]) {
      const { code, stderr } = await stage.run(args);
      expect([code, stderr]).toEqual([4, expect.stringContaining('error[E407]')]);
    }
    await keyless.kill('SIGKILL');
    await stage.worker(withKey(KEY));
    await expectAllRight(first);
  });

  it('can be enabled for a running batch: E408 until plain payloads may be read, then the batch ends correctly', async () => {
    const before = await stage.worker();
    const first = run();
    await until(async () => (await stage.truth()).length >= 8, 'the batch is under way');
    await first.kill('SIGINT');
    await before.kill('SIGKILL');

    set(withKey(KEY));
    const strict = await stage.worker();
    const refused = await run().ended;
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('error[E408]')]);
    expect(refused.stderr).toContain('RUNSHEET_PAYLOAD_PLAIN=read');
    await strict.kill('SIGKILL');

    set({ RUNSHEET_PAYLOAD_PLAIN: 'read' });
    await stage.worker();
    await expectAllRight(run());
  });

  it('can change its key while a batch runs', async () => {
    set(withKey(OTHER));
    const before = await stage.worker();
    const first = run();
    await until(async () => (await stage.truth()).length >= 8, 'the batch is under way');
    await first.kill('SIGINT');
    await before.kill('SIGKILL');
    set(withKey(`${KEY},${OTHER}`));
    await stage.worker();
    await expectAllRight(run());
    expect(stage.results().every(({ outcome }) => outcome === 'succeeded')).toBe(true);
  });
});

describe('encryption in an embedded stack', () => {
  const stage = sharedStage();

  it('works the same, and a command with another key gets an error when it joins', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    // The batch must still run when the second command arrives.
    const running = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '1'], withKey(KEY));
    await until(async () => (await stage.truth()).length >= 4, 'the batch is under way');
    const refused = await stage.run(['status'], withKey(OTHER));
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('error[E410]')]);
    expect((await running.ended).code).toBe(0);
    const searched = {
      folder: stage.path('batches'),
      outcome: 'succeeded',
      run: (await stage.truth())[0]?.id ?? '',
      key: KEY,
    };
    // The list of folders that this place uses is not encrypted; only its owner can read it.
    const { leaks, files } = leaksBelow(stage.path('.runsheet'), searched, [stage.path('.runsheet', 'outs')]);
    expect(leaks).toEqual([]);
    expect(files).toBeGreaterThan(5);
  });
});
