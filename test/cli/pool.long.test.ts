import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../src/run-service/contract/run.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import type { Pool } from '../../src/temporal/pools.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { liveAt, startedBetween } from '../stage/outstanding-runs.ts';
import { Stage, until } from '../stage/stage.ts';

const SIZE = 32;
const DEPLOYMENTS = JSON.stringify([
  {
    name: 'wide',
    concurrencyLimit: 200,
    coldStartSeconds: 0,
    runSeconds: 6,
    runSpread: 0.3,
    pictureSize: 16,
  },
]);

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
  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  });
  afterEach(() => stage.close());

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
  const pool = async (): Promise<Pool> =>
    JSON.parse(await command('pool', 'show', 'gpus', '-o', 'json')) as Pool;
  const memberOf = async (name: string): Promise<Pool['members'][number] | undefined> =>
    (await pool()).members.find(({ batch }) => batch === name);
  const terminate = async (batch: string): Promise<void> => {
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
    const { mark } = stage.batchFile(stage.path('batches', batch));
    await client.workflow.getHandle(workflowIdOf({ batch, mark })).terminate();
    await close();
  };

  it('have shares by weight, use all slots and never more, also if the worker is killed or a batch is terminated', async () => {
    const worker = await stage.worker();
    expect((await stage.run(['pool', 'show', 'gpus'])).stderr).toContain('E540');
    expect(await command('pool', 'set', 'gpus', '--size', String(SIZE))).toBe(
      `gpus: ${SIZE} slots, 0 batches, 0 in use\n`,
    );
    await submit('heavy', 5_000, '--weight', '3');
    await submit('light', 5_000);
    await until(async () => (await memberOf('light'))?.used === SIZE / 4, 'light has its share');
    const shared = Date.now();
    await wait(15_000);
    const killed = Date.now();
    await worker.kill('SIGKILL');
    await stage.worker();
    await until(
      async () => startedBetween(runsOf(await stage.truth(), 'light'), killed + 8_000).length > 16,
      'the new worker sends',
    );

    await terminate('light');
    const terminated = Date.now();
    await until(async () => (await memberOf('light'))?.goneAt !== undefined, 'the pool knows', 150_000);
    expect(await command('pool', 'show', 'gpus')).toMatch(
      /light {2}ended at \S+, perhaps with runs; 8 slots held/,
    );
    const held = Date.now();
    expect(await command('pool', 'release', 'gpus', 'light')).toContain('1 batch,');
    await until(async () => (await memberOf('heavy'))?.used === SIZE, 'heavy has all slots');
    const refused = await stage.run(['pool', 'release', 'gpus', 'heavy']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('E542')]);
    await command('cancel', 'heavy', '--timeout', '60s');
    await until(async () => (await pool()).batches === 0, 'heavy has left the pool');

    const runs = await stage.truth();
    const [heavy, light] = [runsOf(runs, 'heavy'), runsOf(runs, 'light')];
    const [ofHeavy, ofLight] = [meanOf(heavy, shared, killed), meanOf(light, shared, killed)];
    expect(mostOf(runs)).toBeLessThanOrEqual(SIZE);
    expect(ofHeavy / (ofHeavy + ofLight)).toBeGreaterThan(0.75 * 0.9);
    expect(ofHeavy / (ofHeavy + ofLight)).toBeLessThan(0.75 * 1.1);
    expect(ofHeavy + ofLight).toBeGreaterThan(0.8 * SIZE);
    // What light held was not granted, although its runs had ended.
    const whileHeld = startedBetween(heavy, terminated + 2_000, held);
    expect(Math.max(...whileHeld.map(({ createdAtMs = 0 }) => liveAt(heavy, createdAtMs)))).toBe(
      (SIZE * 3) / 4,
    );
  });

  it('stop starting runs within two seconds when an urgent batch comes, and go on after it', async () => {
    await stage.worker();
    await command('pool', 'set', 'gpus', '--size', String(SIZE));
    await submit('nightly', 5_000);
    await until(async () => (await memberOf('nightly'))?.used === SIZE, 'nightly has all slots');
    await submit('urgent', 96, '--urgency', '5');
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
    expect(urgent).toHaveLength(96);
    expect(mostOf(runs)).toBeLessThanOrEqual(SIZE);
    expect(status).toContain('reason    pool gpus has no free slot for this batch');
  });
});
