// What the user asks for, beside the sheet: which deployment of which service, and how hard it is used. What was not said is
// decided here, once, and stands in batch.json.

import { mostConcurrency, UNCONFIRMED_MS } from '../batch/bounds.ts';
import { DEFAULT_TIMING, type Timing, type UnconfirmedRule } from '../batch/params.ts';
import type { Api } from '../host/api-version.ts';
import type { Deployment } from '../run-service/contract/deployment.ts';
import type { SheetOptions } from '../sheet/sheet-options.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { SheetCopy } from './copy-sheet.ts';

export type ServiceSpec = {
  /** The API's base address, or `local`. */
  readonly base: string;
  readonly api: Api;
  readonly rehearsal: boolean;
  /** undefined where the service has no profile. */
  readonly timing: Timing | undefined;
  readonly prices: Readonly<Record<string, number>>;
};

/** Options that change nothing of a row: the batch is the same one whatever they are. */
export type Settings = {
  /** Maximum runs at the same time (default: twice the deployment's limit). */
  readonly concurrency?: number;
  readonly retries?: number;
  /** Without a time of its own, the rule's is the service's. */
  readonly unconfirmed?: { readonly rule: UnconfirmedRule['rule']; readonly afterMs?: number };
  /** Default of `runMs`: the deployment's time limit and five minutes; none where it has no limit. */
  readonly deadlines: { readonly queueMs?: number; readonly runMs?: number };
  readonly webhooks: boolean;
};

export type BatchSpec = {
  readonly copy: SheetCopy;
  /** How the sheet is read, but for its format, which the copy tells. */
  readonly options: Omit<SheetOptions, 'format'>;
  readonly deployment: Deployment;
  readonly service: ServiceSpec;
  readonly settings: Settings;
};

export const sheetOptionsOf = ({ copy, options }: Pick<BatchSpec, 'copy' | 'options'>): SheetOptions => ({
  ...options,
  format: copy.format,
});

type Identity = Pick<BatchFile, 'batch' | 'mark' | 'content'>;

export function batchFileOf(spec: BatchSpec, laidOut: LaidOut, identity: Identity): BatchFile {
  const { copy, deployment, service } = spec;
  const { inputTypes: _, ...known } = deployment;
  return {
    format: 2,
    ...identity,
    createdAt: new Date().toISOString(),
    sheet: {
      name: copy.name,
      file: copy.file,
      sha256: copy.sha256,
      bytes: copy.bytes,
      options: { ...sheetOptionsOf(spec), drop: [...spec.options.drop] },
      columns: [...laidOut.columns],
      inputs: [...laidOut.inputs],
      rows: laidOut.rows,
      pages: laidOut.pages,
      repeats: laidOut.repeats.count,
    },
    deployment: { id: deployment.id, ...definedOnly(known) },
    service: { ...service, timing: service.timing ?? DEFAULT_TIMING, prices: { ...service.prices } },
    ...settingsOf(spec),
    seed: Number.parseInt(identity.content.slice(0, 7), 16),
  };
}

export const RETRIES = 2;

type FileSettings = Pick<BatchFile, 'concurrency' | 'retries' | 'unconfirmed' | 'deadlines' | 'webhooks'>;

function settingsOf({ settings, deployment, service }: BatchSpec): FileSettings {
  const { retries = RETRIES, deadlines, webhooks, unconfirmed } = settings;
  const runMs = deadlines.runMs ?? runDeadlineMs(deployment);
  return {
    concurrency: Math.min(mostConcurrency(retries), settings.concurrency ?? usualConcurrency(deployment)),
    retries,
    unconfirmed: unconfirmedRule(unconfirmed, service),
    deadlines: definedOnly({ queueMs: deadlines.queueMs, runMs }),
    webhooks,
  };
}

const CONCURRENCY_UNTOLD = 4;

/** Twice the deployment's own limit keeps its machines busy; a service that does not tell gets few. */
const usualConcurrency = ({ concurrencyLimit }: Deployment): number =>
  concurrencyLimit === undefined ? CONCURRENCY_UNTOLD : concurrencyLimit * 2;

const RUN_MARGIN_MS = 300_000;

/** The machine ends a run by itself at its limit; later than that nobody does. */
const runDeadlineMs = ({ runTimeoutSeconds }: Deployment): number | undefined =>
  runTimeoutSeconds === undefined ? undefined : runTimeoutSeconds * 1000 + RUN_MARGIN_MS;

/** On a rehearsal nobody waits for a day; nor does who has decided that the row shall fail. */
function unconfirmedRule(
  given: Settings['unconfirmed'],
  { rehearsal, timing }: ServiceSpec,
): UnconfirmedRule {
  const { rule, afterMs } = given ?? { rule: 'unknown' };
  const { postDeadlineMs, settleWithoutControlMs } = timing ?? DEFAULT_TIMING;
  const isSoon = rehearsal || rule === 'fail';
  return { rule, afterMs: afterMs ?? (isSoon ? postDeadlineMs + settleWithoutControlMs : UNCONFIRMED_MS) };
}

const definedOnly = <T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof definedOnly<T>
  >;
