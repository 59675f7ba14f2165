// Commands that only look at a sheet, beside a batch that was interrupted.

import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/library/runsheet.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { strays } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';

const LOOKS_MS = 6_000;

describe('beside an interrupted batch', () => {
  const stage = sharedStage();

  /** How many of its rows have an outcome. */
  const done = async (): Promise<number> => {
    const { stdout } = await stage.runHere(['status', name, '-o', 'json']);
    const { outcomes } = JSON.parse(stdout) as { readonly outcomes: Readonly<Record<string, number>> };
    return Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  };
  let name = '';

  beforeAll(async () => {
    const running = stage.start(['run', stage.sheet(1_000), '-d', 'portraits', '--local', '-c', '4']);
    await running.says(/progress state=running/);
    name = basename(stage.batch());
    await until(async () => (await done()) > 5, 'rows have ended');
    running.child.kill('SIGINT');
    await running.ended;
    await until(() => strays(stage.folder).length === 0, 'the servers have ended');
    stage.write('other.csv', `prompt\n${Array.from({ length: 100 }, (_, at) => `fox ${at}`).join('\n')}\n`);
  });

  const looker = () =>
    connect({
      home: stage.path('.runsheet'),
      store: stage.path('batches'),
      service: 'local',
      embedded: true,
    });

  it('a plan whose servers stay resumes no batch', async () => {
    const before = await done();
    await using runsheet = await looker();
    await runsheet.plan(stage.path('other.csv'), { deployment: 'portraits' });
    await runsheet.deployments.list();
    await wait(LOOKS_MS);
    expect(await done()).toBe(before);
  });

  it('a command that resumes it says which others go on, and takes them along when it leaves', async () => {
    await using runsheet = await looker();
    await runsheet.plan(stage.path('other.csv'), { deployment: 'portraits' });
    const before = await done();
    const running = stage.start(['run', 'other.csv', '-d', 'portraits', '--local']);
    await running.says(/these servers run other batches as well, unless they are paused: sheet-[0-9a-f]{12}/);
    await until(async () => (await done()) > before, 'the interrupted batch goes on');
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBeOneOf([0, 130]);
    const after = await done();
    await wait(LOOKS_MS);
    expect(await done()).toBe(after);
  });
});
