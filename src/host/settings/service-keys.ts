// Chooses the run service and its key. A key goes only to an address from its own source or a stronger one: the user's key to an
// address of the user, the key of a folder's file to the address in the same file.

import { keyFromFile, keyFromSettings, type ApiKey } from './api-key.ts';
import { chosenService, type NamedService } from './named-services.ts';
import type { Api } from '../api-version.ts';
import { isSameService } from '../service-address.ts';

type Pair = {
  readonly api_url?: string;
  readonly api?: Api;
  readonly api_key_file?: string;
};

type KeySettings = {
  readonly command: Pair;
  readonly own: Pair;
  readonly folder: Pair;
  /** The folder of the `folder` settings, which contains their key. */
  readonly within: string;
  readonly services: ReadonlyMap<string, NamedService>;
  /** The name of the chosen service. */
  readonly service: string | undefined;
  /** The user's key from the environment. */
  readonly ownKey: string | undefined;
};

/** Every process has the keys of all services, because a batch continues with the service that it was made for. */
export function serviceKeys({ command, own, folder, within, services, service, ownKey }: KeySettings) {
  const chosen = chosenService(services, service);
  const users: Pair = { ...own, ...command };
  const meant =
    command.api_url === undefined && folder.api_url !== undefined ? { ...folder, ...apiOf(command) } : users;
  const apiUrl = chosen?.api_url ?? meant.api_url;
  const keys: readonly ((base: string) => ApiKey | undefined)[] = [
    (base) => (isAt(base, users.api_url) ? keyFromSettings(ownKey, users.api_key_file) : undefined),
    (base) => keyOfName([...services.values()].find((candidate) => isAt(base, candidate.api_url))),
    (base) => (isAt(base, folder.api_url) ? keyOfFolder(folder, within) : undefined),
  ];
  return {
    /** The run service's base address. */
    apiUrl,
    api: chosen?.api ?? meant.api ?? ('v2' as const),
    service,
    /** The name of the service at `base`, if it has one. */
    serviceAt: (base: string) => [...services].find(([, candidate]) => isAt(base, candidate.api_url))?.[0],
    /** The key for the service at `base` (default: the chosen service); undefined if none is set. Throws if its file cannot be read. */
    apiKey: (base: string | undefined = apiUrl): ApiKey | undefined => {
      if (base === undefined) return undefined;
      // If one address has two keys, the chosen name decides.
      if (chosen !== undefined && isAt(base, chosen.api_url)) return keyOfName(chosen);
      for (const keyAt of keys) {
        const key = keyAt(base);
        if (key !== undefined) return key;
      }
      return undefined;
    },
  };
}

/** An older release may have spelled the address in another way. */
const isAt = (base: string, set: string | undefined): boolean =>
  set !== undefined && isSameService({ base }, { base: set });

const apiOf = ({ api }: Pair): Pair => (api === undefined ? {} : { api });

const keyOfName = (named: NamedService | undefined): ApiKey | undefined =>
  named && keyFromFile(named.api_key_file, 'RUNSHEET_API_KEY_FILE', named.within);

const keyOfFolder = ({ api_key_file: file }: Pair, within: string): ApiKey | undefined =>
  file === undefined ? undefined : keyFromFile(file, 'api_key_file', within);
