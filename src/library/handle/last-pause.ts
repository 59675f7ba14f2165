// Reads why a batch was paused when its servers were lost. Temporal knows it; without its servers, only the events in the folder do.

import { setTimeout as wait } from 'node:timers/promises';
import type { Pause, PauseKind } from '../../batch/pausing/pause-kinds.ts';
import type { Config } from '../../host/settings/config.ts';
import { readEvents } from '../../results/all-events.ts';
import { reasonWithRows } from '../../results/batch-rows.ts';
import { LOCAL } from '../../host/local-address.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import { checkPlace } from '../../store/open-store.ts';
import type { FoundBatch } from './found-batch.ts';

export type LastPause = Pick<Pause, 'reason'> & { readonly kind: PauseKind; readonly since: number };

/** The pauses that are still in force, oldest first. */
export async function lastPauses({ store, file }: FoundBatch): Promise<readonly LastPause[]> {
  const open = new Map<PauseKind, LastPause>();
  for await (const event of readEvents(store)) {
    const { kind, at: since, reason = '', places } = event;
    if (event.event === 'paused' && kind !== undefined) {
      const named = await reasonWithRows(store, file, { reason, ...(places && { places }) });
      open.set(kind, { kind, since, reason: named.reason });
    } else if (event.event === 'continued' && kind !== undefined) open.delete(kind);
    else if (ENDS_ALL.has(event.event)) open.clear();
  }
  return [...open.values()];
}

const ENDS_ALL: ReadonlySet<string> = new Set(['resumed', 'cancelled', 'rebuilt']);

/** Checks whether the cause of a pause persists, and throws it: a resumed batch would only pause again. */
export async function refuseSameCause(config: Config, batchFolder: FoundBatch): Promise<void> {
  const { service, deployment } = batchFolder.file;
  for (const { kind } of await lastPauses(batchFolder)) {
    if (kind === 'store') await checkPlace(config.out);
    // The local run service starts with the servers.
    else if (ASKS_SERVICE.has(kind) && service.base !== LOCAL)
      await openServices(config, openTransport(1)).at(service).getDeployment(deployment.id);
  }
}

const ASKS_SERVICE: ReadonlySet<PauseKind> = new Set(['blocked', 'unreachable', 'unreadable']);

const STORED_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits until the events in the folder contain these pauses. A batch writes them a second later, and its
 * servers may end before that.
 */
export async function untilKept(batchFolder: FoundBatch, kinds: readonly PauseKind[]): Promise<void> {
  const until = performance.now() + STORED_WITHIN_MS;
  while (performance.now() < until) {
    const kept = new Set((await lastPauses(batchFolder).catch(() => [])).map(({ kind }) => kind));
    if (kinds.every((kind) => kept.has(kind))) return;
    await wait(LOOK_EVERY_MS);
  }
}
