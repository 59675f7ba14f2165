// Cycles of one batch: it runs at full speed, somebody is killed and comes back, it is at full speed again. The kill comes
// only when ten runs are outstanding and a group is on the wire, at a named point of an order's way or at any moment.

import { setTimeout as wait } from 'node:timers/promises';
import type { Run } from '../../../src/run-service/contract/run.ts';
import type { Moment } from '../../stage/gateway.ts';
import { BEFORE_MS, secondsToFullSpeed } from '../../stage/speed.ts';
import { takePulse, type Pulse } from './pulse.ts';
import { Rig, type RigOrder } from './rig.ts';
import { judge, type Verdict } from './verdict.ts';
import { kill, type Victim } from './victims.ts';

export const POINTS = ['arrived', 'taken', 'answered', 'any moment'] as const;
type Point = (typeof POINTS)[number];

export type Aim = { readonly victim: Victim; readonly point: Point };

export type Plan = RigOrder & {
  /** Whom to kill next and where, after so many kills that counted; undefined to let the batch go to its end. */
  readonly next: (kills: number) => Aim | undefined;
  /** How far the batch must have recovered before the next kill. */
  readonly until: 'full speed' | 'going on';
  readonly say: (words: string) => void;
};

export type Cycle = Aim & {
  /** In the moment of the kill, by the service's own times. */
  readonly outstanding: number;
  /** Orders without an answer in the moment of the kill. */
  readonly inFlight: number;
  /** The most attempts that were uncertain at once before full speed; their slots bring no ends meanwhile. */
  readonly uncertain: number;
  /** undefined where the batch, or our patience, ended before. */
  readonly secondsToFullSpeed: number | undefined;
};

export type BatchResult = Verdict & {
  /** Those in whose moment of the kill enough was outstanding and on the wire. */
  readonly cycles: readonly Cycle[];
};

type Kill = Omit<Cycle, 'secondsToFullSpeed'> & { readonly at: number };

const OUTSTANDING_LEAST = 10;
const ANY_MOMENT_MS = 2_000;
const FULL_SPEED_PATIENCE_MS = 60_000;
const STUCK_MS = 90_000;

/** Throws where the batch does not end, or ends otherwise than with every row succeeded. */
export async function chaosBatch(plan: Plan): Promise<BatchResult> {
  const rig = await Rig.open(plan);
  const pulse = takePulse(rig);
  try {
    const kills = await killOnAndOn(plan, rig, pulse);
    await finish(rig, pulse);
    const runs = await rig.truth();
    const ends = runs.map(({ endedAtMs = Number.POSITIVE_INFINITY }) => endedAtMs);
    const measured = kills.map(({ at, ...told }, nth) => {
      const until = kills[nth + 1]?.at ?? Math.max(...ends);
      return { ...told, secondsToFullSpeed: secondsToFullSpeed(ends, at, until) };
    });
    const cycles = measured.filter(({ outstanding }) => outstanding >= OUTSTANDING_LEAST);
    return { ...judge(rig.stage.batch(), plan.rows, runs), cycles };
  } catch (error) {
    plan.say(`what tells why lies in ${await rig.keepEvidence()}`);
    throw error;
  } finally {
    await pulse.stop();
    await rig.close();
  }
}

async function killOnAndOn(plan: Plan, rig: Rig, pulse: Pulse): Promise<readonly Kill[]> {
  const kills: Kill[] = [];
  await untilAtSpeed(plan, rig, pulse);
  for (;;) {
    const counted = kills.filter(({ outstanding }) => outstanding >= OUTSTANDING_LEAST).length;
    const aim = rig.hasEnded() ? undefined : plan.next(counted);
    const killed = aim && (await killAt(rig, pulse, aim));
    if (aim === undefined || killed === undefined) return kills;
    const watched = watchUncertain(rig);
    await killed.isBack;
    const outstanding = outstandingAt(await rig.truth(), killed.at);
    await (plan.until === 'full speed'
      ? untilFullSpeed(rig, pulse, killed.at)
      : untilAtSpeed(plan, rig, pulse));
    const { at, inFlight } = killed;
    const one: Kill = { ...aim, at, inFlight, outstanding, uncertain: await watched.stop() };
    kills.push(one);
    plan.say(wordsOf(one, pulse));
  }
}

const outstandingAt = (runs: readonly Run[], at: number): number =>
  runs.filter(
    ({ createdAtMs = 0, endedAtMs = Number.POSITIVE_INFINITY }) => createdAtMs <= at && endedAtMs > at,
  ).length;

function wordsOf({ victim, point, outstanding, inFlight, uncertain, at }: Kill, pulse: Pulse): string {
  const seconds = ((Date.now() - at) / 1000).toFixed(1);
  return `${victim} killed at ${point}: ${outstanding} outstanding, ${inFlight} on the wire, at most ${uncertain} uncertain, goes on after at most ${seconds} s; ${pulse.last().ended} runs have ended`;
}

type Killed = { readonly at: number; readonly inFlight: number; readonly isBack: Promise<void> };

/** undefined where the batch came to its end before there was a moment to kill at. */
async function killAt(rig: Rig, pulse: Pulse, { victim, point }: Aim): Promise<Killed | undefined> {
  if (point === 'any moment') await wait(Math.random() * ANY_MOMENT_MS);
  for (const last = Date.now() + STUCK_MS; !rig.hasEnded();) {
    if (Date.now() > last) throw new Error(`nothing to kill at ${point} for ${STUCK_MS / 1000} s`);
    // What is counted is a moment old, and runs end meanwhile.
    const isRipe = (): boolean =>
      pulse.last().outstanding >= 2 * OUTSTANDING_LEAST && rig.gateway.inFlight() > 0;
    const strike = (): Killed | undefined =>
      isRipe() ? { inFlight: rig.gateway.inFlight(), at: Date.now(), isBack: kill(rig, victim) } : undefined;
    const killed = point === 'any moment' ? strike() : isRipe() && (await atMoment(rig, point, strike));
    if (killed) return killed;
    await wait(5);
  }
  return undefined;
}

/** In the very moment, with nothing in between; undefined where it did not come, or found too little. */
function atMoment(rig: Rig, moment: Moment, strike: () => Killed | undefined): Promise<Killed | undefined> {
  return new Promise((done) => {
    let isOver = false;
    const end = (killed?: Killed): void => {
      isOver = true;
      done(killed);
    };
    const late = setTimeout(end, 1_000);
    rig.gateway.atNext(moment, () => {
      if (isOver) return;
      clearTimeout(late);
      end(strike());
    });
  });
}

/** As many ends as slots since now: whatever stood still goes again. */
async function untilAtSpeed({ cap }: Plan, rig: Rig, pulse: Pulse): Promise<void> {
  const { ended } = pulse.last();
  await untilOr(rig, pulse, () => pulse.last().ended >= ended + cap);
}

async function untilFullSpeed(rig: Rig, pulse: Pulse, killedAt: number): Promise<void> {
  const wanted = 0.9 * pulse.endsWithin(BEFORE_MS, killedAt) * (2_000 / BEFORE_MS);
  const isFull = (): boolean => Date.now() >= killedAt + 4_000 && pulse.endsWithin(2_000) >= wanted;
  await untilOr(rig, pulse, () => isFull() || Date.now() > killedAt + FULL_SPEED_PATIENCE_MS);
  // What the next kill is compared with must be full speed as well.
  await wait(2_000);
}

async function finish(rig: Rig, pulse: Pulse): Promise<void> {
  await untilOr(rig, pulse, () => false);
  const { code, stderr } = await rig.command.ended;
  if (code !== 0) throw new Error(`the batch ended with ${code}:\n${stderr.slice(-2_000)}`);
}

/** Waits for something, or for the end of the batch. Throws where no run has ended for minutes. */
async function untilOr(rig: Rig, pulse: Pulse, isSo: () => boolean): Promise<void> {
  let seen = { ended: -1, at: Date.now() };
  while (!isSo() && !rig.hasEnded()) {
    const { ended } = pulse.last();
    if (ended !== seen.ended) seen = { ended, at: Date.now() };
    if (Date.now() - seen.at > STUCK_MS)
      throw new Error(`no run has ended for ${STUCK_MS / 1000} s:\n${rig.command.stderr.slice(-2_000)}`);
    await wait(50);
  }
}

/** The most attempts that the batch said to be uncertain until it is stopped. */
function watchUncertain(rig: Rig): { readonly stop: () => Promise<number> } {
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await rig.uncertain());
      await wait(500);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      return most;
    },
  };
}
