// The flags of GPUs of the user's own: a workflow file, and the servers that run it.

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import type { GivenGpus } from '../../library/own-gpus.ts';
import type { Servers } from '../../library/servers.ts';
import type { OwnFlags } from './flags.ts';

type Given = Pick<OwnFlags, 'comfyui' | 'comfyuiHeaders' | 'comfyApi' | 'comfyApiKeyFile'> & {
  readonly workflow?: string | readonly string[];
};

export const namesGpus = ({ workflow = [], comfyui = [], comfyApi = [] }: Given): boolean =>
  workflow.length + comfyui.length + comfyApi.length > 0;

/** Throws E602 for flags that do not belong together, and the fault of a file that cannot be read. */
export function gpusOf(given: Given): GivenGpus {
  const { workflow = [], comfyui = [], comfyuiHeaders, comfyApi = [], comfyApiKeyFile } = given;
  return {
    servers: [
      ...serversOf('comfyui', comfyui, ['--comfyui-headers', comfyuiHeaders]),
      ...serversOf('comfy-api', comfyApi, ['--comfy-api-key-file', comfyApiKeyFile]),
    ],
    workflows: [workflow].flat().map(workflowIn),
  };
}

const EXAMPLES = { comfyui: 'http://127.0.0.1:8188', 'comfy-api': 'http://127.0.0.1:8189' } as const;

function serversOf(
  kind: keyof typeof EXAMPLES,
  given: readonly string[],
  [fileFlag, file]: readonly [string, string | undefined],
): GivenGpus['servers'] {
  const example = EXAMPLES[kind];
  if (file !== undefined && given.length === 0)
    throw problem('E602', { what: `${fileFlag} needs --${kind}`, hint: `add --${kind} ${example}` });
  return given.map((text) => {
    const [, gpu, url = text] = /^([^=/]+)=(https?:.*)$/.exec(text) ?? [];
    if (!URL.canParse(url) || !/^https?:/.test(url))
      throw problem('E602', {
        what: `--${kind} ${text} is no address`,
        hint: `for example --${kind} ${example}, or with a name for its GPU: --${kind} "RTX 4090=${example}"`,
      });
    return { url, kind, ...(gpu && { gpu }), ...(file && { headersFile: resolve(file) }) };
  });
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
