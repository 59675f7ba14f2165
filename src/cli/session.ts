// Opens the sessions of commands, which print what the embedded servers are doing.

import type { Config } from '../host/config.ts';
import { openLivingSession as openLiving, openSession as open, type Session } from '../library/session.ts';
import type { FoundBatch } from '../library/handle/found-batch.ts';
import { LOCAL } from '../run-service/local-address.ts';
import { configOf } from './flags/batch-options.ts';
import type { Printer } from './context.ts';

export type { Session };

export type SessionParams = { readonly config: Config; readonly local: boolean; readonly printer: Printer };

/** A session for a command that only reads; undefined if no embedded stack is running. */
export const openLivingSession = (params: SessionParams): Promise<Session | undefined> =>
  openLiving(printing(params));

export const openSession = (params: SessionParams): Promise<Session> => open(printing(params));

const printing = ({ config, local, printer }: SessionParams) => ({
  config,
  local,
  notice: (text: string): void => printer.notice(printer.paint('dim', text)),
});

/** Starts the servers of a rehearsal for `work`, because the local run service has its runs; other services run anyway. */
export async function withLocalService<T>(
  flags: { readonly out?: string },
  found: FoundBatch,
  printer: Printer,
  work: () => Promise<T>,
): Promise<T> {
  if (found.file.service.base !== LOCAL) return work();
  await using _ = await openSession({ config: configOf(flags), local: true, printer });
  return await work();
}

/** Opens a session for an existing batch, and closes it after `work`. */
export async function withSession(
  flags: { readonly out?: string },
  found: FoundBatch,
  printer: Printer,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const local = found.file.service.base === LOCAL;
  await using session = await openSession({ config: configOf(flags), local, printer });
  return await work(session);
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
