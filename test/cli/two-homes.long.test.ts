// Two state folders and one folder of batches: every command about a batch, given where other servers have it.

import { renameSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { commandsIn } from '../errors/printed-commands.ts';
import { deploymentsOf, Stage, until, type Ended, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';
import { strays } from '../stage/processes.ts';

const ROWS = 80;
/** Claims that no command may make about a batch on other servers. */
const FALSE_WORDS =
  /no longer has it|--recover|never started|nothing to (?:cancel|pause)|will be sent again|is rebuilt/;

describe('a batch of another state folder', () => {
  const stage = new Stage();
  const [ownHome, otherHome] = ['ours', 'theirs'].map((name) => stage.path(name)) as [string, string];
  let first: Running;
  let batch = '';
  let sheet = '';

  const here = (...args: readonly string[]): Promise<Ended> => stage.run(args, { RUNSHEET_HOME: ownHome });
  const elsewhere = (...args: readonly string[]): Promise<Ended> =>
    stage.run(args, { RUNSHEET_HOME: otherHome });
  const printed = ({ stdout, stderr }: Ended): string => `${stdout}\n${stderr}`;
  /** The state and the holder, as a script sees them. */
  const statusHere = async () =>
    JSON.parse((await here('status', batch, '-o', 'json')).stdout) as {
      readonly state: string;
      readonly held_by: { readonly home: string; readonly pid: number | null } | null;
    };
  const endedThere = async (): Promise<void> => {
    first.child.kill('SIGINT');
    await first.ended;
    await until(
      () => !strays(stage.folder).includes(readRecord(otherHome)?.pid ?? -1),
      'the servers have ended',
    );
  };

  beforeAll(async () => {
    const deployments = deploymentsOf({ concurrencyLimit: 8, runSeconds: 2 });
    await stage.service(['--deployments', stage.write('deployments.json', deployments)]);
    sheet = stage.sheet(ROWS);
    first = stage.start(['run', sheet, '-d', 'portraits', '-c', '1'], { RUNSHEET_HOME: otherHome });
    await first.says(/progress state=running/);
    batch = basename(stage.batch());
  });
  afterAll(() => stage.close());

  it('that runs is shown as running, with the servers that run it', async () => {
    const { pid } = readRecord(otherHome) ?? {};
    expect(await statusHere()).toMatchObject({ state: 'running', held_by: { home: otherHome, pid } });
    const shown = await here('status', batch);
    expect(shown.stdout).toMatch(
      new RegExp(`^${batch}  running\n  servers   of the state folder ${otherHome} \\(pid ${pid}\\)\n`),
    );
    expect(commandsIn(shown.stderr)).toEqual([`RUNSHEET_HOME=${otherHome} runsheet follow ${batch}`]);
    expect((await here('list')).stdout).toContain(`running, ${otherHome}`);
  });

  it('that runs is followed, and read, as by its own servers', async () => {
    expect((await here('wait', batch, '--timeout', '1s')).code).toBe(7);
    for (const args of [
      ['rows', batch],
      ['events', batch],
      ['show', batch, '1'],
      ['export', batch, '--as', 'csv'],
    ]) {
      const read = await here(...args);
      expect([read.code, FALSE_WORDS.test(printed(read))]).toEqual([0, false]);
    }
    await here('clean', '--yes');
    expect(stage.batchFile().batch).toBe(batch);
  });

  const COMMANDS: readonly (readonly string[])[] = [
    ['run', 'sheet.csv', '-d', 'portraits'],
    ['submit', 'sheet.csv', '-d', 'portraits', '-c', '9'],
    ['run', 'more.csv', '--into', 'BATCH'],
    ['pause', 'BATCH'],
    ['scale', 'BATCH', '-c', '1'],
    ['cancel', 'BATCH'],
    ['cancel', 'BATCH', '--running'],
    ['resume', 'BATCH'],
    ['resume', 'BATCH', '--recover'],
    ['retry', 'BATCH', '--row', '1'],
  ];

  it.each(COMMANDS)(
    'that runs takes no command here, which names its servers: %s %s %s',
    async (...words) => {
      stage.write('more.csv', 'number,prompt,seed\n99,another,1\n');
      const said = await here(...words.map((word) => (word === 'BATCH' ? batch : word)));
      const [, code] = /error\[(E\d+)\]/.exec(said.stderr) ?? [];
      expect([code, said.code]).toEqual(['E548', 5]);
      expect(said.stderr).toContain(
        `those of the state folder ${otherHome} (pid ${readRecord(otherHome)?.pid}, version `,
      );
      const command = words.map((word) => (word === 'BATCH' ? batch : word)).join(' ');
      expect(said.stderr.trimEnd().split('\n').at(-1)).toBe(
        `  RUNSHEET_HOME=${otherHome} runsheet ${command}`,
      );
      expect(said.stderr.replace(command, '')).not.toMatch(FALSE_WORDS);
      // No servers were started for it.
      expect(readRecord(ownHome)).toBeUndefined();
    },
  );

  it('that stands still goes on only there, as the printed command says', async () => {
    await endedThere();
    expect(await statusHere()).toMatchObject({
      state: 'interrupted',
      held_by: { home: otherHome, pid: null },
    });
    for (const args of [
      ['resume', batch],
      ['resume', batch, '--recover'],
      ['run', sheet, '-d', 'portraits'],
      ['cancel', batch],
      ['follow', batch],
    ]) {
      const { stderr } = await here(...args);
      expect(stderr).toMatch(/error\[E548\]: batch \S+ belongs to other servers, which do not run now/);
      expect(stderr.trimEnd().split('\n').at(-1)).toBe(
        `  RUNSHEET_HOME=${otherHome} runsheet ${args.join(' ')}`,
      );
    }
    const command = commandsIn((await here('status', batch)).stderr);
    expect(command).toEqual([`RUNSHEET_HOME=${otherHome} runsheet resume ${batch}`]);
    const resumed = await elsewhere('resume', batch, '-c', '8');
    expect(resumed.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });

  it('that has ended is sent again here, and the other says who has it now', async () => {
    const again = stage.start(['retry', batch, '--outcome', 'succeeded', '--yes'], {
      RUNSHEET_HOME: ownHome,
    });
    await again.says(/progress state=running/);
    // Runs both commands during the batch, even on a busy machine.
    const [{ stdout }, { stderr }] = await Promise.all([
      elsewhere('status', batch, '-o', 'json'),
      elsewhere('cancel', batch),
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'running', held_by: { home: ownHome } });
    expect(stderr).toContain(`RUNSHEET_HOME=${ownHome} runsheet cancel ${batch}`);
    await again.kill('SIGINT');
  });

  it('is rebuilt elsewhere once its state folder is removed, and not before', async () => {
    renameSync(ownHome, `${ownHome}-removed`);
    const thirdHome = { RUNSHEET_HOME: stage.path('third') };
    const { stderr } = await stage.run(['resume', batch], thirdHome);
    expect(stderr).toContain(`was run by the state folder ${ownHome}, which is not there any more`);
    expect(commandsIn(stderr)).toEqual([`runsheet resume ${batch} --recover`]);
    const rebuilt = await stage.run(['resume', batch, '--recover'], thirdHome);
    expect(rebuilt.stderr).toMatch(/error\[E511\]|is rebuilt/);
  });
});
