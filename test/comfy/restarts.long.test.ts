// A run service on own GPUs is killed ten times under a batch of 100 rows with seeds, for each way in which a batch begins or continues.
// Only the first command names the server and the workflow, so no later command repairs what a restart broke.

import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { killQuietly } from '../stage/processes.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { until, type Running } from '../stage/stage.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { EXECUTED, type Machine } from './ordeal.ts';
import { seeded } from './own-service.ts';
import { startStandIn } from './stand-in-process.ts';

const ROWS = 100;
const RESTARTS = 10;
/** Rows collected between two kills. With fewer, files cannot be fetched for so long that the batch pauses. */
const PER_LIFE = 4;

const stage = sharedStage();
const children = new Set<ChildProcess>();
let machine: Machine;

beforeAll(async () => {
  machine = await startStandIn(stage.path('gpu'), children);
  stage.environment = { ...stage.environment, RUNSHEET_HOME: stage.path('home') };
  stage.write('portrait_api.json', JSON.stringify(seeded({ seconds: 0.2 })));
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

const seedOf = (row: number): string => String(9_223_372_036_854_775_807n - BigInt(row));

function sheet(name: string, first = 1): string {
  const rows = Array.from({ length: ROWS }, (_, at) => `${name} ${first + at},${seedOf(first + at)}`);
  return stage.write(`${name}.csv`, `prompt,seed\n${rows.join('\n')}\n`);
}

const executed = (): number => {
  const file = join(machine.output, EXECUTED);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length : 0;
};

const collected = (batch: string): number => {
  const parts = stage.path('batches', batch, 'parts');
  if (!existsSync(parts)) return 0;
  const written = readdirSync(parts).filter((name) => !name.startsWith('.'));
  const lines = written.flatMap((name) => readFileSync(join(parts, name), 'utf8').split('\n'));
  return lines.filter(Boolean).length;
};

type Stack = { readonly service?: { readonly pid?: number } };

/** The exit code of a command whose batch has paused, as it does when the service was out of reach for long. */
const PAUSED = 8;

/** `doubts`: pauses that ask the user about attempts, although the list proves each of them absent or shows its run. */
type Survived = {
  readonly code: number | null;
  readonly kills: number;
  readonly doubts: readonly string[];
  readonly stderr: string;
};

/**
 * Kills the run service of the embedded servers ten times while the command works. A batch that pauses is resumed as its last line
 * says, which names neither the server nor the workflow.
 */
async function underRestarts(first: Running, batch: string): Promise<Survived> {
  const pids = new Set<number>();
  const doubts: string[] = [];
  for (let command = first; ;) {
    const hasEnded = (): boolean => command.child.exitCode !== null || command.child.signalCode !== null;
    while (pids.size < RESTARTS && !hasEnded()) {
      const next = collected(batch) + PER_LIFE;
      await until(() => collected(batch) >= next || hasEnded(), 'rows are collected', 120_000);
      const file = stage.path('home', 'embedded.json');
      const { service } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Stack) : {};
      const { pid = 0 } = service ?? {};
      if (pid !== 0 && !pids.has(pid)) killQuietly(pid);
      if (pid !== 0) pids.add(pid);
      await wait(200);
    }
    const { code, stderr } = await command.ended;
    if (stderr.includes('may have started runs')) doubts.push(stderr);
    if (code !== PAUSED) return { code, kills: pids.size, doubts, stderr };
    command = stage.start(['resume', batch]);
  }
}

const SURVIVED = { code: 0, kills: RESTARTS, doubts: [] };

/** The rows of a batch without the picture of their own prompt and seed, and the requests that the service answered with a fault of its own. */
function judged(batch: string): {
  readonly rows: number;
  readonly wrong: object[];
  readonly faults: string[];
} {
  const folder = stage.path('batches', batch);
  const results = stage.results(folder);
  const wrong = results.filter(({ outcome, prompt = '', seed = '', outputs = '' }) => {
    const picture = join(folder, outputs);
    return outcome !== 'succeeded' || colourOf(readFileSync(picture)) !== drawnColour(prompt, seed);
  });
  const log = readFileSync(stage.path('home', 'logs', 'service.log'), 'utf8');
  const faults = log.split('\n').filter((line) => /"msg":"(?:error|server-fault)"/.test(line));
  return { rows: results.length, wrong, faults };
}

const right = (rows: number): object => ({ rows, wrong: [], faults: [] });

const batches = (): readonly string[] =>
  readdirSync(stage.path('batches')).filter((name) => !name.startsWith('.'));

const gpuFlags = (): readonly string[] => [
  '--workflow',
  stage.path('portrait_api.json'),
  '--comfyui',
  machine.url,
];

it('a batch begun by run is right in every row after ten kills of the run service', async () => {
  expect(
    await underRestarts(stage.start(['run', sheet('first'), '--name', 'first', ...gpuFlags()]), 'first'),
  ).toMatchObject(SURVIVED);
  expect(judged('first')).toEqual(right(ROWS));
});

it('rows added by run --into are right after ten kills of the run service', async () => {
  expect(
    await underRestarts(stage.start(['run', sheet('more', ROWS + 1), '--into', 'first', '--yes']), 'first'),
  ).toMatchObject(SURVIVED);
  expect(judged('first')).toEqual(right(2 * ROWS));
});

it('a batch continued by resume is right in every row after ten kills of the run service', async () => {
  const command = stage.start(['run', sheet('second'), '--name', 'second', '-d', 'portrait', '--local']);
  const began = executed();
  await until(() => executed() > began + 2, 'it works');
  await command.kill();
  expect(await underRestarts(stage.start(['resume', 'second']), 'second')).toMatchObject(SURVIVED);
  expect(judged('second')).toEqual(right(ROWS));
});

it('rows sent again by retry are right after ten kills of the run service', async () => {
  const command = stage.start(['run', sheet('third'), '--name', 'third', '-d', 'portrait', '--local']);
  const began = executed();
  await until(() => executed() > began + 2, 'it works');
  await stage.run(['cancel', 'third']);
  await command.ended;
  expect(
    await underRestarts(stage.start(['retry', 'third', '--outcome', 'cancelled']), 'third'),
  ).toMatchObject(SURVIVED);
  expect(judged('third')).toEqual(right(ROWS));
});

it('the batch of a pipeline is right in every row after ten kills of the run service', async () => {
  const job = stage.write(
    'poster.job.toml',
    `name = "poster"\nlocal = true\nagain = true\n[[stage]]\nname = "drafts"\nfrom = ${JSON.stringify(basename(sheet('fourth')))}\ndeployment = "portrait"\n`,
  );
  expect(await underRestarts(stage.start(['run', job]), 'poster-drafts')).toMatchObject(SURVIVED);
  expect(judged('poster-drafts')).toEqual(right(ROWS));
});

it('the batch of a schedule is right in every row after ten kills of the run service', async () => {
  const dev = stage.start(['dev']);
  await dev.says(/temporal +\S/);
  const made = await stage.run([
    'schedule',
    'create',
    'nightly',
    sheet('fifth'),
    '-d',
    'portrait',
    '--local',
    '--cron',
    '0 2 1 1 *',
  ]);
  expect(made.code, made.stderr).toBe(0);
  const triggered = await stage.run(['schedule', 'trigger', 'nightly']);
  expect(triggered.code, triggered.stderr).toBe(0);
  const scheduled = (): string | undefined => batches().find((name) => name.startsWith('nightly-'));
  await until(() => scheduled() !== undefined, 'the schedule has created a batch');
  const batch = scheduled() ?? '';
  expect(await underRestarts(stage.start(['wait', batch]), batch)).toMatchObject(SURVIVED);
  expect(judged(batch)).toEqual(right(ROWS));
  await dev.kill('SIGINT');
});
