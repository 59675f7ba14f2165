// Creates the webhooks of a run, including faulty ones: one for each change, and one for its outputs if the address contains
// `target_events=run.output`.

import type { outputShown, Shown, webhookShown } from '../../run-service/contract/shown.ts';
import type { Faults, FaultTarget } from '../faults.ts';
import { uuidOf } from '../identity.ts';
import type { LiveRun, Output, RunChange } from '../executors/executor.ts';
import { shownOutputs, type Links } from '../runs/run-record.ts';
import type { Webhooks } from './webhooks.ts';

type World = {
  readonly webhooks: Pick<Webhooks, 'post'>;
  readonly faults: Faults;
  readonly linksOf: (run: FaultTarget, nowMs: number) => Links;
  readonly outputsOf: (run: LiveRun) => readonly Output[];
};

const DELAY_MS = 3_000;

/** Sends the webhooks of one change, if the run has a webhook. */
export function publish(world: World, run: LiveRun, change: RunChange): void {
  if (run.webhook === null) return;
  const succeeded = change.kind === 'status' && change.status === 'success';
  const outputs = succeeded
    ? shownOutputs(run.id, world.outputsOf(run), change.atMs, world.linksOf(run, change.atMs))
    : [];
  if (outputs.length > 0 && targetEvents(run.webhook).includes('run.output'))
    send(world, run, { event: 'run.output', change: { ...change, status: 'running' }, outputs });
  send(world, run, { event: 'run.updated', change, outputs });
}

type Word = {
  readonly event: 'run.updated' | 'run.output';
  readonly change: RunChange;
  readonly outputs: readonly Shown<typeof outputShown>[];
};

function send({ webhooks, faults }: World, run: LiveRun, { event, change, outputs }: Word): void {
  const occasion = `${event} ${change.kind} ${change.status} ${change.work.progress}`;
  const shouldInject = (fault: Parameters<Faults['shouldInject']>[0]): boolean =>
    faults.shouldInject(fault, run, occasion);
  if (run.webhook === null || shouldInject('lose-webhook')) return;
  const body: Shown<typeof webhookShown> = {
    event_type: event,
    status: shouldInject('lie-webhook') ? 'success' : change.status,
    live_status: change.work.liveStatus,
    progress: change.work.progress,
    run_id: shouldInject('stray-webhook') ? uuidOf('stray', run.id) : run.id,
    outputs: shouldInject('empty-webhook') ? [] : outputs,
  };
  const order = {
    run: run.number,
    webhook: run.webhook,
    body: JSON.stringify(body),
    delayMs: shouldInject('delay-webhook') ? DELAY_MS : 0,
    retries: shouldInject('post-retries') ? ('POST' as const) : ('GET' as const),
  };
  const times = shouldInject('repeat-webhook') ? 2 : 1;
  for (let time = 0; time < times; time += 1) webhooks.post(order);
}

/** Reads the raw address, like the real service: an encoded comma is not a separator. */
function targetEvents(webhook: string): readonly string[] {
  const query = webhook.split('?', 2)[1] ?? '';
  const given = query.split('&').find((pair) => pair.startsWith('target_events='));
  return given?.slice('target_events='.length).split(',') ?? [];
}
