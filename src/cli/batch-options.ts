// From the flags of run, submit and plan to the order of a batch: which service, which deployment, how the sheet is read.

import { loadConfig, type Config } from '../host/config.ts';
import { nearest, problem } from '../errors/error.ts';
import { DEFAULT_PRICES } from '../batch/gpu.ts';
import { mostConcurrency } from '../batch/bounds.ts';
import { DEFAULT_TIMING } from '../batch/params.ts';
import { RETRIES, type BatchSpec, type ServiceSpec, type Settings } from '../create-batch/batch-spec.ts';
import type { SheetCopy } from '../create-batch/copy-sheet.ts';
import type { CreateParams } from '../create-batch/create-batch.ts';
import { findDeployment } from '../create-batch/find-deployment.ts';
import { findUnchanged } from '../create-batch/reuse.ts';
import { refuseTooSoon, usableDeployment } from '../create-batch/service-numbers.ts';
import { LOCAL } from '../run-service/local-address.ts';
import type { RunService } from '../run-service/client.ts';
import type { Api } from '../host/api-version.ts';
import { openServices, type Services, type Spoken } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { INPUT_KINDS, type InputKind, type SheetOptions } from '../sheet/sheet-options.ts';
import { refuseNoSheet } from '../sheet/sheet-source.ts';
import type { BatchFolder } from '../store/batch-folders.ts';
import type { SheetFlags } from './flags.ts';
import { count } from './format.ts';

export const configOf = ({ out, api }: { readonly out?: string; readonly api?: Api }): Config =>
  loadConfig(undefined, { ...(out === undefined ? {} : { out }), ...(api === undefined ? {} : { api }) });

/** The service that the flags and settings mean. Throws E305 where none is set. */
function meantService(config: Config, flags: Pick<SheetFlags, 'local'>): Spoken {
  if (flags.local) return { base: LOCAL, api: 'v2' };
  if (config.apiUrl === undefined) throw problem('E305', {});
  return { base: config.apiUrl, api: config.api };
}

/** What is wrong with the words alone is said before anything is started. */
export async function checkWords(sheet: string, flags: SheetFlags): Promise<void> {
  sheetOptions(flags);
  if (flags.local && flags.api === 'v1')
    throw problem('E602', {
      what: '--local and --api v1 exclude each other: the local run service of this place speaks V2',
      hint: 'runsheet service --only v1 is a service that speaks V1',
    });
  if (flags.deployment === undefined)
    throw problem('E602', { what: 'no deployment is given', hint: 'name one with -d' });
  const retries = flags.retries ?? RETRIES;
  const most = mostConcurrency(retries);
  if (flags.concurrency !== undefined && flags.concurrency > most)
    throw problem('E602', {
      what: `--concurrency ${count(flags.concurrency)} is too many with --retries ${retries}`,
      hint: `with so many retries at most ${count(most)}: a batch remembers each attempt of each run`,
    });
  if (sheet !== '-') await refuseNoSheet(sheet);
}

/** The batch of this sheet and these flags, if it was made before; asks no service. */
export function madeBefore(
  config: Config,
  copy: SheetCopy,
  flags: SheetFlags,
): Promise<BatchFolder | undefined> {
  if (flags.again) return Promise.resolve(undefined);
  const { base } = meantService(config, flags);
  const name = flags.name === undefined ? {} : { name: flags.name };
  return findUnchanged(
    config.out,
    { copy, options: sheetOptions(flags), base, ...name },
    flags.deployment ?? '',
  );
}

/** What the flags ask for, with what the service says of itself. Throws what is wrong with the words or the service. */
export async function createParams(
  config: Config,
  copy: SheetCopy,
  flags: SheetFlags,
): Promise<CreateParams> {
  const meant = meantService(config, flags);
  const services = openServices(config, openTransport(8));
  await refuseOtherApi(services, meant);
  const service = services.at(meant);
  const settings = settingsOf(flags);
  const found = await findDeployment(service, flags.deployment ?? '');
  const facts = await serviceFacts(service, meant);
  refuseTooSoon(settings, facts.timing ?? DEFAULT_TIMING);
  return {
    copy,
    options: sheetOptions(flags),
    settings,
    deployment: usableDeployment(found, settings),
    service: facts,
    out: config.out,
    again: flags.again,
    ...(flags.name === undefined ? {} : { name: flags.name }),
  };
}

export function settingsOf(flags: SheetFlags): Settings {
  const { concurrency, retries, unconfirmed, queueTimeout, runTimeout, poll } = flags;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(retries === undefined ? {} : { retries }),
    ...(unconfirmed === undefined ? {} : { unconfirmed }),
    deadlines: {
      ...(queueTimeout === undefined ? {} : { queueMs: queueTimeout }),
      ...(runTimeout === undefined ? {} : { runMs: runTimeout }),
    },
    webhooks: !poll,
  };
}

/** Found out before anything is bought or made. Throws E307 and E308. */
export async function refuseOtherApi(services: Services, { base, api }: Spoken): Promise<void> {
  const speaks = base === LOCAL ? api : await services.apiAt(base);
  if (speaks !== api) throw problem('E308', { base, speaks });
}

async function serviceFacts(service: RunService, meant: Spoken): Promise<ServiceSpec> {
  const [profile, prices] = await Promise.all([service.getProfile(), service.getPrices()]);
  const { rehearsal = false, ...timing } = profile ?? {};
  return {
    ...meant,
    rehearsal,
    timing: profile && (timing as ServiceSpec['timing']),
    prices: prices ?? DEFAULT_PRICES,
  };
}

function sheetOptions(flags: SheetFlags): BatchSpec['options'] {
  const types = pairs('--type', flags.type);
  for (const [input, kind] of Object.entries(types)) {
    const isKind = (INPUT_KINDS as readonly string[]).includes(kind);
    if (!isKind)
      throw problem('E602', {
        what: `--type ${input}=${kind}: there is no type ${kind}`,
        hint: `${nearWords(kind, INPUT_KINDS)}types: ${INPUT_KINDS.join(' ')}`,
      });
  }
  const given: { -readonly [K in keyof SheetOptions]?: SheetOptions[K] } = {
    ...(flags.delimiter && { delimiter: flags.delimiter }),
    ...(flags.encoding && { encoding: flags.encoding }),
    ...(flags.gpuColumn && { gpuColumn: flags.gpuColumn }),
    ...(flags.gpu && { gpu: flags.gpu }),
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

const nearWords = (wrong: string, words: readonly string[]): string => {
  const near = nearest(wrong, words);
  return near === undefined ? '' : `did you mean ${near}? `;
};

/** `name=value` pairs of a flag. Throws E602 where one has another form, or two have one name. */
export function pairs(flag: string, given: readonly string[] = []): Record<string, string> {
  const found = new Map<string, string>();
  for (const pair of given) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw problem('E602', { what: `${flag} ${pair} is no pair`, hint: `the form is ${flag} input=…` });
    if (found.has(name))
      throw problem('E602', { what: `${flag} ${name} is given twice`, hint: 'leave one of them out' });
    found.set(name, value);
  }
  return Object.fromEntries(found);
}
