// Sends the notifications of batches and of schedules.

import { basename } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import type { Notice } from '../src/batch/notices/notice.ts';
import type { ScheduleNotice } from '../src/batch/notices/schedule-notice.ts';
import type { Progress } from '../src/batch/shown/progress.ts';
import { shownAddress } from '../src/errors/redact.ts';
import { deliver } from '../src/notices/deliver.ts';
import { noticeBody, scheduleNoticeBody } from '../src/notices/notice-body.ts';
import { reasonWithRows } from '../src/results/batch-rows.ts';
import { readLatestSummary } from '../src/results/summary.ts';
import { LOCAL } from '../src/host/local-address.ts';
import { shown, timesOf, zoneOf } from '../src/schedule/cron.ts';
import { firingOf, type ScheduleDefinition } from '../src/schedule/schedule-definition.ts';
import type { Deps } from './deps.ts';

type NoticeInput = BatchRef & { readonly notice: Notice; readonly progress: Progress };

/**
 * Sends one notification of a batch. Temporal retries for a minute; receivers recognise a repeated notification by
 * its id.
 */
export async function notify(deps: Deps, { notice, progress, ...ref }: NoticeInput): Promise<void> {
  const { file, service, store } = await deps.open(ref);
  const delivery = { to: notice.to, within: service.base, settings: deps.notices };
  const pause = notice.pause && (await reasonWithRows(store, file, notice.pause));
  const named = pause === undefined ? notice : { ...notice, pause };
  // The results of an ended batch are written before its notification.
  const hasRefused = notice.news === 'done' && progress.tally.outcomes.refused > 0;
  const summary = hasRefused ? await readLatestSummary(store) : undefined;
  await deliver(delivery, noticeBody(file, named, progress, summary?.refused));
}

type FiringNotice = {
  readonly definition: ScheduleDefinition;
  readonly nominalTime: number;
  readonly notice: ScheduleNotice;
};

/** Tells a target of a schedule that a firing made no batch. Temporal retries for a minute. */
export async function notifyFiring(
  { notices, maker }: Pick<Deps, 'notices' | 'maker'>,
  { definition, nominalTime, notice }: FiringNotice,
): Promise<void> {
  const { name: schedule, cron, timezone, request } = definition;
  const about = {
    schedule,
    sheet: basename(shownAddress(firingOf(definition, nominalTime).sheet)),
    deployment: request.deployment,
    nominalTime,
    run: activityInfo().workflowExecution?.runId ?? '',
    isOnRule: timesOf(cron, timezone)(nominalTime),
    clock: shown(zoneOf(timezone), nominalTime).toISOString().slice(0, 16).replace('T', ' '),
  };
  const delivery = { to: notice.to, within: networksOf(maker, definition), settings: notices };
  await deliver(delivery, scheduleNoticeBody(about, notice));
}

/** An address that shares no network with any target, so only public addresses are allowed besides it. */
const PUBLIC_ONLY = 'http://192.0.2.1';

/** The run service of this worker, whatever the schedule names. */
function networksOf({ config, isEmbedded }: Deps['maker'], { request }: ScheduleDefinition): string {
  const isLocal = request.service.base === LOCAL && isEmbedded;
  return isLocal ? 'http://127.0.0.1' : (config.apiUrl ?? PUBLIC_ONLY);
}
