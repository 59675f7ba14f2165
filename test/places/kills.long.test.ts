// The run service and the worker are killed while rows run at every place. Each row ends once, and is executed as often
// as the place guarantees.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { Killable, type KilledPart } from './killable.ts';
import { killWhileRowsRun, type KillReport } from './place-kills.ts';
import { PLACES, type Place, type PlaceCase } from './places.ts';

const ROWS = 14;
const CONCURRENCY = 2;
const PARTS: readonly KilledPart[] = ['service', 'worker', 'service', 'worker'];

const deploymentOf = (place: string): string => place.toLowerCase().replaceAll(' ', '-');

type Ordeal = {
  readonly cases: Readonly<Record<string, PlaceCase>>;
  readonly rows: number;
  readonly concurrency?: number;
  readonly runTimeoutSeconds?: number;
  readonly kills: readonly KilledPart[];
};

/** Stages of an ordeal, with the places that are open. */
class Ordeals {
  readonly #stages: Stage[] = [];
  readonly #places: Place[] = [];

  async run({
    cases,
    rows,
    kills,
    concurrency = CONCURRENCY,
    runTimeoutSeconds = 60,
  }: Ordeal): Promise<KillReport> {
    const stage = new Stage();
    this.#stages.push(stage);
    const places: Record<string, Place> = {};
    for (const [name, { open }] of Object.entries(cases)) {
      const place = await open(stage);
      this.#places.push(place);
      place.setDuration(300);
      place.host?.setParallel(concurrency);
      places[deploymentOf(name)] = place;
      stage.environment = { ...stage.environment, ...place.environment };
    }
    await stage.temporal();
    // The two forms of a program share the seats of the machine.
    const entries = Object.entries(places).map(([name, { entry }]) => ({
      name,
      ...entry,
      // A doubt about a run is over after its time limit.
      ...('gpus' in entry ? { gpus: [0, 1, 2, 3] } : { runTimeoutSeconds }),
    }));
    const killable = await Killable.start(stage, entries, {
      submit: { queueMs: 5_000, slackMs: 1_000 },
    });
    const say = (text: string): unknown =>
      process.env['KILL_SAY'] && process.stderr.write(`${new Date().toISOString()} ${text}\n`);
    return killWhileRowsRun(stage, killable, { places, rows, concurrency, open: CONCURRENCY, kills, say });
  }

  async close(): Promise<void> {
    // Each stage has begun in the folder of the one before.
    for (const stage of this.#stages.toReversed()) await stage.close();
    for (const place of this.#places) place.close();
  }
}

const ordeals = new Ordeals();
afterAll(() => ordeals.close());

describe('batches at all places while the run service and the worker are killed', () => {
  let report: KillReport;
  beforeAll(async () => {
    report = await ordeals.run({ cases: PLACES, rows: ROWS, kills: PARTS });
  }, 600_000);

  it('kills each part twice while runs execute at each place', () => {
    expect(report.kills.map(({ part }) => part)).toEqual(PARTS);
    for (const { open } of report.kills) expect(Math.min(...Object.values(open))).toBe(CONCURRENCY);
  });

  it.each(Object.entries(PLACES))(
    '%s: each row has one outcome, and the executions are those of its guarantee',
    (name, { lost }) => {
      const account = report.accounts[deploymentOf(name)];
      if (account === undefined) throw new Error('it has no account');
      const { outcomes, verified, posts, executions, repeated, said, unexecuted } = account;
      expect(verified).toContain('adds up');
      expect(unexecuted).toEqual([]);
      const { succeeded = 0, unknown = 0 } = outcomes;
      const isSilent = lost === 'unknown';
      expect([succeeded + unknown, isSilent ? 0 : unknown]).toEqual([ROWS, 0]);
      // Executions in vain are said, and only a container whose connection broke executes again.
      const inVain = Object.values(repeated).reduce((sum, times) => sum + times - 1, 0);
      expect(inVain).toBe(said);
      expect(lost === 'again' ? [] : Object.keys(repeated)).toEqual([]);
      expect(executions - inVain).toBeLessThanOrEqual(ROWS);
      expect(isSilent ? posts : 0).toBeLessThanOrEqual(ROWS);
    },
  );
});

// Nothing finds a request of fal whose answer was lost, and without a public address nobody tells about it: one run or none.
it('fal buys one run or none for each of 60 rows under 12 kills, and a row without a result is unknown', async () => {
  const { fal } = PLACES;
  if (fal === undefined) throw new Error('fal is no place');
  const [rows, concurrency] = [60, 5];
  const kills = Array.from({ length: 3 }, () => PARTS).flat();
  const report = await ordeals.run({ cases: { fal }, rows, concurrency, runTimeoutSeconds: 20, kills });
  for (const { open } of report.kills) expect(open['fal']).toBeGreaterThanOrEqual(CONCURRENCY);
  expect(report.kills).toHaveLength(kills.length);
  const { fal: account } = report.accounts;
  if (account === undefined) throw new Error('it has no account');
  const { outcomes, posts, executions, overbought, said, unexecuted, verified } = account;
  const { succeeded = 0, unknown = 0 } = outcomes;
  expect([succeeded + unknown, overbought, said, unexecuted]).toEqual([rows, [], 0, []]);
  expect(verified).toContain('adds up');
  // Each POST was bought, at most one for an attempt; a row has a further attempt only after a known end, its time limit.
  // Only the rows in flight at a kill of the service may be in doubt.
  expect(executions).toBe(posts);
  expect(posts).toBeGreaterThanOrEqual(succeeded);
  expect(unknown).toBeLessThanOrEqual((concurrency * kills.length) / 2);
}, 900_000);
