// Applies a vendor's webhook to its run. The webhook proves that the request arrived and carries the vendor's id of the
// run; polling then continues. A late webhook turns an unknown end into the known one.

import type { RunRow } from '../../database.ts';
import { NO_WORK, type ExecutorEvents } from '../executor.ts';
import {
  AssignedRun,
  keptState,
  sentTaskOf,
  shownAgain,
  stateIn,
  withLine,
} from '../driving/assigned-run.ts';
import type { VendorWebhook } from '../backend.ts';
import type { RunServer } from '../driving/run-server.ts';
import type { Task } from '../task.ts';
import type { WebhookAddresses, WebhookRun } from './webhook-address.ts';

type WebhookWorld = {
  readonly addresses: WebhookAddresses;
  readonly find: (id: string) => RunRow | undefined;
  readonly task: (deploymentId: string) => Task | undefined;
  readonly servers: () => readonly RunServer[];
  readonly now: () => number;
  readonly commit: (work: () => void) => void;
  readonly events: Pick<ExecutorEvents, 'keep' | 'reached'>;
};

/** Returns the status of the answer. */
export async function applyVendorWebhook(
  world: WebhookWorld,
  path: string,
  message: Pick<VendorWebhook, 'headers' | 'body'>,
): Promise<200 | 403 | 404> {
  const run = world.addresses.runAt(path);
  const row = run && world.find(run.id);
  const task = row && world.task(row.deploymentId);
  if (run === undefined || row === undefined || task?.kind !== 'model' || task.vendor !== run.vendor)
    return 404;
  const server = serverOf(world, row, run);
  if (server?.backend.refIn === undefined) return 404;
  const ref = await server.backend.refIn({ ...message, id: run.id, model: task.model });
  if (ref === undefined) return 403;
  // The run may have ended meanwhile.
  adopt(world, { server, run, row: world.find(run.id) ?? row, task, ref });
  return 200;
}

/** The server that was asked in this try. */
function serverOf(
  world: WebhookWorld,
  { state: text }: RunRow,
  { tries }: WebhookRun,
): RunServer | undefined {
  const state = stateIn(text);
  if (state === undefined || (state.tries ?? 1) !== tries) return undefined;
  return world.servers().find(({ name }) => name === state.server);
}

type Adopted = {
  readonly server: RunServer;
  readonly run: WebhookRun;
  readonly row: RunRow;
  readonly task: Task;
  readonly ref: string;
};

function adopt(world: WebhookWorld, { server, run, row, task, ref }: Adopted): void {
  const assigned = server.runs.get(run.id);
  if (assigned?.phase === 'placed' && assigned.mustLook) return server.accepted(assigned, undefined, ref);
  // A run that was cancelled before anybody knew its id is cancelled at the vendor now.
  if (row.endedMs !== null) server.leaving.set(run.id, sentTaskOf({ run: row, task }));
  if (assigned === undefined && row.endedMs === null && row.status === 'timeout')
    revive(world, { server, run, row, task, ref });
  server.wake();
}

/** The end was unknown; the run is polled again. */
function revive({ now, commit, events }: WebhookWorld, { server, row, task, ref }: Adopted): void {
  const before = stateIn(row.state);
  if (before === undefined || (before.ref !== undefined && before.ref !== ref)) return;
  const line = `${server.name} reports that it has this run: its end is looked up`;
  const state = withLine({ ...shownAgain(before), isSent: true, ref }, 'info', line, now());
  commit(() => {
    events.keep(row, keptState(state));
    events.reached(row, { status: 'queued', atMs: now(), work: NO_WORK });
  });
  server.take(new AssignedRun(row, task, state, false));
}
