// The parameters of a batch besides its sheet: deployment, service and settings. Defaults are chosen here once and stored in
// batch.json.

import { AUTO_EXCLUDES_LADDER, AUTO_WITH_LADDER } from '../options/excludes.ts';
import { USUAL_RETRIES } from '../options/bounds-and-defaults.ts';
import { definedOnly } from '../options/defined-only.ts';
import { AUTO_START, mostConcurrency, UNCONFIRMED_MS } from '../batch/bounds.ts';
import { mostRetries } from '../options/facts/failure-kind.ts';
import { DEFAULT_TIMING, type Canary, type Timing, type UnconfirmedRule } from '../batch/params.ts';
import type { Unconfirmed } from '../options/batch-kinds.ts';
import {
  optionalLimits,
  type OptionalLimits,
  LIMITS,
  STORED_LIMITS,
  type LimitName,
  type LimitChange,
} from '../options/limits.ts';
import type { Api } from '../host/api-version.ts';
import type { Deployment } from '../service-client/contract/deployment.ts';
import type { OrderOptions } from '../sheet/sending-order.ts';
import type { SheetOptions } from '../sheet/sheet-source.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { SheetCopy } from './copy-sheet.ts';
import { problem } from '../errors/error.ts';
import { named } from '../options/kinds.ts';
import { formOf } from '../options/read.ts';
import type { Config } from '../host/settings/config.ts';
import { prepareNotify, type Programs } from '../notices/prepare-targets.ts';
import { refuseUnbounded } from '../store/attempt-cost-bound.ts';
import { count } from '../options/text/printed-numbers.ts';

export type ServiceSpec = {
  /** The API's base address, or `local`. */
  readonly base: string;
  /** The id in the profile of the service, if any. */
  readonly id?: string;
  readonly api: Api;
  readonly rehearsal: boolean;
  /** Whether an accepted run is in every later list, so that a short wait proves that a run does not exist. */
  readonly isConsistent?: boolean;
  /** undefined if the service has no profile. */
  readonly timing: Timing | undefined;
  readonly prices: Readonly<Record<string, number>>;
};

/** Options that change no row, and therefore not the identity of the batch. */
export type Settings = Omit<OptionalLimits, 'adaptive'> & {
  /** Whether the batch looks for its useful concurrency, up to `concurrency`. */
  readonly adaptive?: true;
  /** Maximum runs at the same time (default: twice the deployment's limit). */
  readonly concurrency?: number;
  readonly retries?: number;
  readonly unconfirmed?: Unconfirmed;
  /** Default of `runMs`: the deployment's time limit plus five minutes; none without a limit. */
  readonly deadlines: { readonly queueMs?: number; readonly runMs?: number };
  readonly webhooks: boolean;
  readonly canary?: Canary;
  readonly reserve?: 'p99';
  /** How long a run on one of the user's own GPUs may execute. */
  readonly timeLimitMs?: number;
  /** The user's own GPU servers that may run the rows (default: all). */
  readonly servers?: readonly string[];
  /** The template of the names of output files, such as `{sku}-{seed}`. */
  readonly outputName?: string;
};

export type BatchSpec = {
  readonly copy: SheetCopy;
  /** How to read the sheet, except its format, which `copy` has. */
  readonly options: Omit<SheetOptions, 'format'>;
  /** The options that the user gave, before guesses were added. */
  readonly asked?: Omit<SheetOptions, 'format'>;
  readonly deployment: Deployment;
  readonly service: ServiceSpec;
  readonly settings: Settings;
  readonly order: OrderOptions;
  readonly from?: NonNullable<BatchFile['from']>;
};

export const sheetOptionsOf = ({ copy, options }: Pick<BatchSpec, 'copy' | 'options'>): SheetOptions => ({
  ...options,
  format: copy.format,
});

function optionsOf(spec: Pick<BatchSpec, 'copy' | 'options'>): BatchFile['sheet']['options'] {
  const { ladder, drop, ...options } = sheetOptionsOf(spec);
  return { ...options, drop: [...drop], ...(ladder === undefined ? {} : { ladder: [...ladder] }) };
}

/** The user's own options, if guesses changed them. */
function askedIn({ copy, options, asked: written = options }: BatchSpec): Pick<BatchFile['sheet'], 'asked'> {
  const [own, settled] = [optionsOf({ copy, options: written }), optionsOf({ copy, options })];
  return JSON.stringify(own) === JSON.stringify(settled) ? {} : { asked: own };
}

type Identity = Pick<BatchFile, 'batch' | 'mark' | 'content' | 'madeFor' | 'stage'>;

export function batchFileOf(spec: BatchSpec, laidOut: LaidOut, identity: Identity): BatchFile {
  const { copy, deployment, service } = spec;
  const { folders = [], claimed = [] } = copy.beside ?? {};
  const [folder] = [...folders, ...claimed];
  const { inputTypes: _, servers: __, ...stored } = deployment;
  return {
    format: 2,
    ...identity,
    createdAt: new Date().toISOString(),
    sheet: {
      name: copy.name,
      file: copy.file,
      sha256: copy.sha256,
      bytes: copy.bytes,
      options: optionsOf(spec),
      ...askedIn(spec),
      columns: [...laidOut.columns],
      inputs: laidOut.inputs.map(({ fields, also, ...input }) => ({
        ...input,
        ...(fields && { fields: [...fields] }),
        ...(also && { also: [...also] }),
      })),
      rows: laidOut.rows,
      pages: laidOut.pages,
      repeats: laidOut.repeats.count,
      ...(spec.options.grid === undefined ? {} : { grid: Object.keys(spec.options.grid) }),
      ...(Object.keys(spec.order).length === 0 ? {} : { order: spec.order }),
      lanes: [...laidOut.lanes],
      ...(spec.options.ladder === undefined ? {} : { sizedBy: [...(laidOut.sizedBy ?? [])] }),
      isQueued: laidOut.isQueued,
      ...(laidOut.refused === undefined ? {} : { refused: laidOut.refused.rows }),
      ...(folder === undefined ? {} : { files: { count: laidOut.files?.files ?? 0, folder } }),
      ...(spec.settings.outputName === undefined ? {} : { outputName: spec.settings.outputName }),
    },
    ...(spec.from === undefined ? {} : { from: spec.from }),
    deployment: definedOnly(stored),
    service: { ...service, timing: service.timing ?? DEFAULT_TIMING, prices: { ...service.prices } },
    ...settingsOf(spec),
    seed: Number.parseInt(identity.content.slice(0, 7), 16),
  };
}

type FileSettings = Pick<
  BatchFile,
  | 'concurrency'
  | 'retries'
  | 'reserve'
  | 'unconfirmed'
  | 'deadlines'
  | 'webhooks'
  | 'timeLimitMs'
  | 'servers'
  | keyof OptionalLimits
>;

function settingsOf({ settings, deployment, service, options }: BatchSpec): FileSettings {
  const { retries = USUAL_RETRIES, deadlines, webhooks, unconfirmed } = settings;
  const runMs = deadlines.runMs ?? runDeadlineMs(deployment);
  const rule = unconfirmedRule(unconfirmed, service);
  const { adaptive, ...limits } = settings;
  const concurrency = Math.min(
    mostConcurrency(mostRetries({ ...settings, ...ladderOf(options), retries }), rule.rule === 'resubmit'),
    settings.concurrency ?? usualConcurrency(deployment),
  );
  const start = Math.min(concurrency, deployment.concurrencyLimit ?? AUTO_START);
  return {
    concurrency,
    retries,
    unconfirmed: rule,
    ...optionalLimits({ ...limits, ...(adaptive ? { adaptive: start } : {}) }),
    ...definedOnly({
      reserve: settings.reserve,
      timeLimitMs: settings.timeLimitMs,
      servers: settings.servers && [...settings.servers],
    }),
    deadlines: definedOnly({ queueMs: deadlines.queueMs, runMs }),
    webhooks,
  };
}

const ladderOf = ({ ladder }: BatchSpec['options']) => (ladder === undefined ? {} : { ladder });

const CONCURRENCY_DEFAULT = 4;

/** Twice the deployment's limit keeps its machines busy; without a known limit, few runs are safe. */
const usualConcurrency = ({ concurrencyLimit }: Deployment): number =>
  concurrencyLimit === undefined ? CONCURRENCY_DEFAULT : concurrencyLimit * 2;

const RUN_MARGIN_MS = 300_000;

/** The service ends a run at the deployment's limit; the margin gives it time to do so. */
const runDeadlineMs = ({ runTimeoutSeconds }: Deployment): number | undefined =>
  runTimeoutSeconds === undefined ? undefined : runTimeoutSeconds * 1000 + RUN_MARGIN_MS;

/** A rehearsal, a service whose lists are always up to date, and the rule `fail` use the short waiting time. */
function unconfirmedRule(
  setting: Settings['unconfirmed'],
  { rehearsal, isConsistent, timing }: ServiceSpec,
): UnconfirmedRule {
  const { rule, afterMs } = setting ?? { rule: 'unknown' };
  const { postDeadlineMs, settleWithoutControlMs } = timing ?? DEFAULT_TIMING;
  const isSoon = rehearsal || isConsistent === true || rule === 'fail';
  return { rule, afterMs: afterMs ?? (isSoon ? postDeadlineMs + settleWithoutControlMs : UNCONFIRMED_MS) };
}

type CheckedRequest = Pick<BatchSpec, 'options' | 'settings'> & { readonly name?: string };

/** Throws E602 for a wrong name or setting. The request has travelled as JSON, so a NaN arrives as null. */
export function checkRequest({ name, settings, options }: CheckedRequest): void {
  checkName(name);
  const values: Readonly<Record<string, unknown>> = settings;
  for (const { option, stored, kind } of STORED_LIMITS)
    if (values[stored] !== undefined && !kind.isKept(values[stored])) {
      const { kind: full } = LIMITS[option as LimitName];
      throw problem('E602', { what: `${option} is not ${formOf(full).expected(full)}` });
    }
  refuseNoRoom(settings, options.ladder);
}

export function checkName(name: string | undefined, what = 'the name of a batch'): void {
  if (name === undefined || named.isKept(name)) return;
  throw problem('E602', {
    what: `${what} is ${JSON.stringify(name)}`,
    hint: `use ${formOf(named).expected(named)}`,
  });
}

/** A batch whose deadline has passed would send nothing. */
export function refusePast({ deadlineAt }: Settings): void {
  if (deadlineAt === undefined || deadlineAt > Date.now()) return;
  throw problem('E602', {
    what:
      deadlineAt === null
        ? 'deadline is not a time'
        : `deadline ${new Date(deadlineAt).toISOString()} has passed`,
  });
}

function refuseNoRoom(settings: Settings, ladder: readonly string[] | undefined): void {
  const { adaptive, concurrency, unconfirmed } = settings;
  if (adaptive && ladder) throw problem('E602', { what: AUTO_EXCLUDES_LADDER, hint: AUTO_WITH_LADDER.hint });
  const { retries, retriesByKind } = settings;
  const resubmits = unconfirmed?.rule === 'resubmit';
  if (!adaptive) refuseTooMany({ concurrency, retries, retriesByKind, ladder, resubmits });
}

/** The settings that limit how many runs the state of a batch can hold; `written`: how the user wrote its options. */
export type Room = {
  readonly concurrency: number | undefined;
  readonly retries: number | undefined;
  readonly retriesByKind: Settings['retriesByKind'] | undefined;
  readonly ladder?: readonly string[] | undefined;
  readonly resubmits: boolean;
  readonly written?: { readonly concurrency: string; readonly retries: string };
};

const AS_OPTIONS = { concurrency: 'concurrency', retries: 'retries' };

/** Throws E602 if the state of a batch cannot hold this many runs. */
export function refuseTooMany({ concurrency, ladder, resubmits, written = AS_OPTIONS, ...room }: Room): void {
  const { retries = USUAL_RETRIES, retriesByKind = {} } = room;
  const attempts = mostRetries({ retries, retriesByKind, ...(ladder && { ladder }) });
  const most = mostConcurrency(attempts, resubmits);
  if (concurrency === undefined || concurrency <= most) return;
  throw problem('E602', {
    what: `${written.concurrency} ${count(concurrency)} is too many for rows that may have ${attempts + 1} attempts`,
    hint: `use at most ${written.concurrency} ${most}, or fewer ${written.retries}: a batch stores every attempt of its running rows`,
  });
}

/** The servers that settings are checked with. */
export type Reached = {
  readonly pools: { show(pool: string): Promise<unknown> };
  /** Absent where a worker creates the batch, which must not fail because a program is not allowed. */
  readonly programs?: Programs;
};

export type Where = {
  readonly config: Config;
  /** Whether workers of a cluster have settings of their own. */
  readonly isCluster: () => boolean | Promise<boolean>;
  readonly file?: BatchFile;
  /** Called only if a pool is given, or a program that a cluster starts. */
  readonly reach?: () => Promise<Reached>;
};

type Checked = Pick<LimitChange, 'pool' | 'notify'> & Partial<Pick<LimitChange, 'maxCostNano'>>;

/** Throws E312 for a budget without a bound, E540 for a pool that does not exist, where a batch would wait for ever, and E602. */
export async function checkSettings(
  change: Checked,
  { config, isCluster, file, reach }: Where,
): Promise<void> {
  if (file !== undefined) refuseUnbounded(file, change.maxCostNano);
  const programs = reach && (async () => (await reach()).programs);
  await prepareNotify(config, change, { isCluster, ...(programs && { programs }) });
  const { pool } = change;
  if (reach !== undefined && pool !== undefined && pool !== 'none') await (await reach()).pools.show(pool);
}
