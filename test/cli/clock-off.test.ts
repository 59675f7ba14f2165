import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { Stage } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

/** More than a page of the lists that are searched for lost answers. */
const ROWS = 260;
const HOUR_MS = 3_600_000;
const CLOCK = pathToFileURL(join(import.meta.dirname, '../stage/clock-off.ts')).href;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 40, coldStartSeconds: 0, runSeconds: 0.3, pictureSize: 32 },
]);

describe('a run service whose clock is an hour', () => {
  let stage = new Stage();
  afterEach(() => stage.close());

  const ways: readonly (readonly [string, number])[] = [
    ['behind', -HOUR_MS],
    ['ahead', HOUR_MS],
  ];
  it.each(ways.slice(0, process.env['RUNSHEET_LONG'] ? 2 : 1))(
    'lost answers are found in its lists, and nothing is bought twice: %s',
    async (_, offMs) => {
      stage = new Stage();
      const ours = stage.environment;
      stage.environment = { ...ours, NODE_OPTIONS: `--import ${CLOCK}`, CLOCK_OFF_MS: String(offMs) };
      const faults = ['--fault', 'reset-answer=0.03', '--fault', 'reset-request=0.02'];
      await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS), ...faults]);
      stage.environment = { ...stage.environment, NODE_OPTIONS: '' };

      const ended = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '40', '--poll']);
      expect(ended.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
      const runs = await stage.truth();
      expectOneRunPerRow(runs, ROWS);
      expect(Math.abs((runs[0]?.createdAtMs ?? 0) - Date.now())).toBeGreaterThan(HOUR_MS / 2);
      const { requests } = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
      expect(requests.adopted.list).toBeGreaterThan(0);
      expect(requests.absent).toBeGreaterThan(0);
    },
  );
});
