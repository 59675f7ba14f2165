// Simulates other users and outages: runs of the same deployment, some of which look like runs of the batch; a user who
// cancels runs of the batch in the service's web interface; and a file host that is down for a while.

import { setTimeout as wait } from 'node:timers/promises';
import type { Run } from '../../../src/service-client/contract/run.ts';
import { isTerminal } from '../../../src/service-client/contract/statuses.ts';
import type { BatchName } from '../../../src/batch/workflow-ids.ts';
import { readToken } from '../../../src/webhook/webhook-token.ts';
import { ask, setFaults } from './service.ts';

const RUN_EVERY_MS = 1_500;
const CANCEL_EVERY_MS = 5_000;
const FILES_EVERY_MS = 20_000;
const FILES_AWAY_MS = 4_000;

export type Others = {
  /** Runs of the batch that a user has cancelled. */
  readonly cancelled: ReadonlySet<string>;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly stop: () => Promise<void>;
};

export type World = {
  readonly base: string;
  /** undefined until the batch exists. */
  readonly name: () => BatchName | undefined;
  readonly truth: () => Promise<readonly Run[]>;
};

export function simulateOthers(world: World): Others {
  const stopped = new AbortController();
  const cancelled = new Set<string>();
  const counts = { 'runs of others': 0, 'cancelled by somebody': 0, 'files away': 0 };
  const every = async (ms: number, act: () => Promise<void>): Promise<void> => {
    for (;;) {
      await wait(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      // The service may be down at the moment.
      await act().catch(() => undefined);
    }
  };
  const timers = [
    every(RUN_EVERY_MS, async () => {
      await queueForeign(world, counts['runs of others']);
      counts['runs of others'] += 1;
    }),
    every(CANCEL_EVERY_MS, async () => {
      const run = await anyOutstanding(world);
      if (run === undefined) return;
      await ask(world.base, 'POST', `/run/${run.id}/cancel`);
      cancelled.add(run.id);
      counts['cancelled by somebody'] += 1;
    }),
    every(FILES_EVERY_MS, async () => {
      await setFaults(world.base, { 'away-file': 1 });
      counts['files away'] += 1;
      await wait(FILES_AWAY_MS);
      await setFaults(world.base, { 'away-file': 0 });
    }),
  ];
  return {
    cancelled,
    counts: () => counts,
    stop: async () => {
      stopped.abort();
      await Promise.all(timers);
    },
  };
}

const MAC = '0123456789abcdef0123456789abcdef';

/**
 * Queues a run without a webhook, with a foreign webhook, with a token of another birth mark, or with a token of
 * version 1.
 */
async function queueForeign({ base, name, truth }: World, nth: number): Promise<void> {
  const deploymentId = (await truth()).at(0)?.deploymentId;
  const { batch = 'a-batch', mark = '' } = name() ?? {};
  if (deploymentId === undefined) return;
  const otherMark = `${mark.slice(8)}${mark.slice(0, 8)}`;
  const webhook = [
    undefined,
    'http://127.0.0.1:1/somebody',
    `http://runsheet.invalid/hook/2/${batch}/${otherMark}/1/1/${MAC}`,
    `http://runsheet.invalid/hook/1/${batch}/1/1/${MAC}`,
  ][nth % 4];
  const inputs = { prompt: `of somebody else, ${nth}` };
  await ask(base, 'POST', '/run/deployment/queue', {
    deployment_id: deploymentId,
    inputs,
    ...(webhook === undefined ? {} : { webhook }),
  });
}

async function anyOutstanding({ truth, name }: World): Promise<Run | undefined> {
  const own = (await truth()).filter(
    ({ status, webhook }) => !isTerminal(status) && readToken(webhook)?.mark === name()?.mark,
  );
  return own[Math.floor(Math.random() * own.length)];
}
