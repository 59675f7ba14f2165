// The servers and sessions of commands, which print what the embedded servers are doing.

import type { Config } from '../host/settings/config.ts';
import type { FoundBatch } from '../library/handle/found-batch.ts';
import { Servers } from '../library/servers.ts';
import type { Session } from '../library/session.ts';
import { configOf } from './flags/batch-options.ts';
import type { Printer } from './context.ts';

export type { Session };

type ServersPlace = { readonly out?: string };

export const serversFor = (config: Config, printer: Printer): Servers =>
  new Servers({ onNotice: (text) => printer.notice(printer.paint('dim', text)) }, config);

/** Starts servers if none are running; no batch goes on. */
export const openSession = (flags: ServersPlace, printer: Printer): Promise<Session> =>
  serversFor(configOf(flags), printer).look(false);

/** Starts the servers of a rehearsal for `work`, because the local run service has its runs; other services run anyway. */
export async function withLocalService<T>(
  flags: ServersPlace,
  batchFolder: FoundBatch,
  printer: Printer,
  work: () => Promise<T>,
): Promise<T> {
  await using servers = serversFor(configOf(flags), printer);
  await servers.forRehearsal(batchFolder);
  // Awaited here, because the servers are left on return.
  return await work();
}

export async function withSession(
  flags: ServersPlace,
  batchFolder: FoundBatch,
  printer: Printer,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  await using servers = serversFor(configOf(flags), printer);
  return await work(await servers.for(batchFolder));
}

/** Asks Temporal, but starts no servers; undefined if no server of this place is running. */
export const askLiving = <T>(
  flags: ServersPlace,
  printer: Printer,
  ask: (session: Session) => Promise<T>,
): Promise<T | undefined> =>
  serversFor(configOf(flags), printer).asking(async (session) => session && ask(session));
