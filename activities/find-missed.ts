// Finds the times that a schedule has missed since its last firing. Each is found once: the file of the schedule keeps the count.

import { missedAmong, missedSince } from '../src/batch/notices/missed-times.ts';
import type { MissedTimes } from '../src/batch/notices/schedule-notice.ts';
import { isAllowed } from '../src/store/allowed-folders.ts';
import { locationOf } from '../src/store/batch-folders.ts';
import { keepMissed, MISSED_FOLDER, readMissed } from '../src/schedule/missed-record.ts';
import type { FiringInput } from './create-firing.ts';
import type { Deps } from './deps.ts';

/** undefined if none was missed. */
export async function findMissed(
  { missedSoFar, maker }: Pick<Deps, 'missedSoFar' | 'maker'>,
  { definition, nominalTime }: Omit<FiringInput, 'findOnly'>,
): Promise<MissedTimes | undefined> {
  const { name, out, catchupMs } = definition;
  if (!isAllowed(locationOf(out, MISSED_FOLDER), maker.config)) return undefined;
  const { createdAt, missed, between, firedAt } = await missedSoFar(name, nominalTime);
  const kept = await readMissed(out, name);
  const { record, count } = missedSince(kept, { createdAt, firing: nominalTime, missed });
  await keepMissed(out, name, record);
  if (count === 0) return undefined;
  return { count, times: missedAmong(between, count, { firedAt, catchupMs }) };
}
