// The times that a schedule has missed: as Temporal counts them, and what its last firing has read about them, in a file beside its
// batches, which every worker can read.

import { z } from 'zod';
import type { MissedRecord } from '../batch/notices/schedule-notice.ts';
import { openStore } from '../store/open-store.ts';
import type { Client } from '@temporalio/client';
import { nominalTimeOf, scheduleIdOf } from '../batch/workflow-ids.ts';
import { matchingTimes } from './definition.ts';

/** A folder beside the batches. */
export const MISSED_FOLDER = '.schedules';

const schema = z.object({
  createdAt: z.number(),
  firing: z.number(),
  before: z.number(),
  missed: z.number(),
}) satisfies z.ZodType<MissedRecord>;

const fileOf = (schedule: string): string => `${MISSED_FOLDER}/${schedule}.json`;

/** undefined if there is none that can be read. */
export async function readMissed(out: string, schedule: string): Promise<MissedRecord | undefined> {
  return recordIn(await openStore(out).read(fileOf(schedule)));
}

function recordIn(text: string | undefined): MissedRecord | undefined {
  try {
    return text === undefined ? undefined : schema.parse(JSON.parse(text));
  } catch {
    // A half of a file after a power cut: at worst, old times are reported once more.
    return undefined;
  }
}

/** Leaves the record of a later firing, and that of a schedule that was made again. */
export const keepMissed = (out: string, schedule: string, record: MissedRecord): Promise<void> =>
  openStore(out).update(fileOf(schedule), (text) => {
    const there = recordIn(text);
    const isOlder = there === undefined || !isLater(there, record);
    return isOlder ? JSON.stringify(record) : undefined;
  });

const isLater = (one: MissedRecord, other: MissedRecord): boolean =>
  one.createdAt > other.createdAt || (one.createdAt === other.createdAt && one.firing > other.firing);

const SECOND_MS = 1_000;

export async function missedSoFar(client: Client, name: string, nominalTime: number) {
  const { info } = await client.schedule.getHandle(scheduleIdOf(name)).describe();
  const createdAt = info.createdAt.getTime();
  const firings = info.recentActions.map(({ action, takenAt }) => ({
    time: nominalTimeOf(name, action.workflow.workflowId) ?? nominalTime,
    takenAt: takenAt.getTime(),
  }));
  const firedAt = firings.findLast(({ time }) => time === nominalTime)?.takenAt ?? nominalTime;
  const earlier = firings.map(({ time }) => time).filter((time) => time < nominalTime);
  const from = new Date(Math.max(createdAt, ...earlier) + SECOND_MS);
  const to = new Date(nominalTime - SECOND_MS);
  const between = from > to ? [] : await matchingTimes(client, name, from, to);
  return {
    createdAt,
    missed: info.numActionsMissedCatchupWindow,
    between: between.map((time) => time.getTime()),
    firedAt,
  };
}
