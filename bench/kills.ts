// Runs the same job with three programs, each killed repeatedly and restarted immediately. Measures what was lost, what
// was bought twice, and how long each needs to return to full speed, all from the service's own run list.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Run } from '../src/service-client/contract/run.ts';
import { openGateway } from '../test/stage/gateway.ts';
import { secondsToFullSpeed } from '../test/stage/speed.ts';
import { median } from './median.ts';
import { bullmqRival, loopRival, runsheetRival, type Ground, type Rival } from './rivals/rivals.ts';
import { startService } from './servers.ts';
import { allRuns, recentRuns } from './truth.ts';

const CAP = 40;
const RUN_SECONDS = 1;
/** Without a spread, all runs end in waves, and the speed over 2 s is not meaningful. */
const RUN_SPREAD = 0.5;
/** Enough rows that every program still has work at its last kill. */
const ROWS_PER_CYCLE = 600;
const MIN_OUTSTANDING = 10;
const ANSWER_MS = 150;
const POLL_MS = 250;
const LOOK_MS = 300;
/** The minimum time between two kills, long enough to measure the speed before. */
const APART_MS = 10_000;
/** A program that is not at full speed by then is killed again, and this time counts. */
const PATIENCE_MS = 60_000;

export type Kills = {
  readonly rival: string;
  readonly rows: number;
  readonly cap: number;
  readonly kills: number;
  /** Rows without a result at the end. */
  readonly lost: number;
  /** Runs beyond the first of each row. */
  readonly duplicates: number;
  /** GPU seconds of runs that belong to no row's result. */
  readonly wastedGpuSeconds: number;
  readonly medianSeconds: number;
  readonly worstSeconds: number;
  /** Kills after which the program did not reach full speed before the next kill or the end. */
  readonly neverBack: number;
  readonly mostOutstanding: number;
  readonly seconds: number;
};

export async function measureKills(cycles: number): Promise<readonly Kills[]> {
  const measured: Kills[] = [];
  for (const open of [runsheetRival, bullmqRival, loopRival]) {
    const result = await killRepeatedly(open, cycles);
    if (result === undefined) continue;
    measured.push(result);
    console.error(JSON.stringify(result));
  }
  return measured;
}

async function killRepeatedly(
  open: (ground: Ground) => Promise<Rival | undefined>,
  cycles: number,
): Promise<Kills | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-kills-'));
  const rows = cycles * ROWS_PER_CYCLE;
  const service = await startService(folder, [
    { name: 'second', concurrencyLimit: CAP, runSeconds: RUN_SECONDS, runSpread: RUN_SPREAD },
  ]);
  const gateway = await openGateway(service.base, ANSWER_MS);
  const ground = { folder, base: gateway.base, deployment: 'second', rows, cap: CAP, pollMs: POLL_MS };
  try {
    const rival = await open(ground);
    if (rival === undefined) return undefined;
    const began = Date.now();
    const killed = await runWithKills(rival, cycles, {
      recent: () => recentRuns(service.base, ground.deployment),
      inFlight: gateway.inFlight,
    });
    const seconds = (Date.now() - began) / 1000;
    const runs = await allRuns(service.base, ground.deployment);
    const kept = await rival.kept();
    await rival.close();
    return { rival: rival.name, rows, cap: CAP, seconds, ...account(runs, kept, killed, rows) };
  } finally {
    await gateway.close();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Observed = { readonly recent: () => Promise<readonly Run[]>; readonly inFlight: () => number };

/** Kills and restarts the program until its rows are done; returns the times of the kills in ms since 1970. */
async function runWithKills(rival: Rival, cycles: number, observed: Observed): Promise<readonly number[]> {
  const killed: number[] = [];
  let child: ChildProcess = rival.start();
  let last = Date.now();
  while (!rival.isDone(child)) {
    await wait(LOOK_MS);
    if (killed.length >= cycles || Date.now() - last < APART_MS) continue;
    const runs = await observed.recent();
    const isBack = killed.length === 0 || secondsToFullSpeed(endsOf(runs), last) !== undefined;
    const outstanding = runs.filter(({ endedAtMs }) => endedAtMs === undefined).length;
    if (!isBack && Date.now() - last < PATIENCE_MS) continue;
    if (outstanding < MIN_OUTSTANDING || observed.inFlight() === 0) continue;
    last = Date.now();
    killed.push(last);
    child.kill('SIGKILL');
    await once(child, 'exit');
    child = rival.start();
  }
  return killed;
}

function account(
  runs: readonly Run[],
  kept: ReadonlyMap<number, string>,
  killed: readonly number[],
  rows: number,
): Omit<Kills, 'rival' | 'rows' | 'cap' | 'seconds'> {
  const named = new Set(kept.values());
  const bought = new Set(runs.map(({ inputs }) => Number(inputs?.['number'])));
  const unused = runs.filter(({ id }) => !named.has(id));
  const back = killed.map((at, index) =>
    secondsToFullSpeed(endsOf(runs), at, killed[index + 1] ?? Date.now()),
  );
  const seconds = back.map((recovery) => recovery ?? PATIENCE_MS / 1000);
  return {
    kills: killed.length,
    lost: rows - kept.size,
    duplicates: runs.length - bought.size,
    wastedGpuSeconds: unused.reduce((sum, run) => sum + secondsOf(run), 0),
    medianSeconds: median(seconds),
    worstSeconds: Math.max(...seconds),
    neverBack: back.filter((recovery) => recovery === undefined).length,
    mostOutstanding: mostOutstanding(runs),
  };
}

const secondsOf = ({ startedAtMs, endedAtMs }: Run): number =>
  startedAtMs === undefined || endedAtMs === undefined ? 0 : (endedAtMs - startedAtMs) / 1000;

function mostOutstanding(runs: readonly Run[]): number {
  const moments = runs.flatMap(({ createdAtMs = 0, endedAtMs = Number.POSITIVE_INFINITY }) => [
    { at: createdAtMs, by: 1 },
    { at: endedAtMs, by: -1 },
  ]);
  let now = 0;
  return moments
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
    .reduce((most, { by }) => Math.max(most, (now += by)), 0);
}

const endsOf = (runs: readonly { readonly endedAtMs?: number | undefined }[]): readonly number[] =>
  runs.map(({ endedAtMs = 0 }) => endedAtMs);
