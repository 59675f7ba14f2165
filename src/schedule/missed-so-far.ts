// How many times a schedule has missed, as Temporal has counted them.

import type { Client } from '@temporalio/client';
import { nominalTimeOf, scheduleIdOf } from '../batch/workflow-ids.ts';
import { matchingTimes } from './times.ts';

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
