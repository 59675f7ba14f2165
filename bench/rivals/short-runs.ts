// The same many short runs with each of the programs that people use instead, in one place. Each program starts anew for each of
// some rounds, because a process becomes faster while it runs.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { spanOf } from '../batch.ts';
import { assertEnds, runCommand } from '../command.ts';
import { deploymentIdOf } from '../loop.ts';
import { median } from '../median.ts';
import { Place, type Backend } from '../place.ts';
import { KEY } from '../servers.ts';
import { BULLMQ } from './bullmq-module.ts';
import { bullmqRival, loopRival, type Ground, type Rival } from './rivals.ts';

const CAP = 200;
const RUN_SECONDS = 0.1;
const ROUNDS = 3;
/** For GNU parallel a few processes for each row take a second of processor. */
const SIZES = { rows: 4_000, rowsOfParallel: 400 };

/** `perSecond`: the median of the rounds. */
export type ShortRuns = { readonly program: string; readonly rows: number; readonly perSecond: number };

/** `run`: starts the program, and resolves when it has done all rows with the deployment and has ended. */
type Program = {
  readonly program: string;
  readonly needs?: string;
  readonly rows: number;
  run(place: Place, deployment: string, rows: number): Promise<void>;
};

const programsFor = ({ rows, rowsOfParallel }: typeof SIZES): readonly Program[] => [
  { program: 'runsheet', rows, run: runsheet },
  { program: 'p-limit loop', rows, run: (...where) => ofRival(loopRival, ...where) },
  {
    program: `BullMQ ${BULLMQ}`,
    needs: 'redis-server',
    rows,
    run: (...where) => ofRival(bullmqRival, ...where),
  },
  { program: 'GNU parallel with curl', needs: 'parallel', rows: rowsOfParallel, run: parallel },
];

export async function measureShortRuns(backend: Backend, sizes = SIZES): Promise<readonly ShortRuns[]> {
  const programs = programsFor(sizes).filter(isInstalled);
  const rounds = Array.from({ length: ROUNDS }, (_, at) => at + 1);
  const nameOf = (at: number, round: number): string => `program-${at}-round-${round}`;
  const machines = rounds.flatMap((round) =>
    programs.map((_, at) => ({
      name: nameOf(at, round),
      concurrencyLimit: CAP,
      runSeconds: RUN_SECONDS,
    })),
  );
  const place = await Place.open(backend, machines);
  const speeds = programs.map((): number[] => []);
  for (const round of rounds)
    for (const [at, program] of programs.entries())
      speeds[at]?.push(await speedOf(place, program, nameOf(at, round)));
  await place.close();
  return programs.map(({ program, rows }, at) => ({ program, rows, perSecond: median(speeds[at] ?? []) }));
}

/** Rows a second, from the first queued run to the last ended run. */
async function speedOf(place: Place, { program, rows, run }: Program, deployment: string): Promise<number> {
  await run(place, deployment, rows);
  const { first, last } = await spanOf({ base: place.base, folder: place.folder, deployment });
  const perSecond = (rows * 1_000) / (last - first);
  console.error(`${program}: ${perSecond.toFixed(0)} rows/s`);
  return perSecond;
}

async function runsheet(place: Place, deployment: string, rows: number): Promise<void> {
  await runCommand({ folder: place.folder, base: place.base, deployment, rows, cap: CAP });
}

async function ofRival(
  open: (ground: Ground) => Promise<Rival | undefined>,
  ...[place, deployment, rows]: Parameters<Program['run']>
): Promise<void> {
  const rival = await open(groundIn(place, deployment, rows));
  if (rival === undefined) throw new Error('a program is no longer installed');
  await assertEnds(rival.start());
  await rival.close();
}

function groundIn(place: Place, deployment: string, rows: number): Ground {
  const folder = join(place.folder, deployment);
  mkdirSync(folder);
  return { folder, base: place.base, deployment, rows, cap: CAP, pollMs: 50 };
}

async function parallel(...where: Parameters<Program['run']>): Promise<void> {
  const { base, deployment, folder, rows } = groundIn(...where);
  const DEPLOYMENT = await deploymentIdOf(base, deployment);
  const env = { ...process.env, BASE: base, KEY, DEPLOYMENT, FOLDER: folder };
  const args = ['--will-cite', '-j', String(CAP), join(import.meta.dirname, 'parallel.sh')];
  const child = spawn('parallel', args, { stdio: ['pipe', 'ignore', 'inherit'], env });
  Readable.from(Array.from({ length: rows }, (_, at) => `${at + 1}\n`)).pipe(child.stdin);
  await assertEnds(child);
}

function isInstalled({ program, needs }: Program): boolean {
  if (needs === undefined) return true;
  try {
    execFileSync(needs, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.error(`${program} is left out: there is no ${needs}`);
    return false;
  }
}
