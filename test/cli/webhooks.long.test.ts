import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const ROWS = 40;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 8, runSeconds: 0.3, runSpread: 0 });

/** Keeps the fields that are the same in every batch of one sheet. */
const lasting = ({
  run_id: _1,
  queue_seconds: _2,
  cold_start_seconds: _3,
  run_seconds: _4,
  cost_usd: _5,
  ...lastingFields
}: Readonly<Record<string, string>>) => lastingFields;

describe('webhooks affect only the speed', () => {
  const stage = sharedStage();

  it('the results are the same with an unreachable receiver and with --poll', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '8'];
    const folderOf = (ended: { readonly stdout: string }): string => ended.stdout.trim();
    const normal = folderOf(await stage.run(args));
    const unreachable = folderOf(
      await stage.run([...args, '--again'], { RUNSHEET_WEBHOOK_URL: 'http://127.0.0.1:9' }),
    );
    const lost = folderOf(await stage.run([...args, '--again', '--poll']));

    expect(new Set([normal, unreachable, lost]).size).toBe(3);
    const expected = stage.results(normal).map(lasting);
    expect(expected).toHaveLength(ROWS);
    expect(stage.results(unreachable).map(lasting)).toEqual(expected);
    expect(stage.results(lost).map(lasting)).toEqual(expected);
    const runs = await stage.truth();
    for (const folder of [normal, unreachable, lost])
      expectOneRunPerRow(runsOf(runs, stage.batchFile(folder)), ROWS);
    expect(runs.some(({ webhook }) => webhook?.startsWith('http://runsheet.invalid/'))).toBe(true);
  });
});

// The name of this machine is an address as any other: who asks at it may be anywhere.
const isNamed = (await lookup(hostname()).catch(() => undefined))?.address === '127.0.0.1';

describe.runIf(isNamed)('a run service on another machine', () => {
  const stage = sharedStage();

  it('gets no webhook address that it cannot reach: the command reports this once and polls', async () => {
    const deployments = stage.write('deployments.json', DEPLOYMENTS);
    await stage.service(['--host', hostname(), '--deployments', deployments]);
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '8'];
    const { code, stderr } = await stage.run(args);
    expect([code, stderr.match(/webhooks +none: .*RUNSHEET_WEBHOOK_URL/g)?.length]).toEqual([0, 1]);
    const hosts = new Set((await stage.truth()).map(({ webhook }) => new URL(webhook ?? '').host));
    expect([...hosts]).toEqual(['runsheet.invalid']);
  });
});
