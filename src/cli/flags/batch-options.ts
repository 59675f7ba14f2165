// Turns the flags of run, submit and plan into the parameters of a batch: service, deployment, sheet options, settings.

import { definedOnly } from '../../options/defined-only.ts';
import { loadConfig, type Config } from '../../host/settings/config.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
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
import { LOCAL } from '../../host/local-address.ts';
import type { Api } from '../../host/api-version.ts';
import type { Spoken } from '../../service-client/open-services.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import { checkLadder } from '../../sheet/size-classes.ts';
import { refuseNoSheet, type ReadOptions } from '../../sheet/sheet-source.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { SheetFlags, LimitFlags, OptionFlags } from './flags.ts';
import { refuseWithoutProgram, type ServersOfBatch } from './gpu-flags.ts';
import { isWorkflowKept } from '../../run-service/kept-workflows.ts';

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
