// Measures batches as a user starts them, in a new folder each: one command, which starts Temporal and the worker itself. The
// loop does the same rows in turn, in a process of its own.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '../src/temporal/embedded/processes.ts';
import { readRecord } from '../src/temporal/embedded/stack-file.ts';
import { spanOf } from './batch.ts';
import { median } from './median.ts';
import { loopRival } from './rivals/rivals.ts';
import { homeIn, KEY, peakMb, startService } from './servers.ts';
import { makeSheet } from './sheet.ts';

const CAP = 200;
const RUN_SECONDS = 0.1;
const SIZES = [
  { rows: 1_000, rounds: 3 },
  { rows: 8_000, rounds: 3 },
  { rows: 100_000, rounds: 1 },
];

export type Command = {
  readonly rows: number;
  /** From the command to its end, with its servers, files, results and page. */
  readonly seconds: number;
  /** From the first queued run to the last ended run, by the service's list. */
  readonly perSecond: number;
  readonly loopPerSecond: number;
  /** The median of the ratios per round: both sides of a round run under the same conditions. */
  readonly toLoop: number;
  /** Peak memory of the worker. */
  readonly peakMb: number;
};

type Round = Omit<Command, 'rows' | 'toLoop'>;

export async function measureCommand(sizes = SIZES): Promise<readonly Command[]> {
  const measured: Command[] = [];
  for (const { rows, rounds: count } of sizes) {
    const rounds: Round[] = [];
    while (rounds.length < count) rounds.push(await measureRound(rows));
    const middle = (figure: (one: Round) => number): number => median(rounds.map(figure));
    measured.push({
      rows,
      seconds: middle(({ seconds }) => seconds),
      perSecond: middle(({ perSecond }) => perSecond),
      loopPerSecond: middle(({ loopPerSecond }) => loopPerSecond),
      toLoop: middle(({ perSecond, loopPerSecond }) => perSecond / loopPerSecond),
      peakMb: middle((result) => result.peakMb),
    });
  }
  return measured;
}

async function measureRound(rows: number): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-bench-'));
  const machines = ['command', 'loop'].map((name) => ({
    name,
    concurrencyLimit: CAP,
    runSeconds: RUN_SECONDS,
  }));
  const service = await startService(folder, machines);
  const perSecondOf = async (deployment: string): Promise<number> => {
    const { first, last } = await spanOf({ base: service.base, folder, deployment });
    return (rows * 1_000) / (last - first);
  };
  const ground = { folder, base: service.base, cap: CAP };
  const command = await runCommand({ ...ground, deployment: 'command', rows });
  await runLoopProcess({ ...ground, deployment: 'loop', rows });
  const round = {
    ...command,
    perSecond: await perSecondOf('command'),
    loopPerSecond: await perSecondOf('loop'),
  };
  await service.stop();
  const { seconds, perSecond, loopPerSecond } = round;
  console.error(
    `${rows} rows: ${seconds.toFixed(1)} s, ${perSecond.toFixed(0)} rows/s, loop ${loopPerSecond.toFixed(0)}, ${round.peakMb.toFixed(0)} MB`,
  );
  return round;
}

type Ground = {
  readonly folder: string;
  readonly base: string;
  readonly deployment: string;
  readonly rows: number;
  readonly cap: number;
};

/** Starts `run` in a state folder that has nothing yet, and waits until it ends. */
export async function runCommand(ground: Ground): Promise<Pick<Round, 'seconds' | 'peakMb'>> {
  const folder = join(ground.folder, `${ground.deployment}-command`);
  mkdirSync(folder);
  await makeSheet(join(folder, 'sheet.csv'), ground.rows);
  const home = homeIn(folder);
  const env = {
    ...process.env,
    RUNSHEET_API_URL: ground.base,
    RUNSHEET_API_KEY: KEY,
    RUNSHEET_HOME: home,
  };
  const args = ['run', 'sheet.csv', '-d', ground.deployment, '-c', String(ground.cap), '-q'];
  const began = performance.now();
  const child = spawn(process.execPath, [programFile(), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, peakOfWorker(home))), SAMPLE_MS);
  await assertEnds(child);
  clearInterval(watch);
  return { seconds: (performance.now() - began) / 1_000, peakMb: peak };
}

const SAMPLE_MS = 50;

/** 0 while no worker runs; one that has just ended shows no memory. */
function peakOfWorker(home: string): number {
  try {
    return peakMb(readRecord(home)?.worker?.pid) || 0;
  } catch {
    return 0;
  }
}

async function runLoopProcess(ground: Ground): Promise<void> {
  const folder = join(ground.folder, `${ground.deployment}-loop`);
  mkdirSync(folder);
  const loop = await loopRival({ ...ground, folder, pollMs: 50 });
  await assertEnds(loop.start());
  await loop.close();
}

export async function assertEnds(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`a program ended with ${code}`);
}
