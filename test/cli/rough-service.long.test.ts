// A run service that does wrong in every way, end to end: what a user gets all the same.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MALFORMED_RESPONSES } from '../../src/run-service/faults.ts';
import type { Summary } from '../../src/results/summary.ts';
import { IS_LONG } from '../stage/outage.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 40, runSeconds: 0.3, pictureSize: 32 });
const malformed = Object.keys(MALFORMED_RESPONSES);

describe('a faulty run service', () => {
  let stage = new Stage();
  afterEach(() => stage.close());

  const open = async (rates: Readonly<Record<string, number>> = {}): Promise<void> => {
    stage = new Stage();
    const faults = Object.entries(rates).flatMap(([name, rate]) => ['--fault', `${name}=${rate}`]);
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS), ...faults]);
  };
  /** A sheet with one row per fault; the row names the fault that strikes it. */
  const sheetWithFaults = (names: readonly string[]): string =>
    stage.write(
      'struck.csv',
      `number,runsheet_faults\n${names.map((name, at) => `${at},${name}\n`).join('')}`,
    );
  const run = async (sheet: string, ...args: readonly string[]): Promise<Summary> => {
    const ended = await stage.run(['run', sheet, '-d', 'portraits', '-c', '40', ...args]);
    expect(ended.stderr).not.toContain('error[');
    return JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
  };

  it('sends every malformed response after it created the run: each run is found, and no row is bought again', async () => {
    await open();
    // No webhook reports a run before its request times out.
    const { outcomes, requests } = await run(
      sheetWithFaults(malformed.map((kind) => `${kind}-answer`)),
      '--poll',
    );
    expect(outcomes.succeeded).toBe(malformed.length);
    expectOneRunPerRow(await stage.truth(), malformed.length);
    // With the id named twice the last one counts, which is the true one.
    expect([requests.accepted, requests.unconfirmed, requests.absent]).toEqual([1, malformed.length - 1, 0]);
  });

  it('sends every malformed response without creating a run: absence is proved, and the row is sent again', async () => {
    // A response with two ids is accepted: it does not show whether that run exists.
    const unreadable = malformed.filter((kind) => kind !== 'twice');
    await open(Object.fromEntries(unreadable.map((kind) => [`${kind}-request`, 0.01])));
    const { outcomes, requests } = await run(stage.sheet(60));
    expect(outcomes.succeeded).toBe(60);
    expectOneRunPerRow(await stage.truth(), 60);
    expect(requests.absent).toBeGreaterThan(3);
  });

  it('misreports runs in every way: only results that Get Run confirms count', async () => {
    const lies = [
      'vanish',
      'other-run',
      'backwards',
      'unknown-status',
      'extra-fields',
      'cut-dates',
      'late-output',
    ];
    // Leaves out the faults that keep a request open for 20 s.
    const quick = malformed.filter((kind) => !['silence', 'interim', 'trickle'].includes(kind));
    await open({
      ...Object.fromEntries(lies.map((lie) => [lie, 0.1])),
      ...Object.fromEntries(quick.map((kind) => [`${kind}-read`, 0.01])),
    });
    const { outcomes, requests } = await run(stage.sheet(80));
    expect(stage.results().filter(({ outcome }) => outcome !== 'succeeded')).toEqual([]);
    expect(outcomes.succeeded).toBe(80);
    expect(requests).toMatchObject({ accepted: 80, unconfirmed: 0 });
    expectOneRunPerRow(await stage.truth(), 80);
    expect(new Set(stage.results().map(({ run_id }) => run_id)).size).toBe(80);
  });

  it('sends every faulty webhook: the results are those of the runs', async () => {
    const names = ['lose', 'repeat', 'empty', 'delay', 'stray', 'lie'];
    await open({
      ...Object.fromEntries(names.map((name) => [`${name}-webhook`, 0.2])),
      'post-retries': 0.5,
      fail: 0.2,
    });
    const { outcomes } = await run(stage.sheet(80), '--retries', '0');
    const ends = new Map((await stage.truth()).map(({ id, status }) => [id, status]));
    for (const { run_id = '', outcome } of stage.results())
      expect(outcome).toBe(ends.get(run_id) === 'success' ? 'succeeded' : 'failed');
    expect(outcomes.failed).toBeGreaterThan(5);
    expectOneRunPerRow(await stage.truth(), 80);
  });

  it('answers 429 with every plausible Retry-After: no attempt is counted for it', async () => {
    await open({ busy: 0.1, 'busy-silent': 0.1, 'busy-date': 0.1 });
    const { outcomes, requests } = await run(stage.sheet(60));
    expect(outcomes.succeeded).toBe(60);
    expect(requests.throttled).toBeGreaterThan(5);
    expect(new Set(stage.results().map(({ attempts }) => attempts))).toEqual(new Set(['1']));
    expectOneRunPerRow(await stage.truth(), 60);
  });

  it('serves faulty files: they are downloaded again, and never written outside the batch folder', async () => {
    await open({ 'lose-file': 0.1, 'cut-file': 0.1, 'short-file': 0.1, 'changed-file': 0.2 });
    const named = ['wild-name', 'private-file'];
    const { outcomes } = await run(
      sheetWithFaults([...named, ...Array.from({ length: 27 }, () => '')]),
      '--retries',
      '0',
    );
    expect(outcomes.succeeded).toBe(29);
    for (const { outputs = '' } of stage.results()) {
      expect(outputs).toMatch(/^outputs\/[\w-]+\.png$/);
      expect(readFileSync(join(stage.batch(), outputs)).subarray(1, 4).toString()).toBe('PNG');
    }
  });

  // Files are asked for again and again over minutes before a paid success counts as failed.
  it.runIf(IS_LONG)(
    'ends a run without files: runsheet asks for its files for minutes, and then the row fails',
    { timeout: 900_000 },
    async () => {
      await open();
      const { outcomes } = await run(sheetWithFaults(['', 'no-output']), '--retries', '0');
      expect(outcomes).toMatchObject({ succeeded: 1, failed: 1 });
      expect(stage.results()[1]?.['reason']).toContain('outputs_missing');
    },
  );
});
