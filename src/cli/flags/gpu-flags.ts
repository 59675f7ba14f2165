// Turns the flags that name what runs the rows into a request to the local run service: a ComfyUI, a Comfy API, a program, a
// hosted model.

import { resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { namedModel } from '../../host/settings/named-model.ts';
import { isWebAddress, namedServer } from '../../host/http/web-address.ts';
import type { GivenGpus } from '../../library/register-own-gpus.ts';
import type { Servers } from '../../library/servers.ts';
import type { OwnFlags } from './flags.ts';
import { workflowIn } from './workflow-file.ts';

/** Addresses of the servers that flags name, set once the local run service knows them. */
export type ServersOfBatch = { readonly servers?: readonly string[] };

type GivenServers = Pick<
  OwnFlags,
  'comfyui' | 'comfyuiHeaders' | 'comfyApi' | 'comfyApiKeyFile' | 'program' | 'gpus' | 'model' | 'keyFile'
> &
  Partial<Pick<OwnFlags, 'stays'>> & {
    readonly workflow?: string | readonly string[];
  };

/** Whether the flags name what runs the rows, besides a deployment. */
export const namesGpus = ({
  workflow = [],
  comfyui = [],
  comfyApi = [],
  program,
  model,
}: GivenServers): boolean =>
  workflow.length + comfyui.length + comfyApi.length > 0 || (program ?? model) !== undefined;

/** Throws E602 for flags that exclude each other, and the fault of an unreadable file. */
export function gpusOf(flags: GivenServers): GivenGpus {
  refuseMixed(flags);
  const { workflow = [], comfyui = [], comfyuiHeaders, comfyApi = [], comfyApiKeyFile } = flags;
  return {
    servers: [
      ...serversOf('comfyui', comfyui, ['--comfyui-headers', comfyuiHeaders]),
      ...serversOf('comfy-api', comfyApi, ['--comfy-api-key-file', comfyApiKeyFile]),
    ],
    workflows: isAtModel(flags) ? [] : [workflow].flat().map(workflowIn),
    ...programOf(flags),
    ...modelOf(flags),
  };
}

/** A container of ComfyUI at a vendor runs the workflow. */
const isAtModel = ({ model, comfyui = [], comfyApi = [] }: GivenServers): boolean =>
  model !== undefined && comfyui.length + comfyApi.length === 0;

function refuseMixed(flags: GivenServers): void {
  const { workflow = [], comfyui = [], comfyApi = [], program, model, keyFile } = flags;
  if (model === undefined && keyFile !== undefined)
    throw problem('E602', {
      what: '--key-file needs --model',
      hint: 'for a Comfy API: --comfy-api-key-file; for a run service: RUNSHEET_API_KEY_FILE',
    });
  refuseWithoutProgram(flags);
  const own = (isAtModel(flags) ? 0 : workflow.length) + comfyui.length + comfyApi.length;
  const named = [program, model, own || undefined];
  if (named.filter((each) => each !== undefined).length > 1)
    throw problem('E602', {
      what: '--program, --model and a ComfyUI exclude each other: a batch has one deployment',
      hint: 'make two batches',
    });
}

export function refuseWithoutProgram({
  program,
  gpus,
  stays,
}: Pick<GivenServers, 'program' | 'gpus' | 'stays'>): void {
  if (program === undefined && gpus !== undefined)
    throw problem('E602', {
      what: '--gpus needs --program',
      hint: "name what runs there: --program 'python generate.py'",
    });
  if (program === undefined && stays === true)
    throw problem('E602', {
      what: '--stays needs --program',
      hint: "name what stays: --program 'python generate.py' --stays",
    });
}

/** The program in the current folder, which is where its relative paths lead. */
const programOf = ({ program, stays, gpus }: GivenServers): Pick<GivenGpus, 'programs' | 'gpus'> =>
  program === undefined
    ? {}
    : {
        programs: [{ command: program, ...(stays === true && { stays }) }],
        ...(gpus !== undefined && { gpus: gpusIn(gpus) }),
      };

function modelOf({ model: text, keyFile, workflow = [] }: GivenServers): Pick<GivenGpus, 'models'> {
  if (text === undefined) return {};
  const [file, second] = [workflow].flat();
  if (second !== undefined)
    throw problem('E602', { what: `--model ${text} runs one workflow`, hint: 'make a batch for each' });
  const named = namedModel(text, { place: '--model', write: (name) => `--model ${name}` });
  const own = file === undefined ? {} : { workflow: workflowIn(file) };
  return { models: [{ ...named, ...own, ...(keyFile && { keyFile: resolve(keyFile) }) }] };
}

const MAX_GPUS = 64;

/** `2` is a number of GPUs, `0,3` or `3,` names them. */
function gpusIn(text: string): readonly string[] {
  const ids = text.split(',').map((id) => id.trim());
  const wrong = (): never => {
    throw problem('E602', {
      what: `--gpus ${text} is neither a number of GPUs nor a list of them`,
      hint: 'for example --gpus 2 for the first two, or --gpus 0,3 for these',
    });
  };
  if (!ids.every((id) => /^\d{1,3}$/.test(id) || (id === '' && ids.length > 1))) return wrong();
  if (ids.length > 1) return [...new Set(ids.filter(Boolean).map((id) => String(Number(id))))];
  const number = Number(ids[0]);
  if (number < 1 || number > MAX_GPUS) return wrong();
  return Array.from({ length: number }, (_, at) => String(at));
}

const EXAMPLES = { comfyui: 'http://127.0.0.1:8188', 'comfy-api': 'http://127.0.0.1:8189' } as const;

function serversOf(
  kind: keyof typeof EXAMPLES,
  texts: readonly string[],
  [fileFlag, file]: readonly [string, string | undefined],
): GivenGpus['servers'] {
  const example = EXAMPLES[kind];
  if (file !== undefined && texts.length === 0)
    throw problem('E602', { what: `${fileFlag} needs --${kind}`, hint: `add --${kind} ${example}` });
  return texts.map((text) => {
    const { seats, gpu, url } = serverIn(kind, text);
    if (!isWebAddress(url))
      throw problem('E602', {
        what: `--${kind} ${text} is no address`,
        hint: `for example --${kind} ${example}, or with a name for its GPU: --${kind} "RTX 4090=${example}"`,
      });
    if (seats !== undefined && (seats < 1 || seats > MAX_SEATS))
      throw problem('E602', {
        what: `--${kind} ${text} has ${seats} seats, and a server has 1 to ${MAX_SEATS}`,
        hint: `for example --${kind} "20x=${url}"`,
      });
    return {
      url,
      kind,
      ...(gpu && { gpu }),
      ...(seats !== undefined && { seats }),
      ...(file && { headersFile: resolve(file) }),
    };
  });
}

const MAX_SEATS = 1_000;

/** `RTX 4090=http://…`; a Comfy API also takes seats: `20x=https://…` or `20x L40S=https://…`. */
function serverIn(kind: keyof typeof EXAMPLES, text: string) {
  const { name, url } = namedServer(text);
  const [, seats, gpu] = (kind === 'comfy-api' && /^(\d+)x(?:\s+(.*))?$/.exec(name)) || [];
  return seats === undefined ? { gpu: name, url } : { seats: Number(seats), gpu, url };
}

/** Adds the deployment, once the local run service has it. Returns flags that name no GPUs unchanged. */
export async function withOwnGpus<
  F extends GivenServers & { readonly local: boolean; readonly deployment?: string },
>(servers: Servers, flags: F, keeps = true): Promise<F & ServersOfBatch> {
  if (!namesGpus(flags)) return flags;
  const { addOwnGpus } = await import('../../library/register-own-gpus.ts');
  const { deployments, servers: urls } = await addOwnGpus(servers, { ...gpusOf(flags), keeps });
  const [added] = deployments;
  return {
    ...flags,
    local: true,
    ...(added && { deployment: added.id }),
    ...(urls.length > 0 && { servers: urls }),
  };
}
