// Our service in front of a Comfy API.

import { ApiStandIn } from './api-stand-in.ts';
import type { Mode } from './api-surfaces.ts';
import { openStandIn, OwnService, portrait } from './own-service.ts';

export async function openApiScene(
  mode: Mode,
  graph = portrait({ seconds: 3_600 }),
  timing: object = {},
  workers = 1,
) {
  const gpus = await Promise.all(Array.from({ length: workers }, () => openStandIn()));
  const api = await ApiStandIn.of(mode, gpus);
  const servers = [{ url: api.url, kind: 'comfy-api' as const }];
  const [gpu = await openStandIn()] = gpus;
  return { gpu, gpus, api, own: await OwnService.of(servers, graph, { pollOnlyMs: 20, ...timing }) };
}

export type ApiScene = Awaited<ReturnType<typeof openApiScene>>;
