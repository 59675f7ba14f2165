// Says how fast the files of a batch arrive, if it waits for them: its activities heartbeat what they download.

import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { Progress } from '../batch/shown/progress.ts';
import type { Traffic } from '../run-service/file-traffic.ts';

/** Downloads of a part that take no longer than this are nothing that a batch waits for. */
const SLOW_MS = 15_000;

type Pending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/** The activities that only wait for files, and no message. */
export const fetchesFiles = ({ activityType }: Pending): boolean => activityType?.name === 'collectRows';

/** The progress, with the downloads as its reason if there is no other one. */
export async function withSlowFiles(
  client: Client,
  { raw, workflowId }: WorkflowExecutionDescription,
  progress: Progress,
): Promise<Progress> {
  const { reason, pauses } = progress;
  if (pauses.length > 0 || !(reason === undefined || /^waiting for files: \d+ rows?$/.test(reason)))
    return progress;
  const slow = (raw.pendingActivities ?? []).filter((one) => fetchesFiles(one) && isSlow(one));
  const traffics = await Promise.all(slow.map((one) => trafficOf(client, workflowId, one)));
  const known = traffics.filter((one) => one !== undefined);
  const files = sum(known.map((one) => one.files));
  if (files === 0) return progress;
  const speed = speedText(sum(known.map(({ bytesPerSecond }) => bytesPerSecond)));
  return {
    ...progress,
    reason: `waiting for files: ${files} download${files === 1 ? '' : 's'}, ${speed}`,
  };
}

function isSlow({ lastStartedTime }: Pending): boolean {
  const startedAt = optionalTsToMs(lastStartedTime);
  return startedAt !== undefined && Date.now() - startedAt > SLOW_MS;
}

/** undefined if its worker has not said yet, or its words cannot be read here. */
async function trafficOf(
  client: Client,
  workflowId: string,
  { activityId, heartbeatDetails }: Pending,
): Promise<Traffic | undefined> {
  const { namespace, loadedDataConverter } = client.options;
  const context = {
    type: 'activity',
    namespace,
    workflowId,
    isLocal: false,
    ...(activityId ? { activityId } : {}),
  } as const;
  try {
    const [traffic] = await decodeArrayFromPayloads(loadedDataConverter, heartbeatDetails?.payloads, context);
    return (traffic ?? undefined) as Traffic | undefined;
  } catch {
    return undefined;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function speedText(bytesPerSecond: number): string {
  if (bytesPerSecond < 10_000) return `${bytesPerSecond} B/s`;
  return bytesPerSecond < 1e6
    ? `${Math.round(bytesPerSecond / 1e3)} kB/s`
    : `${(bytesPerSecond / 1e6).toFixed(1)} MB/s`;
}
