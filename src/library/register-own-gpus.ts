// Registers the user's own GPU servers and workflow files with the local run service, which executes their
// runs. The service keeps both, so a command that continues a batch needs neither.

import { z } from 'zod';
import { EXIT, problem, RunsheetError } from '../errors/error.ts';
import { jsonIn } from '../errors/outside-text.ts';
import { definedOnly } from '../options/defined-only.ts';
import {
  SERVER_KINDS,
  VENDOR_FACTS,
  vendorFacts,
  type ServerKind,
  isVendor,
  type ModelHost,
  type Vendor,
} from '../options/facts/server-kind.ts';
import { callSignal } from '../host/call-signal.ts';
import { isWebAddress } from '../host/http/web-address.ts';
import { fetchOutside } from '../host/http/outgoing.ts';
import { LOCAL, localService } from '../host/local-address.ts';
import type { Config } from '../host/settings/config.ts';
import { keepLine } from '../host/kept-lines.ts';
import {
  inputsSchemaIn,
  keepProgram,
  nameProgram,
  ownTasksIn,
  programsIn,
} from '../host/settings/named-program.ts';
import type { StatedPrice } from '../host/settings/named-model.ts';
import { takeStateFolder } from '../host/state-folder.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Servers } from './servers.ts';
import { nanoOf } from '../options/text/printed-numbers.ts';
import type { WorkflowRequest } from '../run-service/executors/given-gpus.ts';

export type GivenGpus = {
  readonly servers: readonly {
    /** `http://127.0.0.1:8188` */
    readonly url: string;
    /** `comfy-api`: what speaks the Comfy API v2, such as Comfy Cloud (default: `comfyui`). */
    readonly kind?: ServerKind;
    /** The name of its GPU (default: the server's name for it). */
    readonly gpu?: string;
    /** How many runs a Comfy API executes at the same time (default: as many as it takes). */
    readonly seats?: number;
    /** A file with a line `Name: value` for each header that it wants; for a Comfy API, a file with its key alone. */
    readonly headersFile?: string;
  }[];
  readonly workflows: readonly WorkflowRequest[];
  /** Programs that run on GPUs of this machine. */
  readonly programs?: readonly GivenProgram[];
  /** Hosted models. */
  readonly models?: readonly GivenModel[];
  /** The numbers of these GPUs (default: all that nvidia-smi lists, else `0`). */
  readonly gpus?: readonly string[];
};

type GivenModel = {
  readonly vendor: ModelHost;
  /** The name on its page at the vendor: `owner/name`; the address of a Cog container: `http://127.0.0.1:5000`. */
  readonly model: string;
  /** The workflow for a container of ComfyUI at `runpod`. */
  readonly workflow?: WorkflowRequest;
  /** The name of the deployment (default: that of the workflow, or the last part of the model's name). */
  readonly name?: string;
  /** A file with the key alone (default: the variable that the vendor's own programs read). */
  readonly keyFile?: string;
  /** A JSON Schema of the inputs (default: as the vendor describes them). */
  readonly inputsFile?: string;
  /** When a run times out (default: an hour). */
  readonly runTimeoutSeconds?: number;
  /** The price of a run, or of a second of it, if it does not tell itself (default: as stated before). */
  readonly price?: StatedPrice;
};

type GivenProgram = {
  /** A command for the shell: `python generate.py`. No input of a row is ever in it. */
  readonly command: string;
  /** Whether one process for each GPU stays for one run after another (default: each run has its own process). */
  readonly stays?: boolean;
  /** The name of the deployment (default: that of the script). */
  readonly name?: string;
  /** Where relative paths of the command lead (default: the current folder). */
  readonly folder?: string;
  /** A JSON Schema of the inputs (default: `generate.inputs.json` beside the script, if there is one). */
  readonly inputsFile?: string;
  /** Names of environment variables that the program gets and that are not stored. */
  readonly secrets?: readonly string[];
  /** When a run times out (default: an hour). */
  readonly runTimeoutSeconds?: number;
};

const addedSchema = z.object({
  deployments: z.array(
    z.object({ id: z.string(), name: z.string(), notes: z.array(z.string()).default([]) }),
  ),
  /** The addresses under which the servers are kept. */
  servers: z.array(z.string()),
});
type AddedGpus = {
  readonly deployments: readonly { readonly id: string; readonly name: string }[];
  readonly servers: readonly string[];
};

const knownSchema = z.array(
  z.object({
    url: z.string(),
    kind: z.enum(SERVER_KINDS),
    gpu: z.string().nullable(),
    /** Further addresses of the same server. */
    also: z.array(z.string()),
    /** The number of current runs. */
    runs: z.number(),
    /** How long these may still execute; null if none does. */
    busyMs: z.number().nullable().default(null),
    /** Why the server takes no runs now; null if it does. */
    away: z.string().nullable(),
    /** Runs that it may have taken without a word, and by when each has an end, in milliseconds since 1970. */
    unanswered: z.object({ runs: z.number(), untilMs: z.number() }).nullable().default(null),
  }),
);
export type KnownServer = z.output<typeof knownSchema>[number];

const refusedSchema = z.object({
  code: z.string().optional(),
  detail: z.string(),
  hint: z.string().optional(),
});

/**
 * Starts the local run service if necessary. `keeps`: whether the service executes runs on these servers
 * from now on. Returns the deployments. Throws E602 for a workflow that cannot run, E614 if no server
 * answers.
 */
export async function addOwnGpus(
  servers: Servers,
  gpus: GivenGpus & { readonly keeps?: boolean },
): Promise<AddedGpus> {
  const request = await withNamedPrograms(gpus, servers.config);
  const { deployments, servers: urls } = addedSchema.parse(await control(servers, 'gpus', request));
  if ((gpus.programs ?? gpus.models) !== undefined && gpus.keeps !== false)
    for (const { id, name } of deployments)
      for (const text of [id, name]) keepLine(ownTasksIn(servers.config.home), text);
  for (const note of deployments.flatMap(({ notes }) => notes)) servers.options.onNotice?.(note);
  return { deployments: deployments.map(({ id, name }) => ({ id, name })), servers: urls };
}

const seatAt = (gpu: string) => ({ url: `gpu:${gpu}`, kind: 'gpu' }) as const;

/** Keeps the programs in the state folder, because a request to the run service names them by id only. */
export async function withNamedPrograms(
  { programs = [], models = [], gpus, ...more }: GivenGpus & { readonly keeps?: boolean },
  { home, environment }: Pick<Config, 'home' | 'environment'>,
): Promise<object> {
  const request = withVendors(more, models, environment);
  if (programs.length === 0) return request;
  takeStateFolder(home);
  const seats = (gpus ?? (await gpusHere())).map(seatAt);
  const named = programs.map(({ secrets = [], folder = process.cwd(), ...program }) => ({
    id: keepProgram(programsIn(home), nameProgram({ ...program, folder, secrets }, environment)),
    secrets: Object.fromEntries(
      secrets.flatMap((name) => {
        const value = environment[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  }));
  return { ...request, servers: [...request.servers, ...seats], programs: named };
}

/** A model needs the account at its vendor, which counts as a server. */
function withVendors(
  request: Pick<GivenGpus, 'servers' | 'workflows'>,
  models: readonly GivenModel[],
  environment: Config['environment'],
) {
  if (models.length === 0) return request;
  const vendors = [...new Set(models.map(({ vendor }) => vendor))].filter(isVendor);
  const containers = models.flatMap(({ vendor, model, keyFile }) =>
    vendor === 'cog'
      ? [{ url: model, kind: vendor, ...(keyFile !== undefined && { headersFile: keyFile }) }]
      : [],
  );
  const accounts = vendors.map((vendor) => {
    const keyFile = models.find((model) => model.vendor === vendor && model.keyFile !== undefined)?.keyFile;
    return vendorAccount(vendor, keyFile, environment);
  });
  const named = models.map(({ vendor, model, workflow, inputsFile, runTimeoutSeconds, price, ...more }) => ({
    vendor,
    model,
    name: more.name ?? workflow?.name ?? nameOf(model),
    ...(workflow && { workflow }),
    ...(inputsFile !== undefined && { inputs: inputsSchemaIn(inputsFile) }),
    ...(runTimeoutSeconds !== undefined && { runTimeoutSeconds }),
    ...(price && { price: { per: price.per, nano: nanoOf(price.usd) } }),
  }));
  return { ...request, servers: [...request.servers, ...accounts, ...containers], models: named };
}

/** Throws E602 without a key. */
export function vendorAccount(
  vendor: Vendor,
  keyFile: string | undefined,
  environment: Config['environment'],
) {
  const { url, variable } = VENDOR_FACTS[vendor];
  const key = environment[variable];
  if (keyFile === undefined && !key)
    throw problem('E602', {
      what: `${vendor} needs your key`,
      hint: `write it into a file and add: --key-file key.txt; or set ${variable}`,
    });
  const address = environment[`RUNSHEET_${vendor.toUpperCase()}_URL`] || url;
  return { url: address, kind: vendor, ...(keyFile === undefined ? { key } : { headersFile: keyFile }) };
}

/** `flux` of `owner/flux:version`; the host of an address. */
const nameOf = (model: string): string =>
  isWebAddress(model) ? new URL(model).host : model.replace(/:.*$/s, '').split('/').at(-1) || model;

/** The numbers of this machine's GPUs; one seat if no driver lists any. */
async function gpusHere(): Promise<readonly string[]> {
  const { execFile } = await import('node:child_process');
  const query = ['--query-gpu=index', '--format=csv,noheader'];
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile('nvidia-smi', query, { timeout: LOOK_MS }, (_error, stdout) => resolve(stdout));
  const ids = (await promise).split('\n').map((line) => line.trim());
  const listed = ids.filter((id) => /^\d+$/.test(id));
  return listed.length > 0 ? listed : ['0'];
}

/** The GPU servers that the local run service knows. */
export const knownServers = async (servers: Servers): Promise<readonly KnownServer[]> =>
  knownSchema.parse(await control(servers, 'servers'));

/** A GPU server that takes no runs now, and why. */
export type AwayServer = { readonly url: string; readonly reason: string };

/** A healthy service answers faster than this. */
const LOOK_MS = 2_000;

/** Runs that their server has neither confirmed nor refused. */
export type UnansweredRuns = { readonly url: string; readonly runs: number; readonly untilMs: number };

/**
 * The GPU servers of a batch that take no runs now, and those that have left requests without an answer. Starts nothing, and
 * returns none if the local run service cannot be asked.
 */
export async function waitsOfServers(home: string, batch: ServersOfBatch) {
  const servers = await serversOfBatch(home, batch);
  return {
    away: servers.flatMap(({ url, away }): readonly AwayServer[] =>
      away === null ? [] : [{ url, reason: away }],
    ),
    unanswered: servers.flatMap(({ url, unanswered }): readonly UnansweredRuns[] =>
      unanswered === null ? [] : [{ url, ...unanswered }],
    ),
  };
}

/** The vendor that could tell what became of a request whose answer was lost, and has no address to tell it. */
export const silentVendor = (
  webhookUrl: string | undefined,
  { service, deployment: { gpu = '' } }: Pick<BatchFile, 'service' | 'deployment'>,
): string | undefined =>
  service.base === LOCAL && webhookUrl === undefined && vendorFacts(gpu)?.reveals === 'webhook'
    ? gpu
    : undefined;

/** The seats of this machine on which programs of a batch execute now: they outlive every process of runsheet. */
export const busySeats = async (home: string, batch: ServersOfBatch): Promise<readonly KnownServer[]> =>
  (await serversOfBatch(home, batch)).filter(({ kind, busyMs }) => kind === 'gpu' && busyMs !== null);

type ServersOfBatch = Pick<BatchFile, 'service' | 'servers'>;

async function serversOfBatch(
  home: string,
  { service, servers }: ServersOfBatch,
): Promise<readonly KnownServer[]> {
  if (service.base !== LOCAL || service.rehearsal) return [];
  const isMeant = ({ url, also }: KnownServer): boolean =>
    servers === undefined || [url, ...also].some((address) => servers.includes(address));
  return (await serversAt(() => localService(home))).filter(isMeant);
}

/** The servers that the run service of this command knows; none if it runs elsewhere or cannot be asked. Starts nothing. */
export const serversNow = (config: Config): Promise<readonly KnownServer[]> =>
  serversAt(() => {
    const { apiUrl: base, home } = config;
    const key = config.apiKey();
    return base === undefined || key === undefined ? localService(home) : { base, key };
  });

async function serversAt(serviceNow: () => ReturnType<typeof localService>): Promise<readonly KnownServer[]> {
  try {
    const service = serviceNow();
    if (service === undefined) return [];
    const answer = await controlled(service, 'servers', { signal: AbortSignal.timeout(LOOK_MS) });
    return knownSchema.parse(jsonIn(await answer.text()));
  } catch {
    return [];
  }
}

/** Forgets a GPU server, or replaces it by another known server. Returns the remaining servers. Throws E602 if runs need it. */
export const forgetServer = async (
  servers: Servers,
  forget: string,
  instead?: string,
): Promise<readonly KnownServer[]> =>
  knownSchema.parse(await control(servers, 'servers', { forget, ...definedOnly({ instead }) }));

const controlled = (
  { base, key }: NonNullable<ReturnType<typeof localService>>,
  path: string,
  init: RequestInit,
): Promise<Response> =>
  fetchOutside(`${new URL(base).origin}/control/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key.value}`, 'content-type': 'application/json' },
  });

/** Calls the local run service, starting it if necessary. POST with a body, else GET. */
async function control(servers: Servers, path: string, request?: object): Promise<unknown> {
  await servers.look(true);
  const service = localService(servers.config.home);
  if (service === undefined) throw new Error('the local run service has no address');
  const answer = await controlled(service, path, {
    ...(request !== undefined && { method: 'POST', body: JSON.stringify(request) }),
    ...definedOnly({ signal: callSignal() }),
  });
  const body = jsonIn(await answer.text());
  if (answer.ok) return body;
  const unread = { detail: `the local run service answered ${answer.status}` };
  const { code, detail, hint } = refusedSchema.catch(unread).parse(body);
  if (code === 'E614') throw new RunsheetError('E614', detail, { exit: EXIT.unreachable, hint });
  throw problem('E602', { what: detail, ...(hint !== undefined && { hint }) });
}
