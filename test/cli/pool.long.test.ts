import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../src/service-client/contract/run.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { openPools, type Pool } from '../../src/temporal/temporal-pools.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { liveAt, startedBetween } from '../stage/outstanding-runs.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';

const SIZE = 64;
const LARGER = 68;
const WINDOW_MS = 10_000;
const DEPLOYMENTS = deploymentsOf({
  name: 'wide',
  concurrencyLimit: 200,
  runSeconds: 8,
  runSpread: 0.3,
});

/** The highest number of runs that were outstanding at the same time. */
const mostOf = (runs: readonly Run[]): number =>
  Math.max(0, ...runs.map(({ createdAtMs = 0 }) => liveAt(runs, createdAtMs)));

/** The average number of runs outstanding. */
function meanOf(runs: readonly Run[], from: number, to: number): number {
  const times = Array.from({ length: Math.floor((to - from) / 50) }, (_, at) => from + 50 * at);
  return times.reduce((sum, at) => sum + liveAt(runs, at), 0) / times.length;
}

/** The prompts of a batch begin with its name. */
const runsOf = (runs: readonly Run[], batch: string): readonly Run[] =>
  runs.filter(({ inputs }) => String(inputs?.['prompt']).startsWith(`${batch} `));

describe('batches in a pool', () => {
  let stage = new Stage();
  let temporal: Awaited<ReturnType<typeof connectClient>>;
  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    temporal = await connectClient({ address, namespace, from: 'the test', options: {} });
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  });
  afterEach(async () => {
    await temporal.close();
    await stage.close();
  });

  const command = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await stage.run(words);
    expect([words, code, code === 0 ? '' : stderr]).toEqual([words, 0, '']);
    return stdout;
  };
  const submit = (name: string, rows: number, ...flags: readonly string[]): Promise<string> => {
    const lines = Array.from({ length: rows }, (_, at) => `${name} ${at + 1}`);
    const sheet = stage.write(`${name}.csv`, `prompt\n${lines.join('\n')}\n`);
    return command('submit', sheet, '-d', 'wide', '--name', name, '--pool', 'gpus', '-c', '100', ...flags);
  };
  const pool = (): Promise<Pool> => openPools(() => temporal.client).show('gpus');
  const memberOf = async (name: string): Promise<Pool['members'][number] | undefined> =>
    (await pool()).members.find(({ batch }) => batch === name);
  const terminate = async (batch: string): Promise<void> => {
    const { mark } = stage.batchFile(stage.path('batches', batch));
    await temporal.client.workflow.getHandle(workflowIdOf({ batch, mark })).terminate();
  };

  /** For some seconds: how the runs of the service are divided, what share of the slots is in use, and what share has runs. */
  const watched = async () => {
    const [from, used] = [Date.now(), [] as number[]];
    for (; Date.now() < from + WINDOW_MS; await wait(200)) used.push((await pool()).used);
    const [to, runs] = [Date.now(), await stage.truth()];
    const [heavy, together] = [meanOf(runsOf(runs, 'heavy'), from, to), meanOf(runs, from, to)];
    const slots = used.reduce((sum, count) => sum + count, 0) / used.length;
    return { heavy: heavy / together, used: slots / SIZE, running: together / SIZE };
  };
  const hasSlots = (name: string, slots: number): Promise<void> =>
    until(async () => (await memberOf(name))?.used === slots, `${name} has ${slots} slots`);

  it('have shares by weight, use all slots and never more, also if the worker is killed or a batch is terminated', async () => {
    const worker = await stage.worker();
    expect((await stage.run(['pool', 'show', 'gpus'])).stderr).toContain('E540');
    expect(await command('pool', 'set', 'gpus', '--size', String(SIZE))).toBe(
      `gpus: ${SIZE} slots, 0 batches, 0 in use\n`,
    );
    await submit('heavy', 5_000, '--weight', '3');
    await submit('light', 5_000);
    await hasSlots('light', SIZE / 4);
    const both = await watched();
    expect(Math.abs(both.heavy - 0.75)).toBeLessThan(0.075);
    expect(both.used).toBeGreaterThan(0.95);

    await command('cancel', 'light', '--timeout', '60s');
    await hasSlots('heavy', SIZE);
    const alone = await watched();
    expect(alone.used).toBeGreaterThan(0.95);
    // A machine that is busy otherwise starts runs later than their slots are free.
    for (const { running } of [both, alone]) expect(running).toBeGreaterThan(0.7);

    // The worker runs both batches and the pool.
    await submit('late', 5_000);
    await hasSlots('late', SIZE / 4);
    await worker.kill('SIGKILL');
    const killed = Date.now();
    await stage.worker();
    const goesOn = async (name: string): Promise<boolean> =>
      startedBetween(runsOf(await stage.truth(), name), killed + 2_000).length >= SIZE / 8;
    await until(async () => (await goesOn('late')) && (await goesOn('heavy')), 'the new worker sends');
    await until(async () => (await pool()).used === SIZE, 'all slots are used again');

    await terminate('late');
    const resized = Date.now();
    // The pool learns of it from the next grant.
    await command('pool', 'set', 'gpus', '--size', String(LARGER));
    await until(async () => (await memberOf('late'))?.goneAt !== undefined, 'the pool knows', 150_000);
    expect(await command('pool', 'show', 'gpus')).toMatch(
      /late {2}ended at \S+, perhaps with runs; 17 slots held/,
    );
    await hasSlots('heavy', LARGER - 17);
    const ofLate = async () => liveAt(runsOf(await stage.truth(), 'late'), Date.now());
    expect(await ofLate()).toBeLessThanOrEqual(17);
    // A user releases the slots of a batch after its runs have ended.
    await until(async () => (await ofLate()) === 0, 'the runs of late have ended');
    const held = Date.now();
    expect(await command('pool', 'release', 'gpus', 'late')).toContain('1 batch,');
    await hasSlots('heavy', LARGER);
    const refused = await stage.run(['pool', 'release', 'gpus', 'heavy']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('E542')]);
    const runs = await stage.truth();
    expect(mostOf(startedBetween(runs, 0, resized))).toBe(SIZE);
    expect(mostOf(runs)).toBeLessThanOrEqual(LARGER);
    // The slots that the terminated batch held were not granted, although its runs may have ended.
    const heavy = runsOf(runs, 'heavy');
    const whileHeld = startedBetween(heavy, resized, held);
    expect(
      Math.max(...whileHeld.map(({ createdAtMs = 0 }) => liveAt(heavy, createdAtMs))),
    ).toBeLessThanOrEqual(LARGER - 17);
    await command('cancel', 'heavy', '--timeout', '60s');
    await until(async () => (await pool()).batches === 0, 'heavy has left the pool');
  });

  it('stop starting runs within two seconds when an urgent batch comes, and go on after it', async () => {
    await stage.worker();
    await command('pool', 'set', 'gpus', '--size', String(SIZE));
    await submit('nightly', 5_000);
    await until(async () => (await memberOf('nightly'))?.used === SIZE, 'nightly has all slots');
    await submit('urgent', 192, '--urgency', '5');
    await until(async () => (await memberOf('urgent'))?.used === SIZE, 'urgent has all slots');
    const status = await command('status', 'nightly');
    const started = readFileSync(stage.path('batches', 'urgent', 'started.json'), 'utf8');
    const came = Date.parse((JSON.parse(started) as { at: string }).at);
    await command('wait', 'urgent');
    const ended = Date.now();
    await until(
      async () => startedBetween(runsOf(await stage.truth(), 'nightly'), ended).length > 0,
      'nightly goes on',
    );
    await command('cancel', 'nightly', '--timeout', '60s');

    const runs = await stage.truth();
    const urgent = runsOf(runs, 'urgent');
    const lastUrgent = Math.max(...urgent.map(({ createdAtMs = 0 }) => createdAtMs));
    expect(startedBetween(runsOf(runs, 'nightly'), came + 2_000, lastUrgent)).toEqual([]);
    expect(urgent).toHaveLength(192);
    expect(mostOf(runs)).toBeLessThanOrEqual(SIZE);
    expect(status).toContain('reason    pool gpus has no free slot for this batch');
  });
});
