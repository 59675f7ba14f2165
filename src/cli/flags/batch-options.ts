// Turns the flags of run, submit and plan into the parameters of a batch: service, deployment, sheet options, settings.

import { loadConfig, type Config } from '../../host/config.ts';
import { nearest, problem, type RunsheetError } from '../../errors/error.ts';
import { withoutNone, type LimitChange } from '../../batch/params.ts';
import { type BatchSpec, type Settings } from '../../create-batch/batch-spec.ts';
import type { SheetCopy } from '../../create-batch/copy-sheet.ts';
import { preparingIn } from '../../create-batch/preparing.ts';
import type { BatchRequest } from '../../create-batch/batch-request.ts';
import { findBatchOfResults } from '../../create-batch/batch-of-results.ts';
import { refuseTooMany } from '../../create-batch/check-request.ts';
import { isAddress } from '../../errors/redact.ts';
import { findUnchanged } from '../../create-batch/reuse/reuse.ts';
import { LOCAL } from '../../run-service/local-address.ts';
import type { Api } from '../../host/api-version.ts';
import type { Spoken } from '../../run-service/open-services.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import { checkLadder } from '../../sheet/size-classes.ts';
import { INPUT_KINDS, type InputKind, type Reading, type SheetOptions } from '../../sheet/sheet-options.ts';
import { refuseNoSheet } from '../../sheet/sheet-source.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { Context } from '../context.ts';
import type { SheetFlags } from './flags.ts';
import type { LimitFlags } from './limit-flags.ts';
import { notifyLimits } from './notify-flags.ts';

type SettingFlags = { readonly out?: string; readonly api?: Api; readonly metrics?: string };

export const configOf = ({ out, api, metrics }: SettingFlags): Config =>
  loadConfig(undefined, {
    ...(out === undefined ? {} : { out }),
    ...(api === undefined ? {} : { api }),
    ...(metrics === undefined ? {} : { metrics }),
  });

/** The service that flags and settings select. Throws E305 if none is set. */
export function meantService(config: Config, flags: Pick<SheetFlags, 'local'>): Spoken {
  if (flags.local) return { base: LOCAL, api: 'v2' };
  if (config.apiUrl === undefined) throw problem('E305', {}, { correction: { add: [['--local']] } });
  return { base: config.apiUrl, api: config.api };
}

/** Refuses invalid flags before anything is started. */
export async function checkFlags(sheet: string, flags: SheetFlags): Promise<void> {
  sheetOptions(flags);
  if (flags.local && flags.api === 'v1')
    throw problem('E602', {
      what: '--local and --api v1 exclude each other: the local run service of --local speaks V2',
      hint: 'start a local V1 service with: runsheet service --only v1',
    });
  if (flags.again && flags.reuse)
    throw problem('E602', {
      what: '--again and --reuse exclude each other',
      hint: '--again runs all rows; --reuse runs only those that no earlier batch has done',
    });
  if (flags.deployment === undefined && flags.into === undefined) throw noDeployment(flags.local);
  const { ladder } = sheetOptions(flags);
  checkLadder({ ...(ladder && { ladder }), ...(flags.gpu && { gpu: flags.gpu }) });
  const { concurrency, adaptive } = concurrencyLimits(flags);
  if (adaptive && ladder) throw problem('E602', AUTO_WITHOUT_LADDER);
  refuseTooMany({
    concurrency,
    retries: flags.retries,
    retriesByKind: flags.retry,
    ladder,
    resubmits: flags.unconfirmed?.rule === 'resubmit',
    written: { concurrency: '--concurrency', retries: '--retries' },
  });
  if (sheet !== '-' && !isAddress(sheet)) await refuseNoSheet(sheet);
}

/** E602 of a command that needs a deployment. */
export const noDeployment = (isLocal = false): RunsheetError =>
  problem('E602', {
    what: 'no deployment is given',
    hint: `add -d <deployment>; list them: runsheet deployments${isLocal ? ' --local' : ''}`,
  });

/** The copy of the sheet that a command reads. */
export const copyParams = (config: Config, { stdin }: Context['process'], flags: SheetFlags) => ({
  ...preparingIn(config),
  stdin,
  ...copyingOf(flags),
});

/** What the copy of a sheet needs to know. */
export const copyingOf = ({ format, sheet }: SheetFlags) => ({
  ...(format && { format }),
  ...(sheet && { sheet }),
});

/** The batch of this sheet and these flags, if it exists; sends no request to the service. */
export function madeBefore(
  config: Config,
  copy: SheetCopy,
  flags: SheetFlags,
  request?: string,
): Promise<BatchFolder | undefined> {
  if (flags.again) return Promise.resolve(undefined);
  const { base } = meantService(config, flags);
  const name = flags.name === undefined ? {} : { name: flags.name };
  return findUnchanged(
    config.out,
    {
      copy,
      options: sheetOptions(flags),
      base,
      ...name,
      ...(request === undefined ? {} : { request }),
    },
    flags.deployment ?? '',
  );
}

/** The batch whose results the sheet contains; none if the user wants a new one. */
export async function resultsOf(
  { out }: Config,
  copy: SheetCopy,
  flags: SheetFlags,
): Promise<BatchFolder | undefined> {
  if (flags.again || flags.reuse) return undefined;
  const reading = readingOf(flags);
  const found = await findBatchOfResults({ out, copy, reading, deployment: flags.deployment ?? '' });
  // Rows cannot be added to a batch with a ladder.
  return found?.file.sheet.options.ladder === undefined ? found : undefined;
}

/** How to read a file, without what its columns mean. */
export function readingOf(flags: SheetFlags): Reading {
  const { delimiter, encoding, limit, headerRow, skipRows, hidden, decimalComma } = sheetOptions(flags);
  return {
    ...(decimalComma === undefined ? {} : { decimalComma }),
    ...(headerRow === undefined ? {} : { headerRow }),
    ...(skipRows === undefined ? {} : { skipRows }),
    ...(hidden === undefined ? {} : { hidden }),
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** What flags ask for. `asks`: whether the batch waits for its user after a canary. */
export const requestOf = (config: Config, flags: SheetFlags, asks = false): BatchRequest => ({
  service: meantService(config, flags),
  deployment: flags.deployment ?? '',
  options: sheetOptions(flags),
  settings: settingsOf(flags, asks),
  order: orderOf(flags),
  again: flags.again,
  ...(flags.name === undefined ? {} : { name: flags.name }),
});

/** The limits that flags change. */
export const limitsOf = (flags: LimitFlags): LimitChange => {
  const { retries, retry, rate, gpuConcurrency, failAfter, deadline, maxCost } = flags;
  const { pool, weight, urgency, notifyFailed } = flags;
  return {
    ...concurrencyLimits(flags),
    ...(retries === undefined ? {} : { retries }),
    ...(retry === undefined ? {} : { retriesByKind: retry }),
    ...(rate === undefined ? {} : { startsPerMinute: rate }),
    ...(gpuConcurrency === undefined ? {} : { gpuConcurrency }),
    ...(failAfter === undefined ? {} : { failAfter }),
    ...(deadline === undefined ? {} : { deadlineAt: deadline }),
    ...(maxCost === undefined ? {} : { maxCostNano: maxCost }),
    ...(pool === undefined ? {} : { pool }),
    ...(weight === undefined ? {} : { weight }),
    ...(urgency === undefined ? {} : { urgency }),
    ...notifyLimits(flags),
    ...(notifyFailed === undefined ? {} : { notifyFailed }),
  };
};

function concurrencyLimits({ concurrency }: LimitFlags): Pick<LimitChange, 'concurrency' | 'adaptive'> {
  if (concurrency === undefined) return {};
  return typeof concurrency === 'number'
    ? { concurrency }
    : { concurrency: concurrency.auto, adaptive: true };
}

const AUTO_WITHOUT_LADDER = {
  what: '-c auto and --ladder exclude each other',
  hint: 'with a ladder, give -c <n>: rows of several size classes share each GPU',
};

export const orderOf = ({ shuffle, orderBy, priority }: SheetFlags): OrderOptions => ({
  ...(shuffle ? { shuffle } : {}),
  ...(orderBy === undefined ? {} : { orderBy }),
  ...(priority === undefined ? {} : { priority }),
});

/** `asks`: whether the batch waits for its user after a canary. */
export function settingsOf(flags: SheetFlags, asks = false): Settings {
  const { canary: rows, unconfirmed, queueTimeout, runTimeout, poll, outputName, workerTag } = flags;
  return {
    ...withoutNone(limitsOf(flags)),
    ...(unconfirmed === undefined ? {} : { unconfirmed }),
    deadlines: {
      ...(queueTimeout === undefined ? {} : { queueMs: queueTimeout }),
      ...(runTimeout === undefined ? {} : { runMs: runTimeout }),
    },
    webhooks: !poll,
    ...(outputName === undefined ? {} : { outputName }),
    ...(workerTag === undefined ? {} : { workerTag }),
    ...(flags.reserve === 'p99' ? { reserve: flags.reserve } : {}),
    ...(rows === undefined ? {} : { canary: { rows, asks } }),
  };
}

export function sheetOptions(flags: SheetFlags): BatchSpec['options'] {
  const types = pairs('--type', flags.type);
  for (const [input, kind] of Object.entries(types)) {
    const isKind = (INPUT_KINDS as readonly string[]).includes(kind);
    if (!isKind)
      throw problem('E602', {
        what: `--type ${input}=${kind}: unknown type ${kind}`,
        hint: `${didYouMean(kind, INPUT_KINDS)}types: ${INPUT_KINDS.join(' ')}`,
      });
  }
  const given: { -readonly [K in keyof SheetOptions]?: SheetOptions[K] } = {
    ...(flags.sheet && { sheet: flags.sheet }),
    ...(flags.delimiter && { delimiter: flags.delimiter }),
    ...(flags.encoding && { encoding: flags.encoding }),
    ...(flags.headerRow && { headerRow: flags.headerRow }),
    ...(flags.skipRows && { skipRows: flags.skipRows }),
    ...(flags.hidden && { hidden: flags.hidden }),
    ...(flags.decimalComma && { decimalComma: true }),
    ...(flags.gpuColumn && { gpuColumn: flags.gpuColumn }),
    ...(flags.gpu && { gpu: flags.gpu }),
    ...(flags.ladder && { ladder: flags.ladder.split(',').map((gpu) => gpu.trim()) }),
    ...(flags.key && { keyColumn: flags.key }),
    ...(flags.limit && { limit: flags.limit }),
  };
  return {
    ...given,
    map: pairs('--map', flags.map),
    set: pairs('--set', flags.set),
    drop: flags.drop ?? [],
    types: types as Record<string, InputKind>,
  };
}

const didYouMean = (wrong: string, words: readonly string[]): string => {
  const near = nearest(wrong, words);
  return near === undefined ? '' : `did you mean ${near}? `;
};

/** The `name=value` pairs of a flag. Throws E602 for another form and for repeated names. */
export function pairs(flag: string, given: readonly string[] = []): Record<string, string> {
  const found = new Map<string, string>();
  for (const pair of given) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw problem('E602', { what: `${flag} ${pair} has no =`, hint: `write it as ${flag} input=…` });
    if (found.has(name))
      throw problem('E602', { what: `${flag} ${name} is given twice`, hint: 'remove one of them' });
    found.set(name, value);
  }
  return Object.fromEntries(found);
}
