// Run services by name: `[service.production]` in the user's file or in a trusted runsheet.toml, chosen by --service or
// RUNSHEET_SERVICE. Every process knows the keys of all named services, so a batch continues with the service that it was made
// for.

import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { hintAmong, problem } from '../../errors/error.ts';
import { APIS } from '../api-version.ts';
import { isSameService } from '../service-address.ts';
import type { SettingsFile } from './settings-files.ts';

export type NamedService = {
  readonly api_url: string;
  readonly api: (typeof APIS)[number];
  /** An absolute path. */
  readonly api_key_file: string;
  /** The folder that must contain the key, if the user did not choose it. */
  readonly within?: string;
};

/** The user's own name wins. Throws E602 for a service without an address or a key, and for unknown settings in it. */
export function namedServices(
  files: readonly SettingsFile[],
  url: z.ZodType<string>,
): ReadonlyMap<string, NamedService> {
  const schema = z.strictObject({
    api_url: url,
    api: z.enum(APIS).default('v2'),
    api_key_file: z.string().min(1),
  });
  const services = new Map<string, NamedService>();
  const isUsers = ({ source }: SettingsFile): number => Number(source === 'user');
  for (const { path, source, table } of files.toSorted((a, b) => isUsers(b) - isUsers(a))) {
    const { service = {} } = table;
    if (typeof service !== 'object' || service === null || Array.isArray(service))
      throw problem('E602', {
        what: `service in ${path} is no table`,
        hint: 'for example [service.production], then api_url and api_key_file',
      });
    for (const [name, settings] of Object.entries(service)) {
      const parsed = schema.safeParse(settings);
      const [wrong] = parsed.error?.issues ?? [];
      if (wrong !== undefined)
        throw problem('E602', {
          what: `[service.${name}] in ${path}: ${[...wrong.path, wrong.message].join(' ')}`,
          hint: 'a service has api_url, api_key_file, and api if it is v1',
        });
      if (!parsed.data || services.has(name)) continue;
      const folder = dirname(path);
      const api_key_file = resolve(folder, parsed.data.api_key_file);
      services.set(name, { ...parsed.data, api_key_file, ...(source === 'folder' && { within: folder }) });
    }
  }
  refuseTwoKeys(services);
  return services;
}

/** A batch stores the address of its service, not the name, so the wrong key would pay for it. */
function refuseTwoKeys(services: ReadonlyMap<string, NamedService>): void {
  for (const [name, { api_url, api_key_file }] of services) {
    const twin = [...services].find(
      ([, candidate]) =>
        isSameService({ base: candidate.api_url }, { base: api_url }) &&
        candidate.api_key_file !== api_key_file,
    );
    if (twin !== undefined)
      throw problem('E602', {
        what: `[service.${name}] and [service.${twin[0]}] have one address and two keys: ${api_url}`,
        hint: 'keep one of them; for another account, use another settings file',
      });
  }
}

/** undefined if no service is named. Throws E602 for a name that no file has. */
export function chosenService(
  services: ReadonlyMap<string, NamedService>,
  name: string | undefined,
): NamedService | undefined {
  if (name === undefined) return undefined;
  const chosen = services.get(name);
  if (chosen !== undefined) return chosen;
  const names = [...services.keys()];
  throw problem('E602', {
    what: `no settings have a service ${name}`,
    hint:
      names.length > 0
        ? hintAmong(name, 'services', names)
        : `in ~/.config/runsheet/config.toml: [service.${name}], then api_url = "https://…/api" and api_key_file = "…"`,
  });
}
