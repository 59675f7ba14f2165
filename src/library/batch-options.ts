// What a program asks of a new batch.

import { mostConcurrency } from '../batch/bounds.ts';
import { mostRetries } from '../batch/failure-kind.ts';
import { withoutNone } from '../batch/params.ts';
import type { BatchRequest } from '../create-batch/batch-request.ts';
import { RETRIES, type BatchSpec, type Settings } from '../create-batch/batch-spec.ts';
import { problem } from '../errors/error.ts';
import type { Spoken } from '../run-service/open-services.ts';
import { checkLadder } from '../sheet/size-classes.ts';
import type { OrderOptions } from '../sheet/sending-order.ts';
import type { InputKind } from '../sheet/sheet-options.ts';
import { limitChangeOf, type Limits } from './given-limits.ts';

/** How columns become inputs; a column with the name of an input gives this input. */
export type ColumnMapping = {
  /** The column of an input. */
  readonly map?: Readonly<Record<string, string>>;
  /** One value of an input for all rows. */
  readonly set?: Readonly<Record<string, string>>;
  /** Columns that are no inputs. */
  readonly drop?: readonly string[];
  readonly types?: Readonly<Record<string, InputKind>>;
  /** The column with the GPU of each row (default: `gpu`). */
  readonly gpu?: string;
  /** The column with a unique name of each row (default: a hash of its inputs). */
  readonly key?: string;
};

export type BatchOptions = Limits & {
  /** The id of the deployment, or its name if the name is unique. */
  readonly deployment: string;
  /** (default: made of the name of the sheet and of its content) */
  readonly batchId?: string;
  /** As `columns.key`. */
  readonly key?: string;
  /** For rows that name none. */
  readonly gpu?: string;
  /** GPUs from the cheapest on, for rows that name none: a row that needs more memory climbs. */
  readonly ladder?: readonly string[];
  readonly columns?: ColumnMapping;
  /** The first rows only. */
  readonly limit?: number;
  readonly order?: OrderOptions;
  /** So many rows that differ as much as possible are sent first; the batch pauses if one of them fails. */
  readonly canary?: number;
  /** How an attempt that may have started a run ends, if no run list shows it (default: `unknown`). */
  readonly unconfirmed?: 'unknown' | 'fail' | 'ask';
  /** Milliseconds after which a run that does not start, or does not end, is cancelled. */
  readonly queueTimeoutMs?: number;
  readonly runTimeoutMs?: number;
  /** Poll runs instead of receiving webhooks. */
  readonly poll?: boolean;
  /**
   * Rows that earlier batches have done: `refuse` (default) throws {@link AlreadyDoneError}, `reuse` keeps their results and runs
   * only the others, `again` runs all rows in a new batch.
   */
  readonly reuse?: 'refuse' | 'reuse' | 'again';
};

/** Throws E602 for options that cannot be met. */
export function requestFrom(options: BatchOptions, service: Spoken): BatchRequest {
  const { deployment, batchId, order, reuse } = options;
  if (!deployment) throw problem('E602', { what: 'no deployment is given' });
  const settings = settingsFrom(options);
  const { ladder, gpu } = options;
  checkLadder({ ...(ladder && { ladder }), ...(gpu && { gpu }) });
  refuseTooMany(settings, ladder);
  return {
    service,
    deployment,
    options: sheetOptionsFrom(options),
    settings,
    order: order ?? {},
    again: reuse === 'again',
    ...(batchId === undefined ? {} : { name: batchId }),
  };
}

function sheetOptionsFrom({ key, gpu, ladder, limit, columns = {} }: BatchOptions): BatchSpec['options'] {
  const keyColumn = key ?? columns.key;
  return {
    ...(columns.gpu && { gpuColumn: columns.gpu }),
    ...(gpu && { gpu }),
    ...(ladder && { ladder }),
    ...(keyColumn && { keyColumn }),
    ...(limit === undefined ? {} : { limit }),
    map: columns.map ?? {},
    set: columns.set ?? {},
    drop: columns.drop ?? [],
    types: columns.types ?? {},
  };
}

function settingsFrom(options: BatchOptions): Settings {
  const { unconfirmed, queueTimeoutMs, runTimeoutMs, poll = false, canary } = options;
  return {
    ...withoutNone(limitChangeOf(options)),
    ...(unconfirmed === undefined ? {} : { unconfirmed: { rule: unconfirmed } }),
    deadlines: {
      ...(queueTimeoutMs === undefined ? {} : { queueMs: queueTimeoutMs }),
      ...(runTimeoutMs === undefined ? {} : { runMs: runTimeoutMs }),
    },
    webhooks: !poll,
    ...(canary === undefined ? {} : { canary: { rows: canary, asks: false } }),
  };
}

/** The state of a batch has no room for more. */
function refuseTooMany(
  { concurrency, adaptive, retries = RETRIES, retriesByKind = {} }: Settings,
  ladder: readonly string[] | undefined,
): void {
  if (adaptive && ladder) throw problem('E602', { what: 'concurrency "auto" and ladder exclude each other' });
  const most = mostConcurrency(mostRetries({ retries, retriesByKind, ...(ladder && { ladder }) }), false);
  if (concurrency !== undefined && !adaptive && concurrency > most)
    throw problem('E602', {
      what: `concurrency ${concurrency} is too many for rows that may have ${retries + 1} attempts`,
      hint: `use at most ${most}, or fewer retries: a batch stores every attempt of its running rows`,
    });
}
