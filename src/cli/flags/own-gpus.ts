// The flags of GPUs of the user's own: a workflow file, and the ComfyUI servers that run it.

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import type { GivenGpus } from '../../library/own-gpus.ts';
import type { Servers } from '../../library/servers.ts';
import type { OwnFlags } from './flags.ts';

type Given = Pick<OwnFlags, 'comfyui' | 'comfyuiHeaders'> & {
  readonly workflow?: string | readonly string[];
};

export const namesGpus = ({ workflow = [], comfyui = [] }: Given): boolean =>
  workflow.length > 0 || comfyui.length > 0;

/** Throws E602 for flags that do not belong together, and the fault of a file that cannot be read. */
export function gpusOf({ workflow = [], comfyui = [], comfyuiHeaders }: Given): GivenGpus {
  if (comfyuiHeaders !== undefined && comfyui.length === 0)
    throw problem('E602', {
      what: '--comfyui-headers needs --comfyui',
      hint: 'add --comfyui http://127.0.0.1:8188',
    });
  return {
    servers: comfyui.map((text) => {
      const [, gpu, url = text] = /^([^=/]+)=(https?:.*)$/.exec(text) ?? [];
      if (!URL.canParse(url) || !/^https?:/.test(url))
        throw problem('E602', {
          what: `--comfyui ${text} is no address`,
          hint: 'for example --comfyui http://127.0.0.1:8188, or with a name for its GPU: --comfyui "RTX 4090=http://gpu-1:8188"',
        });
      return { url, ...(gpu && { gpu }), ...(comfyuiHeaders && { headersFile: resolve(comfyuiHeaders) }) };
    }),
    workflows: [workflow].flat().map(workflowIn),
  };
}

/** `portrait=portrait_api.json`, or the file alone. */
function workflowIn(given: string): GivenGpus['workflows'][number] {
  const [, name, path = given] = /^([^=/\\]+)=(.+)$/.exec(given) ?? [];
  const text = workflowText(path, '--workflow needs a file');
  return { name: name ?? basename(path).replace(/([_-]api)?\.json$/i, ''), text };
}

/** Throws the fault of a file that cannot be read; `need` is what names the file. */
export function workflowText(path: string, need: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const hint = `${need}: in ComfyUI, choose Workflow → Export (API)`;
    throw fileFault(error, { path, hint }) ?? error;
  }
}

/** The flags with the deployment that they mean, once the local run service has it; as they are if they name no GPUs. */
export async function withOwnGpus<
  F extends Given & { readonly local: boolean; readonly deployment?: string },
>(servers: Servers, flags: F): Promise<F> {
  if (!namesGpus(flags)) return flags;
  const { addOwnGpus } = await import('../../library/own-gpus.ts');
  const [added] = await addOwnGpus(servers, gpusOf(flags));
  return { ...flags, local: true, ...(added && { deployment: added.id }) };
}
