// A service that answers 429 for 8 of 100 runs although it made them. Each such row may get a second run; none may go unnamed
// where anything can show it, and what nothing can show is counted.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { IS_LONG } from '../stage/outage.ts';
import { openOtherService } from '../stage/other-service.ts';
import { Stage } from '../stage/stage.ts';

const ROWS = IS_LONG ? 2_000 : 300;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 40, coldStartSeconds: 0, runSeconds: 0.2, pictureSize: 16 },
]);

describe('a service that rejects requests although it created their runs', () => {
  let stage = new Stage();
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  /** Runs a batch; the runs that the service made, those that the results name, and those that are reported. */
  async function run(flags: readonly string[], hasLists = true) {
    const faults = ['--fault', 'busy-answer=0.08', '--seed', '5'];
    const deployments = stage.write('deployments.json', DEPLOYMENTS);
    const { base } = await stage.service(['--deployments', deployments, ...faults]);
    const other = await openOtherService(base, { hasLists });
    stage.environment = { ...stage.environment, RUNSHEET_API_URL: other.base };
    const ended = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '40', ...flags]);
    await other.close();
    expect(ended.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
    const file = (name: string): string => readFileSync(join(stage.batch(), name), 'utf8');
    const made = (await stage.truth(base)).map(({ id }) => id);
    const ofRows = new Set(stage.results().map(({ run_id: id }) => id ?? ''));
    const summary = JSON.parse(file('summary.json')) as Summary;
    const reported = summary.duplicates.runs === 0 ? '' : file('duplicates.jsonl');
    const others = made.filter((id) => !ofRows.has(id));
    const unnamed = others.filter((id) => !reported.includes(id));
    const { faults: struck } = await stage.ledger<{ readonly faults: Readonly<Record<string, number>> }>(
      base,
    );
    return { made, others, unnamed, summary, struck: struck['busy-answer'] ?? 0 };
  }

  it('with webhooks: its runs are adopted, except those whose webhook arrived after the retry, which are reported', async () => {
    const { made, others, unnamed, summary, struck } = await run([]);
    // Its runs take no longer than it asks to wait, so that some webhooks come in time.
    expect(struck).toBeGreaterThan(ROWS / 50);
    expect(others.length).toBeLessThan(struck);
    expect(unnamed).toEqual([]);
    expect(summary.duplicates.runs).toBe(others.length);
    expect(made.length).toBe(ROWS + others.length);
  });

  it('with lists only: each duplicate run is reported', async () => {
    const { others, unnamed, summary } = await run(['--poll']);
    expect(others.length).toBeGreaterThan(ROWS / 50);
    expect(unnamed).toEqual([]);
    expect(summary.duplicates.runs).toBe(others.length);
    expect(summary.unseen_runs_at_most).toBe(0);
  });

  it('with neither: the summary’s upper bound covers all duplicate runs', async () => {
    const { others, summary } = await run(['--poll'], false);
    expect(others.length).toBeGreaterThan(ROWS / 50);
    expect(summary.unseen_runs_at_most).toBeGreaterThanOrEqual(others.length);
  });
});
