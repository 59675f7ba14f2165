// Opens the port to a server by its kind.

import { createHash } from 'node:crypto';
import { problem } from '../../errors/error.ts';
import type { ServerKind } from '../../options/facts/server-kind.ts';
import type { Backend } from './backend.ts';
import { openComfyApi } from './comfy-api/comfy-api.ts';
import { openComfyui } from './comfyui/comfyui.ts';
import { openCog } from './vendors/cog.ts';
import { openRouter } from './vendors/comfy-router.ts';
import { openFal } from './vendors/fal.ts';
import { openReplicate } from './vendors/replicate.ts';
import { openRunpod } from './vendors/runpod.ts';

/** The settings of an open server that a later command may change: request headers, and the number of runs. */
export type Settings = { readonly headers: Record<string, string>; seats: number | undefined };

const OPEN: Readonly<Partial<Record<ServerKind, (url: string, settings: Settings) => Backend>>> = {
  comfyui: (url, { headers }) => openComfyui({ url, headers }),
  'comfy-api': openComfyApi,
  replicate: openReplicate,
  router: openRouter,
  runpod: openRunpod,
  fal: openFal,
  cog: openCog,
};

export function openBackend(kind: ServerKind, url: string, settings: Settings): Backend {
  const open = OPEN[kind];
  if (open === undefined) throw problem('E602', { what: `${kind} cannot be driven yet` });
  const backend = open(url, settings);
  // A ComfyUI has no accounts; its headers are those of a proxy. Getters of the backend stay getters.
  return kind === 'comfyui' ? backend : Object.assign(backend, { account: () => accountIn(settings) });
}

/** A later command may give the key of another account. */
function accountIn({ headers }: Settings): string | undefined {
  const { authorization } = headers;
  return authorization && createHash('sha256').update(authorization).digest('hex').slice(0, 16);
}
