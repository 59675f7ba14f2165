// Two state folders and one folder of batches: a batch that runs in one of them is rebuilt in the other.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunsheetError } from '../../src/errors/error.ts';
import { findBatch } from '../../src/library/handle/find-batch.ts';
import { rebuildBatch } from '../../src/library/handle/rebuilt-batch.ts';
import { Servers } from '../../src/library/servers.ts';
import type { StartedFile } from '../../src/store/started.ts';
import { deploymentsOf, KEY, Stage, until } from '../stage/stage.ts';

const ROWS = 6;
/** Longer than the quiet period, so that the last run is old enough while the batch lives. */
const RUN_SECONDS = 12;
/** The local service starts and lists a run at once. */
const QUICK = { postDeadlineMs: 1_000, settleWithoutControlMs: 1_000 };

describe('a batch that is rebuilt in another state folder while it lives', () => {
  const stage = new Stage();
  const otherHome = (): string => stage.path('other-home');
  let servers: Servers;
  beforeAll(async () => {
    const seconds = { runSeconds: RUN_SECONDS };
    const { base } = await stage.service([
      '--deployments',
      stage.write('deployments.json', deploymentsOf(seconds)),
    ]);
    servers = new Servers({
      home: otherHome(),
      store: stage.path('batches'),
      service: { url: base, apiKey: KEY },
      embedded: true,
    });
  });
  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
    await stage.close();
  });

  const started = (): StartedFile =>
    JSON.parse(readFileSync(join(stage.batch(), 'started.json'), 'utf8')) as StartedFile;
  const runsOfRows = async (): Promise<readonly number[]> => {
    const counts = new Map<string, number>();
    for (const run of await stage.truth()) {
      const input = JSON.stringify(run.inputs);
      counts.set(input, (counts.get(input) ?? 0) + 1);
    }
    return [...counts.values()];
  };

  it('buys no row twice, keeps each success, and says in the first one who has it', async () => {
    const run = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '2']);
    await until(() => readable(() => started().holder?.home) === stage.path('.runsheet'), 'it has started');
    await until(async () => (await runsOfRows()).length >= 2, 'it buys runs');
    const { file, ...place } = await findBatch(servers.config, undefined);
    const timing = { ...file.service.timing, ...QUICK };
    const batchFolder = { ...place, file: { ...file, service: { ...file.service, timing } } };
    const session = await servers.for(batchFolder);
    let isAnnounced = false;
    await until(
      async () => {
        try {
          await rebuildBatch(servers.config, session, batchFolder);
          return true;
        } catch (error) {
          if (!isRunsheetError(error, 'E511')) throw error;
          isAnnounced ||= started().rebuilding?.holder.home === otherHome();
          await wait(300);
          return false;
        }
      },
      'it is rebuilt',
      120_000,
    );
    expect(isAnnounced).toBe(true);
    expect(started().holder).toMatchObject({ kind: 'embedded', home: otherHome(), pid: process.pid });
    // The first one ends, because the other has the batch.
    const { code, stderr, stdout } = await run.ended;
    expect(`${stdout}${stderr}`).toContain(`the state folder ${otherHome()}`);
    expect(code).not.toBe(0);
    const summary = (): { readonly duplicates: { readonly runs: number } } =>
      JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as ReturnType<typeof summary>;
    await until(() => readable(summary) !== undefined, 'the second one ends it', 120_000);
    expect(stage.results().map(({ outcome }) => outcome)).toEqual(Array(ROWS).fill('succeeded'));
    expect(await runsOfRows()).toEqual(Array(ROWS).fill(1));
    expect(summary().duplicates.runs).toBe(0);
  }, 240_000);
});

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
