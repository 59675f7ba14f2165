// Freezes a worker in the middle of its groups and wakes it long after Temporal gave them up. More attempts are due
// than the worker has connections, so some POSTs are in flight and other attempts wait inside the worker for a
// connection. Without a lease, the worker would send the waiting ones when it wakes.

import type { Client } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as wait } from 'node:timers/promises';
import { connectClient } from '../../src/temporal/connect.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { openGateway, type Gateway } from '../stage/gateway.ts';
import { IS_LONG, OUTAGE_MS } from '../stage/outage.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';
import { expectAllOnce } from '../stage/truth.ts';

const ROWS = 500;
const CAP = 320;
const GROUPS = CAP / 32;
/** A worker's connections: so many POSTs of the first groups are in flight, the other attempts wait. */
const ON_WIRE = 256;
/**
 * Longer than the heartbeat timeout of 5 s and the lease, shorter than the POST timeout of 10 s: only the lease keeps the
 * waiting attempts from being sent.
 */
const ABANDONED_MS = 7_000;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: CAP, runSeconds: 0.5 });

type FrozenCase = [name: string, hasOther: boolean, frozenMs: number];
const MORE: readonly FrozenCase[] = [
  ['no other worker lives meanwhile', false, ABANDONED_MS],
  ['so long that its POSTs are too late as well', false, OUTAGE_MS],
  ['so long, and another worker lives', true, OUTAGE_MS],
];

describe('a worker that is frozen in the middle of its groups and woken long after Temporal abandoned them', () => {
  let stage = new Stage();
  let gateway: Gateway;
  let client: Client;
  let release = (): void => undefined;
  let closeAll = async (): Promise<void> => undefined;

  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    const { base } = await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    gateway = await openGateway(base, new Promise<void>((done) => (release = done)));
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const connected = await connectClient({ address, namespace, from: 'the test', options: {} });
    ({ client } = connected);
    stage.environment = { ...stage.environment, RUNSHEET_API_URL: gateway.base };
    closeAll = async () => {
      release();
      await stage.close();
      await gateway.close();
      await connected.close();
    };
  });
  afterEach(() => closeAll());

  /** How many groups have a confirmed heartbeat, so that their POSTs may start. */
  const leasedGroups = async (): Promise<number> => {
    const { raw } = await client.workflow.getHandle(workflowIdOf(stage.batchFile())).describe();
    const groups = raw.pendingActivities?.filter(
      ({ activityType, heartbeatDetails }) => activityType?.name === 'queueRuns' && heartbeatDetails != null,
    );
    return groups?.length ?? 0;
  };

  it.each<FrozenCase>([['another worker lives meanwhile', true, ABANDONED_MS], ...(IS_LONG ? MORE : [])])(
    'sends none of their attempts, and nothing is lost or bought twice: %s',
    async (_, hasOther, frozenMs) => {
      const frozen = await stage.worker();
      const batch = await stage.submit(ROWS, CAP);
      await until(
        async () => gateway.inFlight() === ON_WIRE && (await leasedGroups()) === GROUPS,
        'all groups may send, and each connection has a POST in flight',
      );
      if (hasOther) await stage.worker();
      frozen.child.kill('SIGSTOP');
      const callsBefore = gateway.calls.length;
      release();
      await wait(frozenMs);
      const wokeAt = Date.now();
      frozen.child.kill('SIGCONT');

      await expectAllOnce(stage, batch, ROWS);
      expect(callsBefore).toBe(ON_WIRE);
      const late = gateway.calls
        .filter(({ at }) => at >= wokeAt)
        .map(({ webhook }) => readToken(webhook))
        .filter((token) => token?.attempt === 1 && token.place <= CAP);
      expect(late).toEqual([]);
      const runs = await stage.truth();
      // Attempts that waited inside the frozen worker were proved absent and sent again as attempt 2. Later rows may have
      // waited there too, if a webhook ended a run before the response to its POST.
      const again = runs
        .map(({ webhook }) => readToken(webhook))
        .filter((token) => token?.attempt === 2 && token.place <= CAP);
      expect(again).toHaveLength(CAP - ON_WIRE);
    },
    180_000 + OUTAGE_MS,
  );
});
