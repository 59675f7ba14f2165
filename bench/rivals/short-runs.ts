// The same many short runs with each of the programs that people use instead, one after the other in one place.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { spanOf } from '../batch.ts';
import { deploymentIdOf } from '../loop.ts';
import { Place, type Backend } from '../place.ts';
import { KEY } from '../servers.ts';
import { bullmqRival, loopRival, type Ground } from './rivals.ts';

const CAP = 200;
const RUN_SECONDS = 0.1;
const ROWS = 4_000;
/** A few processes for each row take a second of processor. */
const ROWS_OF_PARALLEL = 400;

export type ShortRuns = { readonly program: string; readonly rows: number; readonly perSecond: number };

export async function measureShortRuns(backend: Backend): Promise<readonly ShortRuns[]> {
  const names = ['warm', 'runsheet', 'loop', 'bullmq', 'parallel'];
  const machines = names.map((name) => ({ name, concurrencyLimit: CAP, runSeconds: RUN_SECONDS }));
  const place = await Place.open(backend, machines);
  const ground = (deployment: string): Ground => ({
    folder: folderIn(place, deployment),
    base: place.base,
    deployment,
    rows: ROWS,
    cap: CAP,
    pollMs: 50,
  });
  const measured: ShortRuns[] = [];
  const add = async (program: string, deployment: string, rows: number): Promise<void> => {
    const { first, last } = await spanOf({ base: place.base, folder: place.folder, deployment });
    measured.push({ program, rows, perSecond: (rows * 1_000) / (last - first) });
    console.error(`${program}: ${measured.at(-1)?.perSecond.toFixed(0)} rows/s`);
  };
  const worker = place.worker();
  for (const deployment of ['warm', 'runsheet']) await place.batch({ deployment, rows: ROWS, cap: CAP });
  await worker.stop();
  await add('runsheet', 'runsheet', ROWS);
  const loop = await loopRival(ground('loop'));
  await ended(loop.start());
  await add(loop.name, 'loop', ROWS);
  const bullmq = await bullmqRival(ground('bullmq'));
  if (bullmq !== undefined) {
    await ended(bullmq.start());
    await bullmq.close();
    await add(bullmq.name, 'bullmq', ROWS);
  }
  if (isInstalled('parallel')) {
    await ended(await startParallel(ground('parallel')));
    await add('GNU parallel with curl', 'parallel', ROWS_OF_PARALLEL);
  } else console.error('GNU parallel is left out: it is not installed');
  await place.close();
  return measured;
}

function folderIn(place: Place, name: string): string {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  return folder;
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`a program ended with ${code}`);
}

async function startParallel({ base, deployment, folder }: Ground): Promise<ChildProcess> {
  const DEPLOYMENT = await deploymentIdOf(base, deployment);
  const env = { ...process.env, BASE: base, KEY, DEPLOYMENT, FOLDER: folder };
  const args = ['--will-cite', '-j', String(CAP), join(import.meta.dirname, 'parallel.sh')];
  const child = spawn('parallel', args, { stdio: ['pipe', 'ignore', 'inherit'], env });
  Readable.from(Array.from({ length: ROWS_OF_PARALLEL }, (_, at) => `${at + 1}\n`)).pipe(child.stdin);
  return child;
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
