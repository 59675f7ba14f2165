// From the flags of run, submit and plan to the order of a batch: which service, which deployment, how the sheet is read.

import { loadConfig, type Config } from '../config.ts';
import { nearest, problem } from '../errors.ts';
import { DEFAULT_PRICES } from '../batch/gpu.ts';
import { capMost } from '../batch/limits.ts';
import { DEFAULT_TIMING } from '../batch/order.ts';
import { findDeployment } from '../intake/deployment.ts';
import type { SheetCopy } from '../intake/copy.ts';
import { findMade, takeIn, type Intake, type IntakeOrder } from '../intake/intake.ts';
import { refuseTooSoon, usableDeployment } from '../intake/service-numbers.ts';
import { LOCAL } from '../run-service/local.ts';
import type { RunService } from '../run-service/client.ts';
import type { Api } from '../run-service/api.ts';
import { openServices, type Services, type Spoken } from '../run-service/services.ts';
import { openTransport } from '../run-service/transport.ts';
import { INPUT_KINDS, type InputKind, type SheetOptions } from '../sheet/options.ts';
import { refuseNoSheet } from '../sheet/source.ts';
import type { SheetFlags } from './flags.ts';
import { count } from './words.ts';

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
  const most = capMost(flags.retries);
  if (flags.concurrency !== undefined && flags.concurrency > most)
    throw problem('E602', {
      what: `--concurrency ${count(flags.concurrency)} is too many with --retries ${flags.retries}`,
      hint: `with so many retries at most ${count(most)}: a batch remembers each attempt of each run`,
    });
  if (sheet !== '-') await refuseNoSheet(sheet);
}

/** The batch of this sheet and these flags, where it was made before; asks no service. */
export function madeBefore(config: Config, copy: SheetCopy, flags: SheetFlags): ReturnType<typeof findMade> {
  if (flags.again) return Promise.resolve(undefined);
  return findMade(
    config.out,
    { ...wanted(copy, flags), base: meantService(config, flags).base },
    flags.deployment ?? '',
  );
}

/** Lays the sheet out and freezes the batch. Throws what is wrong with the sheet; nothing is sent. */
export async function takeSheet(config: Config, copy: SheetCopy, flags: SheetFlags): Promise<Intake> {
  const meant = meantService(config, flags);
  const services = openServices(config, openTransport(8));
  await refuseOtherApi(services, meant);
  const service = services.at(meant);
  const { deadlines, onUncertain, ...order } = wanted(copy, flags);
  const found = await findDeployment(service, flags.deployment ?? '');
  const given = { ...(flags.concurrency !== undefined && { cap: flags.concurrency }), ...deadlines };
  const deployment = usableDeployment(found, given);
  const facts = await serviceFacts(service, meant);
  refuseTooSoon(
    { ...deadlines, uncertain: onUncertain },
    { ...facts, timing: facts.timing ?? DEFAULT_TIMING },
  );
  return takeIn({
    ...order,
    deadlines,
    onUncertain,
    out: config.out,
    again: flags.again,
    deployment,
    service: facts,
    webhooks: !flags.poll,
    ...(flags.concurrency === undefined ? {} : { cap: flags.concurrency }),
  });
}

const wanted = (copy: SheetCopy, flags: SheetFlags) => ({
  copy,
  options: sheetOptions(flags),
  retries: flags.retries,
  onUncertain: flags.onUncertain,
  deadlines: {
    queueMs: flags.queueTimeout,
    ...(flags.runTimeout === undefined ? {} : { runMs: flags.runTimeout }),
  },
  ...(flags.name === undefined ? {} : { name: flags.name }),
});

/** Found out before anything is bought or made. Throws E307 and E308. */
export async function refuseOtherApi(services: Services, { base, api }: Spoken): Promise<void> {
  const speaks = base === LOCAL ? api : await services.apiAt(base);
  if (speaks !== api) throw problem('E308', { base, speaks });
}

async function serviceFacts(service: RunService, meant: Spoken): Promise<IntakeOrder['service']> {
  const [profile, prices] = await Promise.all([service.getProfile(), service.getPrices()]);
  const { rehearsal = false, ...timing } = profile ?? {};
  return {
    ...meant,
    rehearsal,
    timing: profile && (timing as IntakeOrder['service']['timing']),
    prices: prices ?? DEFAULT_PRICES,
  };
}

function sheetOptions(flags: SheetFlags): IntakeOrder['options'] {
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
