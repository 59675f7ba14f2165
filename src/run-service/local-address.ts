// Resolves the base address `local`: where the local run service of this state folder listens.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyFromEnvironment } from '../host/api-key.ts';
import type { ServiceConnection } from './connection.ts';
import { isThisMachine } from '../host/proxies.ts';
import { textIfThere } from '../errors/file-fault.ts';

/** The name of the local run service in place of a base address; its port may change between starts. */
export const LOCAL = 'local';

/** Rows of a rehearsal are sent again sooner, and nothing is said about money: only a service of this machine may be one. */
export const mayRehearse = (base: string): boolean => base === LOCAL || isThisMachine(new URL(base).hostname);

type LocalAddress = { readonly base: string; readonly token: string };

const localFile = (home: string): string => join(home, 'local-service.json');

export const keepLocalService = (home: string, address: LocalAddress): void =>
  writeFileSync(localFile(home), JSON.stringify(address), { mode: 0o600 });

/** undefined if none was started in this state folder. */
export function localService(home: string): Pick<ServiceConnection, 'base' | 'key'> | undefined {
  const text = textIfThere(localFile(home));
  if (text === undefined) return undefined;
  const { base, token } = JSON.parse(text) as LocalAddress;
  return { base, key: keyFromEnvironment(token, localFile(home)) };
}

// Decides whether webhooks can arrive. Without RUNSHEET_WEBHOOK_URL the receiver only has a loopback address, with which a remote
// run service would call its own machine.

/** Whether the run service at `base` can reach our receiver; `url` is the receiver's public address from the settings. */
export function canReachReceiver(base: string, url: string | undefined): boolean {
  return url !== undefined || base === LOCAL || isThisMachine(new URL(base).hostname);
}
