// When a schedule fires, as Temporal computes it.

import type { Client } from '@temporalio/client';
import { scheduleIdOf } from '../batch/workflow-ids.ts';
import { parseCron } from './cron.ts';
import type { ScheduleDefinition } from './definition.ts';
import { clockChanges, isOnRule, zoneOf, type ClockChange } from './zone.ts';

export type MetChange = ClockChange & {
  /**
   * When Temporal fires around it: of times that come twice it fires at one or both, which differs between zones and rules.
   * For times that do not exist: only what is off the rule.
   */
  readonly fires: readonly Date[];
};

export function metChanges(
  client: Client,
  { name, cron, timezone }: ScheduleDefinition,
): Promise<readonly MetChange[]> {
  const [rule, zone] = [parseCron(cron), zoneOf(timezone)];
  const changes = clockChanges(rule, zone, Date.now());
  return Promise.all(
    changes.map(async (change) => {
      const [from, to] = [-change.byMs, 2 * change.byMs - 1].map(
        (by) => new Date(change.moment.getTime() + by),
      ) as [Date, Date];
      const near = await matchingTimes(client, name, from, to);
      const isExtra = (time: Date): boolean => !isOnRule(rule, zone, time.getTime());
      return { ...change, fires: change.what === 'skipped' ? near.filter(isExtra) : near };
    }),
  );
}

/** The times of a schedule between two times, both included, as Temporal lists them. */
export async function matchingTimes(
  { workflowService, options }: Client,
  name: string,
  from: Date,
  to: Date,
): Promise<readonly Date[]> {
  const timestamp = (time: Date) => ({
    seconds: Math.floor(time.getTime() / 1_000) as unknown as Long,
    nanos: (time.getTime() % 1_000) * 1_000_000,
  });
  const { startTime } = await workflowService.listScheduleMatchingTimes({
    namespace: options.namespace,
    scheduleId: scheduleIdOf(name),
    startTime: timestamp(new Date(from.getTime() - 1)),
    endTime: timestamp(to),
  });
  return startTime.map(({ seconds }) => new Date(Number(seconds) * 1_000));
}

type Long = NonNullable<
  NonNullable<Parameters<Client['workflowService']['listScheduleMatchingTimes']>[0]['startTime']>['seconds']
>;
