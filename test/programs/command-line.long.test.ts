// A program through the real command line: plan, deployments, Ctrl-C and what goes on, cancel, an edit, a schedule's rules.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { busySeats } from '../../src/library/register-own-gpus.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { LOCAL } from '../../src/host/local-address.ts';
import { Stage, until } from '../stage/stage.ts';
import { pidsWith } from './program-service.ts';

const LOCAL_SERVICE = { base: LOCAL, api: 'v2', rehearsal: false } as BatchFile['service'];

const stage = new Stage();
afterEach(() => stage.close());

const SCRIPT = `echo "$RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/begun"
until [ -e "$RUNSHEET_FOLDER/go-on" ]; do sleep 0.05; done
echo done >result.txt
`;

const begun = (): number =>
  existsSync(stage.path('begun')) ? readFileSync(stage.path('begun'), 'utf8').trim().split('\n').length : 0;
const pids = (): readonly number[] => pidsWith(`RUNSHEET_FOLDER=${stage.folder}`);

function prepare(rows: number): string {
  stage.environment = { RUNSHEET_HOME: stage.path('home') };
  stage.write('slow.sh', SCRIPT);
  return stage.sheet(rows);
}
/** The service knows of its own that so many programs run. */
const serviceSees = (programs: number): Promise<void> =>
  until(
    async () => (await busySeats(stage.path('home'), { service: LOCAL_SERVICE })).length === programs,
    `the service sees ${programs} programs run`,
  );
const PROGRAM = ['--program', 'sh slow.sh', '--gpus', '2'];

it('Ctrl-C says which programs go on, resume takes their results, and each ran once', async () => {
  const sheet = prepare(2);
  const running = stage.start(['run', sheet, ...PROGRAM]);
  await until(() => begun() === 2, 'both programs run');
  await serviceSees(2);
  running.child.kill('SIGINT');
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(
    /2 programs go on with 1 run each \(at most (1 h|60 min|59\.\d min|59 min)[^)]*\); resume takes their results; to stop them: runsheet cancel \S+ --running/,
  );
  expect(pids().length).toBeGreaterThan(0);
  stage.write('go-on', '');
  await until(() => pids().length === 0, 'the programs have ended by themselves');
  const [, batch = ''] = /runsheet resume (\S+)/.exec(stderr) ?? [];
  const resumed = await stage.run(['resume', batch]);
  expect([resumed.code, begun()]).toEqual([0, 2]);
  expect(stage.results().map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
});

it('the command that Ctrl-C names ends the programs', async () => {
  const sheet = prepare(2);
  const running = stage.start(['run', sheet, ...PROGRAM]);
  await until(() => begun() === 2, 'both programs run');
  await serviceSees(2);
  running.child.kill('SIGINT');
  const { stderr } = await running.ended;
  const [, words = ''] = /to stop them: runsheet (\S+ \S+ --running)/.exec(stderr) ?? [];
  expect((await stage.run(words.split(' '))).code).toBe(0);
  await until(() => pids().length === 0, 'the programs have ended');
  expect(stage.results().map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
});

it('plan runs nothing, deployments shows what would run, and an edited script is asked about', async () => {
  const sheet = prepare(2);
  writeFileSync(
    stage.path('slow.inputs.json'),
    JSON.stringify({
      type: 'object',
      properties: { number: { type: 'integer' }, prompt: { type: 'string' }, seed: { type: 'integer' } },
    }),
  );
  const plan = await stage.run(['plan', sheet, ...PROGRAM]);
  expect([plan.code, begun()]).toEqual([0, 0]);
  const listed = await stage.run(['deployments', '--local']);
  expect(listed.stdout).not.toContain('slow');
  const shown = await stage.run(['deployments', 'slow', ...PROGRAM]);
  expect(shown.stdout).toContain(`runs        sh ${stage.path('slow.sh')}`);
  expect(shown.stdout).toMatch(/sha256 [\da-f]{16}…/);
  expect(shown.stdout).toMatch(/variables {3}.*\bPATH\b/);
  expect(shown.stdout).toContain('GPU 0, GPU 1 of this machine');
  expect(shown.stdout).toContain('prompt');
  const json = await stage.run(['deployments', 'slow', ...PROGRAM, '-o', 'json']);
  expect(JSON.parse(json.stdout)).toMatchObject({
    program: { command: `sh ${stage.path('slow.sh')}`, folder: stage.folder, secrets: [] },
  });
  stage.write('go-on', '');
  expect((await stage.run(['run', sheet, ...PROGRAM])).code).toBe(0);
  expect(begun()).toBe(2);
  stage.write('slow.sh', `${SCRIPT}# edited\n`);
  const again = await stage.run(['run', sheet, ...PROGRAM]);
  expect([again.code, begun()]).toEqual([2, 2]);
  expect(again.stderr).toContain('E545');
});

it('a deployments file names programs with paths relative to it, and passes secrets on by name', async () => {
  const folder = 'tools';
  stage.write(`${folder}/tell.sh`, 'printf %s "$TELL_TOKEN" >"$RUNSHEET_FOLDER/told"; echo x >out.txt\n');
  stage.write(`${folder}/tell.json`, JSON.stringify({ properties: { prompt: { type: 'string' } } }));
  const file = stage.write(
    `${folder}/deployments.json`,
    JSON.stringify([
      {
        name: 'teller',
        program: 'sh tell.sh',
        inputs: 'tell.json',
        gpus: [1],
        env: ['TELL_TOKEN'],
        runTimeoutSeconds: 60,
      },
    ]),
  );
  stage.environment = { RUNSHEET_HOME: stage.path('home'), TELL_TOKEN: 'secret-0123456789' };
  await stage.service(['--deployments', file]);
  const sheet = stage.write('sheet.csv', 'prompt\na fox\n');
  const shown = await stage.run(['deployments', 'teller']);
  expect(shown.stdout).toContain('1 min');
  const { TELL_TOKEN: _, ...environment } = stage.environment;
  stage.environment = environment;
  const run = await stage.run(['run', sheet, '-d', 'teller']);
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('1 of 1 row')]);
  expect(readFileSync(stage.path(folder, 'told'), 'utf8')).toBe('secret-0123456789');
});

const LOOP = `import os, time, runsheet
folder = os.environ["RUNSHEET_FOLDER"]
open(folder + "/loaded", "a").write("loaded\\n")
for run in runsheet.runs():
    open(folder + "/begun", "a").write(run.id + "\\n")
    while not os.path.exists(folder + "/go-on"):
        time.sleep(0.05)
    run.save(run.inputs["prompt"])
`;

it('a program that stays runs a sheet in one process for each GPU, and goes on after Ctrl-C with its run', async () => {
  const sheet = prepare(6);
  stage.write('stays.py', LOOP);
  const program = ['--program', 'python3 stays.py', '--stays', '--gpus', '2'];
  const shown = await stage.run(['deployments', 'stays', ...program]);
  expect(shown.stdout).toContain('stays       one process for each GPU');
  const json = await stage.run(['deployments', 'stays', ...program, '-o', 'json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ program: { stays: true } });
  const running = stage.start(['run', sheet, ...program]);
  await until(() => begun() === 2, 'both programs have a run');
  await serviceSees(2);
  running.child.kill('SIGINT');
  const { stderr } = await running.ended;
  expect(stderr).toContain('2 programs go on with 1 run each');
  stage.write('go-on', '');
  await until(() => pids().length === 0, 'the programs have ended by themselves');
  const [, batch = ''] = /runsheet resume (\S+)/.exec(stderr) ?? [];
  expect((await stage.run(['resume', batch])).code).toBe(0);
  expect(stage.results().map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'succeeded'));
  // Each GPU loaded the program once for each of the two commands.
  expect([begun(), readFileSync(stage.path('loaded'), 'utf8').trim().split('\n').length]).toEqual([6, 4]);
});
