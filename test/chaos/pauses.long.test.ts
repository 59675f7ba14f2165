// Pauses a batch in different ways and resumes it: nothing is lost or bought twice, and the reasons shown are true.

import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_LONG } from '../stage/outage.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 30, runSeconds: 0.4, runSpread: 0.5 });

type Summary = {
  readonly duplicates: { readonly runs: number; readonly first: readonly { readonly run_id: string }[] };
};

describe('a batch that cannot continue', () => {
  let stage = new Stage();
  const summary = (): Summary =>
    JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  const open = async (args: readonly string[] = []): Promise<void> => {
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS), ...args]);
  };

  it('a key that is revoked in the middle pauses it, and a new key resumes it: no row fails', async () => {
    const ROWS = 300;
    await open(['--token-file', stage.write('tokens', 'the-new-key-of-the-stage\n')]);
    const base = stage.environment['RUNSHEET_API_URL'] ?? '';
    const oldKey = stage.environment['RUNSHEET_API_KEY'] ?? '';
    const keyFile = stage.write('key', oldKey);
    const { RUNSHEET_API_KEY: _, ...environment } = stage.environment;
    stage.environment = { ...environment, RUNSHEET_API_KEY_FILE: keyFile };
    await stage.worker();
    const running = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '10']);
    await until(
      async () => (await stage.truth(base, 'the-new-key-of-the-stage')).length >= 90,
      'it is under way',
    );
    const revoked = await fetch(`${new URL(base).origin}/control/tokens/${oldKey}/revoke`, {
      method: 'POST',
      headers: { authorization: 'Bearer the-new-key-of-the-stage' },
    });
    expect(revoked.status).toBe(200);

    const paused = await running.ended;
    expect([paused.code, paused.stderr]).toEqual([8, expect.stringMatching(/paused: .*401.*Revoked token/)]);
    expect(paused.stderr).toMatch(/hint: nothing is lost; .*RUNSHEET_API_KEY_FILE.*runsheet resume/);
    const status = JSON.parse((await stage.run(['status', '-o', 'json'])).stdout) as {
      state: string;
      pauses: readonly { kind: string }[];
      outcomes: { failed: number };
    };
    const { state, outcomes, pauses } = status;
    expect([state, outcomes.failed]).toEqual(['paused', 0]);
    // The first of two reasons: a request that is refused, or a run that cannot be read.
    expect(['blocked', 'unreadable']).toContain(pauses[0]?.kind);

    writeFileSync(keyFile, 'the-new-key-of-the-stage');
    const resumed = await stage.run(['resume']);
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('continues')]);
    expect((await stage.run(['wait'])).code).toBe(0);
    expect(stage.results().filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(ROWS);
    expectOneRunPerRow(await stage.truth(base, 'the-new-key-of-the-stage'), ROWS);
    expect((await stage.run(['verify'])).code).toBe(0);
  });

  it('a folder that cannot be written pauses it; once it can be, the batch finishes without a loss', async () => {
    const ROWS = 120;
    await open();
    await stage.worker();
    const running = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '10']);
    await until(async () => (await stage.truth()).length >= 30, 'it is under way');
    const parts = join(stage.batch(), 'parts');
    await until(() => existsSync(parts), 'a part is written');
    renameSync(parts, `${parts}-away`);
    writeFileSync(parts, 'no folder');
    const paused = await running.ended;
    expect([paused.code, paused.stderr]).toEqual([
      8,
      expect.stringContaining('the batch folder cannot be written'),
    ]);
    const bought = (await stage.truth()).length;
    expect(bought).toBeLessThan(ROWS);
    rmSync(parts);
    renameSync(`${parts}-away`, parts);
    expect((await stage.run(['resume'])).code).toBe(0);
    expect((await stage.run(['wait'])).code).toBe(0);
    expect(stage.results().filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(ROWS);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });

  it('a service that makes two runs for one request: one counts, the other is cancelled if it still runs, and reported', async () => {
    const ROWS = 60;
    await open(['--fault', 'twin=0.2']);
    await stage.worker();
    const done = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '10']);
    expect(done.code).toBe(0);
    const runs = await stage.truth();
    const counted = new Set(stage.results().map((row) => row['run_id']));
    expect(counted.size).toBe(ROWS);
    expect(runs.length).toBeGreaterThan(ROWS);
    const duplicates = runs.filter(({ id }) => !counted.has(id)).map(({ id }) => id);
    const { first } = summary().duplicates;
    expect(first.map((duplicate) => duplicate.run_id).toSorted()).toEqual(duplicates.toSorted());
    expect(done.stderr).toMatch(new RegExp(`${duplicates.length} duplicate runs?:`));
    const verified = await stage.run(['verify', '-o', 'json']);
    expect([verified.code, JSON.parse(verified.stdout)]).toEqual([
      0,
      expect.objectContaining({ holds: true }),
    ]);
  });

  // A run counts as stuck only after half a minute without progress.
  it.runIf(IS_LONG)(
    'runs that never start, or show nothing new, are cancelled before their rows are tried again',
    async () => {
      const ROWS = 30;
      await open(['--fault', 'stuck=0.2', '--fault', 'oom=0.1']);
      await stage.worker();
      const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', String(ROWS), '--retries', '8'];
      const running = stage.start([...args, '--queue-timeout', '3s', '--run-timeout', '3s']);
      await until(async () => (await stage.truth()).length >= ROWS, 'every row has its first run');
      await stage.setFaults({ stuck: 0, oom: 0 });
      const done = await running.ended;
      expect(done.code).toBe(0);
      const runs = await stage.truth();
      expect(runs.filter(({ status }) => status === 'cancelled').length).toBe(runs.length - ROWS);
      expect(runs.length).toBeGreaterThan(ROWS);
      expect(runs.filter(({ status }) => status === 'success')).toHaveLength(ROWS);
      expect((await stage.run(['verify'])).code).toBe(0);
    },
  );

  it('a run that ends after its batch is recorded once in the folder late, and a run that its batch counted is not', async () => {
    await open();
    await stage.worker();
    expect((await stage.run(['run', stage.sheet(3), '-d', 'portraits'])).code).toBe(0);
    const [earlier] = await stage.truth();
    const base = stage.environment['RUNSHEET_API_URL'] ?? '';
    const headers = {
      authorization: `Bearer ${stage.environment['RUNSHEET_API_KEY']}`,
      'content-type': 'application/json',
    };
    // Repeats a request, like a service that resumes after a day.
    const body = JSON.stringify({
      deployment_id: earlier?.deploymentId,
      inputs: {},
      webhook: earlier?.webhook,
    });
    const queued = await fetch(`${base}/run/deployment/queue`, { method: 'POST', headers, body });
    const { run_id } = (await queued.json()) as { run_id: string };
    const file = join(stage.batch(), 'late', `${run_id}.json`);
    await until(() => existsSync(file), 'the late run is recorded');
    const end = { event_type: 'run.updated', status: 'success', run_id: earlier?.id, outputs: [] };
    const again = await fetch(earlier?.webhook ?? '', { method: 'POST', headers, body: JSON.stringify(end) });
    expect(again.status).toBe(200);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ run_id, outcome: 'succeeded' });
    expect(readdirSync(join(stage.batch(), 'late'))).toEqual([`${run_id}.json`]);
  });
});
