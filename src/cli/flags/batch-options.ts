// Turns the flags of run, submit and plan into the parameters of a batch: service, deployment, sheet options, settings.

import { definedOnly } from '../../options/defined-only.ts';
import { loadConfig, type Config } from '../../host/config.ts';
import { isWebAddress, namedServer } from '../../host/web-address.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { namedModel } from '../../host/named-model.ts';
import type { Excludes } from '../../options/excludes.ts';
import type { LimitChange } from '../../options/limits.ts';
import { flagOf } from '../../options/written-options.ts';
import {
  isRepeated,
  keptIn,
  OPTIONS,
  optionsOf,
  type AnyOption,
  type OptionValues,
} from '../../options/table.ts';
import { type Settings, refuseTooMany } from '../../batches/batch-spec.ts';
import {
  IN_FLAGS,
  limitChangeOf,
  requestOf as requestFrom,
  settingsOf as settingsFrom,
  sheetOptionsOf,
  valueOf,
  refuseBoth,
} from '../../batches/given-options.ts';
import type { BatchRequest } from '../../batches/batch-request.ts';
import { isAddress } from '../../errors/redact.ts';
import { LOCAL } from '../../service-client/local-address.ts';
import type { Api } from '../../host/api-version.ts';
import type { Spoken } from '../../service-client/open-services.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import { checkLadder } from '../../sheet/size-classes.ts';
import { refuseNoSheet, type ReadOptions } from '../../sheet/sheet-source.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { SheetFlags, LimitFlags, OptionFlags, OwnFlags } from './flags.ts';
import { resolve } from 'node:path';
import type { GivenGpus } from '../../library/own-gpus.ts';
import type { Servers } from '../../library/servers.ts';
import { isWorkflowKept } from '../../run-service/kept-workflows.ts';
import { workflowIn } from './workflow-file.ts';

type SettingFlags = {
  readonly out?: string;
  readonly api?: Api;
  readonly service?: string;
  readonly metrics?: string;
};

export const configOf = ({ out, api, service, metrics }: SettingFlags): Config =>
  loadConfig(undefined, definedOnly({ out, api, service, metrics }));

/** The service that flags and settings select. Throws E305 if none is set. */
export function meantService(
  config: Config,
  { local, deployment }: Pick<SheetFlags, 'local' | 'deployment'>,
): Spoken {
  if (local) return { base: LOCAL, api: 'v2' };
  if (config.apiUrl === undefined) {
    const isOwn = deployment !== undefined && isWorkflowKept(config.home, deployment);
    const facts = isOwn ? { ownGpus: deployment } : {};
    throw problem('E305', facts, { correction: { add: [['--local']] } });
  }
  return { base: config.apiUrl, api: config.api };
}

/** Undefined if the settings have no name for the service. */
export const shownService = (config: Config, { base, rehearsal }: BatchFile['service']): string | undefined =>
  base === LOCAL ? (rehearsal ? 'rehearsal' : 'own GPUs') : config.serviceAt(base);

/** Stands in for the sheet of a grid. No file has this name, because it would be read as a flag. */
export const NO_SHEET = '--grid';

const EXCLUDES: readonly Excludes[] = [
  {
    both: ['local', 'service'],
    hint: '--local rehearses on the local run service; --service names one of the settings',
  },
  {
    both: ['service', 'api'],
    hint: 'the settings of a service say which API it speaks: api = "v1"',
  },
  ...(
    [
      ['workflow', 'file'],
      ['program', 'command'],
      ['model', 'model'],
    ] as const
  ).flatMap(([option, source]) => [
    {
      both: [option, 'deployment'] as const,
      hint: `--${option} makes a deployment of the ${source}; -d names one that exists`,
    },
    {
      both: [option, 'into'] as const,
      hint: `a batch keeps its ${option}: leave out --${option}`,
    },
  ]),
  {
    both: ['local', 'api'],
    ofValues: (_, api) => api === 'v1',
    why: 'the local run service of --local speaks V2',
    hint: 'start a local V1 service with: runsheet service --only v1',
  },
  {
    both: ['again', 'reuse'],
    hint: '--again runs all rows; --reuse runs only those that no earlier batch has done',
  },
  ...['into', 'format'].map((option) => ({
    both: ['from', option] as const,
    hint: '--from makes a new batch from the results of another one',
  })),
  ...['again', 'reuse', 'name', 'canary', 'reserve'].map((option) => ({
    both: ['into', option] as const,
    hint: '--into adds rows to a batch that exists, which keeps what it was made with',
  })),
  ...['from', 'ladder'].map((option) => ({
    both: ['watch', option] as const,
    hint: '--watch adds the rows of later saves to the batch of a sheet',
  })),
  {
    both: ['watch', 'output'],
    ofValues: (_, output) => output === 'json',
    why: 'a batch that is watched has no one end',
    hint: 'for programs: -o jsonl prints each row when it has ended',
  },
  {
    both: ['watch', 'skipRows'],
    hint: 'rows have other numbers in the next save: leave them out with --where, --comment or --totals skip',
  },
];

export async function checkFlags(sheet: string, flags: SheetFlags): Promise<void> {
  const flagValues = givenOf(flags);
  refuseBoth(flags, flagOf, EXCLUDES);
  const { deployment, into, workflow, program, model } = flags;
  if ([deployment, into, workflow, program, model].every((flag) => flag === undefined))
    throw noDeployment(flags.local);
  refuseWithoutProgram(flags);
  refuseBoth(flagValues, flagOf);
  const { ladder } = sheetOptionsOf(flagValues);
  checkLadder({ ...(ladder && { ladder }) });
  const { concurrency, retries, retriesByKind, unconfirmed } = settingsFrom(flagValues);
  refuseTooMany({
    concurrency,
    retries,
    retriesByKind,
    ladder,
    resubmits: unconfirmed?.rule === 'resubmit',
    written: { concurrency: '--concurrency', retries: '--retries' },
  });
  if (sheet !== '-' && sheet !== NO_SHEET && !isAddress(sheet)) await refuseNoSheet(sheet);
}

export const noDeployment = (isLocal = false): RunsheetError =>
  problem('E602', {
    what: 'no deployment is given',
    hint: `add -d <deployment>; list them: runsheet deployments${isLocal ? ' --local' : ''}`,
  });

export const copyingOf = ({ format, sheetName }: SheetFlags) => ({
  ...(format && { format }),
  ...(sheetName && { sheet: sheetName }),
});

/** The options that flags set. Throws E602 if the values of one repeated flag contradict each other. */
const givenOf = (flags: Partial<OptionFlags>): OptionValues =>
  Object.fromEntries(
    optionsOf('command').flatMap(([option, row]) => {
      const value = (flags as Readonly<Record<string, unknown>>)[option];
      if (value === undefined) return [];
      if (!isRepeated(row.kind)) return [[option, value]];
      const values = (value as readonly string[]).filter((text) => !(row.removable && text === 'none'));
      const isNone = row.removable && values.length === 0;
      return [[option, isNone ? 'none' : valueOf(option, row, values, IN_FLAGS)]];
    }),
  );

/** The options that say how to read a file, without the meaning of its columns. */
export const readingOf = (flags: SheetFlags): ReadOptions => keptIn('reading', givenOf(flags));

/** The batch that the flags describe. `asks`: whether the batch waits for its user after a canary. */
export const requestOf = (config: Config, flags: SheetFlags & ServersOfBatch, asks = false): BatchRequest =>
  requestFrom(
    { ...givenOf(flags), ...definedOnly({ servers: flags.servers }) },
    {
      service: meantService(config, flags),
      asks,
      reuse: flags.again ? 'again' : flags.reuse ? 'reuse' : 'refuse',
    },
  );

export const limitsOf = (flags: Partial<LimitFlags>): LimitChange => limitChangeOf(givenOf(flags));

export const orderOf = (flags: SheetFlags): OrderOptions => keptIn('order', givenOf(flags));

/** `asks`: whether the batch waits for its user after a canary. */
export const settingsOf = (flags: SheetFlags & ServersOfBatch, asks = false): Settings =>
  settingsFrom({ ...givenOf(flags), ...definedOnly({ servers: flags.servers }) }, asks);

/** The flags that turn columns into inputs: each with its value and the name under which a batch stores it. */
export function mappingOf(flags: SheetFlags) {
  const flagValues: Readonly<Record<string, unknown>> = { ...givenOf(flags) };
  return Object.entries<AnyOption>(OPTIONS)
    .filter(([, { scope }]) => scope === 'sheet')
    .map(([option, { kept = option }]) => ({ flag: flagOf(option), kept, value: flagValues[option] }));
}

/** The `input=value` pairs of `--set`. Throws E602 for another form and for repeated names. */
export const inputsSet = (pairs: readonly string[] = []): Readonly<Record<string, string>> =>
  sheetOptionsOf({ set: valueOf('set', OPTIONS.set, pairs, IN_FLAGS) as OptionValues['set'] & {} }).set;

/** Addresses of the servers that flags name, set once the local run service knows them. */
export type ServersOfBatch = { readonly servers?: readonly string[] };

type GivenServers = Pick<
  OwnFlags,
  'comfyui' | 'comfyuiHeaders' | 'comfyApi' | 'comfyApiKeyFile' | 'program' | 'gpus' | 'model' | 'keyFile'
> &
  Partial<Pick<OwnFlags, 'stays'>> & {
    readonly workflow?: string | readonly string[];
  };

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
    workflows: [workflow].flat().map(workflowIn),
    ...programOf(flags),
    ...modelOf(flags),
  };
}

function refuseMixed(flags: GivenServers): void {
  const { workflow = [], comfyui = [], comfyApi = [], program, model, keyFile } = flags;
  if (model === undefined && keyFile !== undefined)
    throw problem('E602', {
      what: '--key-file needs --model',
      hint: 'for a Comfy API: --comfy-api-key-file; for a run service: RUNSHEET_API_KEY_FILE',
    });
  refuseWithoutProgram(flags);
  const named = [program, model, workflow.length + comfyui.length + comfyApi.length || undefined];
  if (named.filter((each) => each !== undefined).length > 1)
    throw problem('E602', {
      what: '--program, --model and a ComfyUI exclude each other: a batch has one deployment',
      hint: 'make two batches',
    });
}

function refuseWithoutProgram({
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

function modelOf({ model: text, keyFile }: GivenServers): Pick<GivenGpus, 'models'> {
  if (text === undefined) return {};
  const named = namedModel(text, { place: '--model', write: (name) => `--model ${name}` });
  return { models: [{ ...named, ...(keyFile && { keyFile: resolve(keyFile) }) }] };
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
  const { addOwnGpus } = await import('../../library/own-gpus.ts');
  const { deployments, servers: urls } = await addOwnGpus(servers, { ...gpusOf(flags), keeps });
  const [added] = deployments;
  return {
    ...flags,
    local: true,
    ...(added && { deployment: added.id }),
    ...(urls.length > 0 && { servers: urls }),
  };
}
