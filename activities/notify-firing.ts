// Tells a target of a schedule that a firing made no batch, or that times were missed. Temporal tries it again for a minute.

import { basename } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import type { ScheduleNotice } from '../src/batch/notices/schedule-notice.ts';
import { parseCron } from '../src/schedule/cron.ts';
import { firingOf, type ScheduleDefinition } from '../src/schedule/definition.ts';
import { shownAddress } from '../src/errors/redact.ts';
import { isOnRule, shown, zoneOf } from '../src/schedule/zone.ts';
import { LOCAL } from '../src/run-service/local-address.ts';
import { scheduleNoticeBody } from '../src/notices/schedule-notice-body.ts';
import type { Deps } from './deps.ts';
import { deliver } from '../src/notices/deliver.ts';

export type FiringNotice = {
  readonly definition: ScheduleDefinition;
  readonly nominalTime: number;
  readonly notice: ScheduleNotice;
};

export async function notifyFiring(
  { notices, maker }: Pick<Deps, 'notices' | 'maker'>,
  { definition, nominalTime, notice }: FiringNotice,
): Promise<void> {
  const { name: schedule, cron, timezone, request } = definition;
  const zone = zoneOf(timezone);
  const about = {
    schedule,
    sheet: basename(shownAddress(firingOf(definition, nominalTime).sheet)),
    deployment: request.deployment,
    nominalTime,
    run: activityInfo().workflowExecution?.runId ?? '',
    isOnRule: isOnRule(parseCron(cron), zone, nominalTime),
    clock: (at: number) => shown(zone, at).toISOString().slice(0, 16).replace('T', ' '),
  };
  const delivery = { to: notice.to, within: networksOf(maker, definition), settings: notices };
  await deliver(delivery, scheduleNoticeBody(about, notice));
}

/** An address that is in no network of its own: only public ones are allowed beside it. */
const PUBLIC_ONLY = 'http://192.0.2.1';

/** The run service of this worker, whatever the schedule names. */
function networksOf({ config, isEmbedded }: Deps['maker'], { request }: ScheduleDefinition): string {
  const isLocal = request.service.base === LOCAL && isEmbedded;
  return isLocal ? 'http://127.0.0.1' : (config.apiUrl ?? PUBLIC_ONLY);
}
