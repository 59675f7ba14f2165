// GPU servers and workflow files of the user's own: the local run service executes their runs. It keeps both, so a command that
// continues a batch needs neither.

import { z } from 'zod';
import { EXIT, problem, RunsheetError } from '../errors/error.ts';
import { jsonIn } from '../errors/outside-text.ts';
import { definedOnly } from '../options/defined-only.ts';
import { callSignal } from '../host/call-signal.ts';
import { fetchOutside } from '../host/outgoing.ts';
import { localService } from '../run-service/local-address.ts';
import type { Servers } from './servers.ts';

export type GivenGpus = {
  readonly servers: readonly {
    /** `http://127.0.0.1:8188` */
    readonly url: string;
    /** `comfy-api`: what speaks the Comfy API v2, such as Comfy Cloud (default: `comfyui`). */
    readonly kind?: 'comfyui' | 'comfy-api';
    /** What its GPU is called (default: what the server says). */
    readonly gpu?: string;
    /** How many runs a Comfy API executes at the same time (default: as many as it takes). */
    readonly seats?: number;
    /** A file with a line `Name: value` for each header that it wants; for a Comfy API, a file with its key alone. */
    readonly headersFile?: string;
  }[];
  readonly workflows: readonly {
    readonly name: string;
    /** As ComfyUI exports it for its API, or within the JSON of another tool. */
    readonly text: string;
    /** Which graph of the text, if it has several: `$.workflows[1]`. */
    readonly at?: string | undefined;
    /** The file that it is from, for messages. */
    readonly file?: string | undefined;
    /** Names for inputs: `{ prompt: ['6.text'] }`. */
    readonly inputs?: Readonly<Record<string, readonly string[]>> | undefined;
    /** When a run is a timeout (default: an hour). */
    readonly runTimeoutSeconds?: number | undefined;
  }[];
};

const addedSchema = z.array(
  z.object({ id: z.string(), name: z.string(), notes: z.array(z.string()).default([]) }),
);
const refusedSchema = z.object({
  code: z.string().optional(),
  detail: z.string(),
  hint: z.string().optional(),
});

/** Starts the local run service if need be. `keeps`: whether it executes runs on them from now on. Returns the deployments; throws E602 for a workflow that cannot run, E614 if no server answers. */
export async function addOwnGpus(
  servers: Servers,
  given: GivenGpus & { readonly keeps?: boolean },
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  await servers.look(true);
  const service = localService(servers.config.home);
  if (service === undefined) throw new Error('the local run service has no address');
  const answer = await fetchOutside(`${new URL(service.base).origin}/control/gpus`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key.value}`, 'content-type': 'application/json' },
    body: JSON.stringify(given),
    ...definedOnly({ signal: callSignal() }),
  });
  const body = jsonIn(await answer.text());
  if (answer.ok) {
    const added = addedSchema.parse(body);
    for (const note of added.flatMap(({ notes }) => notes)) servers.options.onNotice?.(note);
    return added.map(({ id, name }) => ({ id, name }));
  }
  const unread = { detail: `the local run service answered ${answer.status}` };
  const { code, detail, hint } = refusedSchema.catch(unread).parse(body);
  if (code === 'E614') throw new RunsheetError('E614', detail, { exit: EXIT.unreachable, hint });
  throw problem('E602', { what: detail, ...(hint !== undefined && { hint }) });
}
