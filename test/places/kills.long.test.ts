// The run service and the worker are killed while rows run at every place. Each row ends once, and is executed as often
// as the place guarantees.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { Killable } from './killable.ts';
import { killWhileRowsRun, type KillReport } from './place-kills.ts';
import { PLACES, type Place } from './places.ts';

const ROWS = 14;
const CONCURRENCY = 2;
const PARTS = ['service', 'worker', 'service', 'worker'] as const;

const deploymentOf = (place: string): string => place.toLowerCase().replaceAll(' ', '-');

describe('batches at all places while the run service and the worker are killed', () => {
  const stage = new Stage();
  const places: Record<string, Place> = {};
  let report: KillReport;
  beforeAll(async () => {
    for (const [name, { open }] of Object.entries(PLACES)) {
      const place = await open(stage);
      place.setDuration(300);
      place.host?.setParallel(CONCURRENCY);
      places[deploymentOf(name)] = place;
      stage.environment = { ...stage.environment, ...place.environment };
    }
    await stage.temporal();
    // The two forms of a program share the seats of the machine.
    const entries = Object.entries(places).map(([name, { entry }]) => ({
      name,
      ...entry,
      // A doubt about a run is over after its time limit.
      ...('gpus' in entry ? { gpus: [0, 1, 2, 3] } : { runTimeoutSeconds: 60 }),
    }));
    const killable = await Killable.start(stage, entries, {
      submit: { queueMs: 5_000, slackMs: 1_000 },
    });
    report = await killWhileRowsRun(stage, killable, {
      places,
      rows: ROWS,
      concurrency: CONCURRENCY,
      kills: PARTS,
      say: (text) => process.env['KILL_SAY'] && process.stderr.write(`${new Date().toISOString()} ${text}\n`),
    });
  }, 600_000);
  afterAll(async () => {
    await stage.close();
    for (const place of Object.values(places)) place.close();
  });

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
