// Runs one batch from its creation to its results, and repeatedly kills processes at critical moments.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Aim, Aims } from './aims.ts';
import { atMoment } from './moments.ts';
import { simulateOthers, type Others } from './others.ts';
import { Rig, type RigParams } from './rig.ts';
import { FAULTS, setFaults, sum, readCounters, type Counters } from './service.ts';
import { judge, type Findings } from './verdict.ts';

export type BatchParams = RigParams & {
  readonly aims: Aims;
  readonly log: (text: string) => void;
};
export type BatchResult = {
  readonly findings: Findings;
  /** Where the files of a batch with a finding were copied to. */
  readonly evidence: string | undefined;
  readonly runs: number;
  readonly counts: Readonly<Record<string, number>>;
};

const MOMENT_MS = 8_000;
/** A repeated command may have to start its servers first. */
const BIRTH_MS = 60_000;
const CLOSE_MS = 600_000;
const WHOLE_MS = 60_000;
const BATCH_MS = 480_000;
/** The batch counts as recovered when so many more runs have ended; some kills come earlier, during the recovery. */
const ENDS_BETWEEN = 8;
const BETWEEN_MS = 8_000;
const SHARE_WHILE_RECOVERING = 0.3;
const MAX_CLOSES = 2;
/** A POST that is in flight when the batch ends makes its run within this time. */
const AFTERMATH_MS = 2_000;

/** Throws if the batch does not end; its files are then kept. */
export async function chaosBatch(params: BatchParams): Promise<BatchResult> {
  const rig = await Rig.open(params);
  const counters = readCounters(rig.base);
  const otherRuns = simulateOthers({
    base: rig.base,
    name: () => rig.name(),
    truth: () => rig.truth(),
  });
  try {
    await Promise.all([rig.startCommand(), killAtBirth(rig, params)]);
    await Promise.all([killOnTheWay(rig, counters, params), killAtClose(rig, params)]);
    await otherRuns.stop();
    await counters.stop();
    return await judged(rig, counters, otherRuns, params);
  } catch (error) {
    params.log(`the files are kept in ${await rig.keepEvidence()}`);
    throw error;
  } finally {
    await otherRuns.stop();
    await counters.stop();
    await rig.close();
  }
}

/** Waits for the moment of the aim and kills its victim; returns whether the moment came. */
async function strike(rig: Rig, { aims, log }: BatchParams, aim: Aim, patienceMs: number): Promise<boolean> {
  const { victim, when } = aim;
  const isHit = await atMoment(rig, when, patienceMs, () => !rig.isOver() && rig.kill(victim) > 0);
  if (isHit) aims.hit(aim);
  log(`${isHit ? 'killed' : 'missed'}  ${victim} at ${when}`);
  return isHit;
}

async function killAtBirth(rig: Rig, params: BatchParams): Promise<void> {
  for (const when of ['birth', 'start'] as const) {
    const aim = params.aims.next(params.mode, when);
    if (aim !== undefined) await strike(rig, params, aim, BIRTH_MS);
  }
}

async function killOnTheWay(rig: Rig, counters: Counters, params: BatchParams): Promise<void> {
  const until = Date.now() + BATCH_MS;
  while (!rig.isOver()) {
    if (Date.now() > until) throw new Error(`the batch has not ended within ${BATCH_MS / 1000} s`);
    const aim = params.aims.next(params.mode, 'way');
    if (aim === undefined || rig.folder() === undefined) {
      await wait(100);
      continue;
    }
    await strike(rig, params, aim, MOMENT_MS);
    await untilRecovered(rig, counters);
  }
}

async function untilRecovered(rig: Rig, counters: Counters): Promise<void> {
  const whole = Date.now() + WHOLE_MS;
  if (Math.random() < SHARE_WHILE_RECOVERING) return void (await wait(Math.random() * 1_500));
  while (!rig.isWhole() && !rig.isOver() && Date.now() < whole) await wait(50);
  const until = Date.now() + BETWEEN_MS;
  const { ended } = counters.last();
  while (!rig.isOver() && Date.now() < until && counters.last().ended < ended + ENDS_BETWEEN) await wait(50);
}

async function killAtClose(rig: Rig, params: BatchParams): Promise<void> {
  for (let times = 0; times < MAX_CLOSES && !rig.isOver();) {
    const started = join(rig.folder() ?? 'none', 'started.json');
    const aim = existsSync(started) ? params.aims.next(params.mode, 'close') : undefined;
    if (aim === undefined) await wait(200);
    else if (await strike(rig, params, aim, CLOSE_MS)) times += 1;
    if (rig.isOver() || aim === undefined) continue;
    const whole = Date.now() + WHOLE_MS;
    while (!rig.isWhole() && !rig.isOver() && Date.now() < whole) await wait(50);
  }
}

async function judged(
  rig: Rig,
  counters: Counters,
  otherRuns: Others,
  params: BatchParams,
): Promise<BatchResult> {
  while (!rig.isServed() || !(await isAnswering(rig))) await wait(100);
  await setFaults(rig.base, Object.fromEntries(Object.keys(FAULTS).map((name) => [name, 0])));
  await wait(AFTERMATH_MS);
  const { rows, concurrency } = params;
  const [folder, name] = [rig.stage.batch(), rig.stage.batchFile()];
  const runs = await rig.truth();
  const findings = await judge({ folder, name, rows, concurrency, runs, calls: rig.allCalls() });
  const verified = await rig.stage.run(['verify']);
  if (verified.code !== 0)
    findings.sums.push(`verify: ${verified.stdout.slice(-500)}${verified.stderr.slice(-500)}`);
  const isBad = Object.values(findings).some((kind) => kind.length > 0);
  return {
    findings,
    evidence: isBad ? await rig.keepEvidence() : undefined,
    runs: runs.length,
    counts: sum(counters.faults(), otherRuns.counts()),
  };
}

async function isAnswering(rig: Rig): Promise<boolean> {
  return rig.truth().then(
    () => true,
    () => false,
  );
}
