// Resolves the base address `local`, where the local run service of this state folder listens, and decides whether webhooks can
// reach our receiver.

import { join } from 'node:path';
import { keyFromEnvironment, type ApiKey } from './settings/api-key.ts';
import { isThisMachine } from './settings/proxies.ts';
import { replaceFile } from './replace-file.ts';
import { textIfThere } from '../errors/file-fault.ts';

/** Names the local run service in place of a base address, because its port may change between starts. */
export const LOCAL = 'local';

/** Only a service on this machine may be a rehearsal, whose rows are retried sooner and whose costs are not mentioned. */
export const mayRehearse = (base: string): boolean => base === LOCAL || isThisMachine(new URL(base).hostname);

type LocalAddress = { readonly base: string; readonly token: string };

const localFile = (home: string): string => join(home, 'local-service.json');

export const keepLocalService = (home: string, address: LocalAddress): void =>
  replaceFile(localFile(home), JSON.stringify(address));

/** undefined if no local run service was started in this state folder. */
export function localService(home: string): { readonly base: string; readonly key: ApiKey } | undefined {
  const text = textIfThere(localFile(home));
  if (text === undefined) return undefined;
  const { base, token } = JSON.parse(text) as LocalAddress;
  return { base, key: keyFromEnvironment(token, localFile(home)) };
}

/**
 * Whether the run service at `base` can reach our receiver. `url` is the receiver's public address from the settings
 * (RUNSHEET_WEBHOOK_URL). Without it, the receiver only has a loopback address, which would lead a remote run service to its own
 * machine.
 */
export function canReachReceiver(base: string, url: string | undefined): boolean {
  return url !== undefined || base === LOCAL || isThisMachine(new URL(base).hostname);
}

/** The origins of the run services of this machine: that of the state folder, and that of the settings. */
export function originsHere({
  home,
  apiUrl,
}: {
  readonly home: string;
  readonly apiUrl: string | undefined;
}) {
  const named = apiUrl !== undefined && isThisMachine(new URL(apiUrl).hostname) ? [apiUrl] : [];
  const own = localService(home);
  const bases = [...named, ...(own === undefined ? [] : [own.base])];
  return [...new Set(bases.map((base) => new URL(base).origin))];
}
