// The servers and sessions of commands, which print what the embedded servers are doing.

import type { Config } from '../host/config.ts';
import type { FoundBatch } from '../library/handle/found-batch.ts';
import { Servers } from '../library/servers.ts';
import type { Session } from '../library/session.ts';
import { configOf } from './flags/batch-options.ts';
import type { Printer } from './context.ts';

export type { Session };

type SessionParams = { readonly config: Config; readonly local: boolean; readonly printer: Printer };

/** The servers of a command, which opens them as it needs them, and leaves them when it disposes of this. */
export const serversFor = (config: Config, printer: Printer): Servers =>
  new Servers({ onNotice: (text) => printer.notice(printer.paint('dim', text)) }, config);

/** A session for a command that only reads; undefined if no embedded stack is running. */
export const openLivingSession = async ({ config, printer }: SessionParams): Promise<Session | undefined> =>
  (await serversFor(config, printer).join()).session;

export const openSession = ({ config, local, printer }: SessionParams): Promise<Session> =>
  serversFor(config, printer).open(local);

/** Starts the servers of a rehearsal for `work`, because the local run service has its runs; other services run anyway. */
export async function withLocalService<T>(
  flags: { readonly out?: string },
  found: FoundBatch,
  printer: Printer,
  work: () => Promise<T>,
): Promise<T> {
  await using servers = serversFor(configOf(flags), printer);
  await servers.forRehearsal(found);
  // Awaited here, because the servers are left on return.
  return await work();
}

/** Opens a session for an existing batch, and closes it after `work`. */
export async function withSession(
  flags: { readonly out?: string },
  found: FoundBatch,
  printer: Printer,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  await using servers = serversFor(configOf(flags), printer);
  return await work(await servers.for(found));
}

/** Asks Temporal, but starts no servers; undefined if no server of this place is running. */
export async function askLiving<T>(
  flags: { readonly out?: string },
  printer: Printer,
  ask: (session: Session) => Promise<T>,
): Promise<T | undefined> {
  await using session = await openLivingSession({ config: configOf(flags), local: false, printer });
  return session && (await ask(session));
}
