// What the last firing of a schedule has read about missed times, in a file beside its batches, which every worker can read.

import { z } from 'zod';
import type { MissedRecord } from '../batch/notices/schedule-notice.ts';
import { openStore } from '../store/open-store.ts';

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
