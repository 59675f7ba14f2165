// Selects the rows of a batch to send again, and their changes.

import { isOwnBatch } from '../../batches/known-places.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { RowsAgain, type Candidates, type PassParams } from '../../batches/append/add-pass.ts';
import type { Answers } from '../../batches/questions.ts';
import { settle, type Policy } from '../../batches/settle.ts';
import type { FailureKind } from '../../options/facts/failure-kind.ts';
import type { Gpu } from '../../options/facts/gpu.ts';
import type { Outcome } from '../../batch/outcome.ts';
import { withSheetNames } from '../../sheet/named-inputs.ts';
import { declaredInputs } from '../../batches/find-deployment.ts';
import { LocalFiles } from '../../batches/files/local-files.ts';
import type { Config } from '../../host/settings/config.ts';
import { resultAttempt, undelivered, type RowRecord } from '../../results/row-record.ts';
import type { CellKind } from '../../sheet/parse-cell.ts';
import type { CommandOptions } from '../../temporal/batch-control.ts';
import { userHere } from '../../temporal/user-here.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { signalPass } from '../start/start-or-attach.ts';
import type { FoundBatch } from './found-batch.ts';
import { correctionOf, NearestName, problem } from '../../errors/error.ts';
import { readBatchSheet, sheetRows } from '../../sheet/placed-rows.ts';
import { changeFrom, type InputChange } from '../../sheet/input-change.ts';
import { layoutOf } from '../../store/batch-file.ts';

/** A row is sent again if it matches every field. */
export type RetryFilter = {
  /** (default: `failed` and `timed-out`) */
  readonly outcome?: readonly Outcome[];
  /** Row numbers, from 1; both ends of a range are included. */
  readonly rows?: readonly (number | { readonly from: number; readonly to: number })[];
  readonly keys?: readonly string[];
  /** How the last run of the row failed. */
  readonly failure?: readonly FailureKind[];
  /** Send the rows on this GPU. */
  readonly gpu?: Gpu;
  /** Only rows whose runs were paid for although their files were not delivered. Fetches those files and buys nothing. */
  readonly fetch?: boolean;
  /** Buys a new run where only the files of a run are missing, instead of fetching them again. */
  readonly buyAgain?: boolean;
  /** The reason, recorded in the events of the batch. */
  readonly reason?: string;
};

const USUAL: readonly Outcome[] = ['failed', 'timed-out'];

export function passParams(filter: RetryFilter, answers: Answers, change?: InputChange): PassParams {
  const { outcome = USUAL, rows, keys, failure, gpu, reason, buyAgain = false, fetch = false } = filter;
  const isWanted = (record: RowRecord): boolean =>
    (!fetch || undelivered(record) !== undefined) &&
    outcome.includes(record.outcome) &&
    (rows === undefined || rows.some((range) => isIn(range, record.row))) &&
    (keys === undefined || keys.includes(record.key)) &&
    (failure === undefined || failure.includes(failureOf(record)));
  return definedOnly({ isWanted, answers, by: userHere(), buysAgain: buyAgain, gpu, reason, change });
}

const isIn = (range: NonNullable<RetryFilter['rows']>[number], row: number): boolean =>
  typeof range === 'number' ? row === range : row >= range.from && row <= range.to;

const failureOf = (record: RowRecord): FailureKind =>
  record.outcome === 'timed-out' ? 'timeout' : (resultAttempt(record)?.failure ?? 'unknown');

export type RetryAsked = {
  readonly filter: RetryFilter;
  /** Changed inputs, written as in cells. */
  readonly set?: Readonly<Record<string, string>> | undefined;
  readonly answers: Answers;
};

/** Throws E505 and E557 for unknown rows, E602 for unknown inputs. */
export async function proposeRetry(
  servers: Servers,
  batchFolder: FoundBatch,
  { filter, set, answers }: RetryAsked,
): Promise<RowsAgain> {
  refuseBuying(filter, set);
  await servers.refuseElsewhere(batchFolder);
  await refuseUnknownRows(batchFolder, filter);
  const reach = async () => {
    if (!servers.isCluster) return [];
    const { batches } = await servers.open(false);
    return batches.withContent(batchFolder.file.content);
  };
  const params = { ...passParams(filter, answers), servers: reach };
  if (set === undefined) return RowsAgain.of(batchFolder, params, servers.config);
  // Only the service knows the input types, and the local service runs with the servers.
  await servers.forRehearsal(batchFolder);
  const { sheet, service, deadlineAt } = batchFolder.file;
  const { folder = process.cwd() } = sheet.files ?? {};
  const { config, onUploading } = servers.around(service);
  const here = process.cwd();
  const beside = isOwnBatch(config, batchFolder.file)
    ? { folders: [here, folder] }
    : { folders: [here], claimed: [folder] };
  const files = new LocalFiles({ config, service, beside, deadlineAt });
  const changed = () => inputChangeOf(config, batchFolder, set, files);
  const upload = async () => ((await files.upload(onUploading)) ? changed() : undefined);
  try {
    return await RowsAgain.of(batchFolder, { ...params, change: await changed(), upload, files }, config);
  } catch (error) {
    files[Symbol.dispose]();
    throw error;
  }
}

/** Throws E602 for options that would buy runs although `fetch` only downloads files. */
function refuseBuying({ fetch = false, buyAgain = false, gpu }: RetryFilter, set: RetryAsked['set']): void {
  const buying = [buyAgain && 'buyAgain', gpu !== undefined && 'gpu', set !== undefined && 'set'];
  const rival = buying.find((option) => option !== false);
  if (!fetch || rival === undefined) return;
  throw problem('E602', {
    what: `fetch and ${rival} exclude each other: fetch buys no run`,
    hint: 'leave one of them out',
  });
}

/** Adds the rows and signals the batch. Without rows, only starts the batch or attaches to it. */
export async function sendAgain(
  servers: Servers,
  batchFolder: FoundBatch,
  proposal: RowsAgain,
  policy: Policy,
  options: CommandOptions,
): Promise<{ readonly session: Session; readonly pass: Candidates | undefined }> {
  // Retried rows go into no other batch.
  const pass = (await settle(proposal, policy)) as Candidates | undefined;
  const session = await servers.for(batchFolder);
  await signalPass(session, batchFolder, pass?.pass, options);
  return { session, pass };
}

/** Parses the changed inputs by the types of the deployment. Throws E602. */
async function inputChangeOf(
  config: Config,
  { file }: FoundBatch,
  set: Readonly<Record<string, string>>,
  files: LocalFiles,
) {
  const { inputs } = file.sheet;
  const declared = await declaredInputs(config, file);
  const inputTypes = declared && withSheetNames(declared, inputs);
  const kinds = Object.fromEntries(inputs.map(({ input, kind }) => [input, kind as CellKind]));
  const { types } = file.sheet.options;
  return changeFrom(set, inputTypes ? types : { ...kinds, ...types }, inputTypes, files, inputs);
}

type NamedRows = {
  readonly rows?: readonly (number | { readonly from: number; readonly to: number })[];
  readonly keys?: readonly string[];
};

/** Throws E505 and E557. */
export async function refuseUnknownRows(
  { store, file, batch }: Pick<FoundBatch, 'store' | 'file' | 'batch'>,
  { rows: wanted = [], keys = [] }: NamedRows,
): Promise<void> {
  const sheet = await readBatchSheet(store, file);
  const wrong = wanted
    .map((range) => (typeof range === 'number' ? range : range.from))
    .find((from) => from > sheet.rows);
  if (wrong !== undefined) throw problem('E505', { batch, row: wrong, rows: sheet.rows });
  const rows = () => sheetRows(layoutOf(store, file), sheet, 1, sheet.rows);
  const unknown = new Set(keys);
  if (unknown.size > 0) for await (const { row } of rows()) unknown.delete(row.key);
  const [first] = unknown;
  if (first === undefined) return;
  const nearest = new NearestName(first);
  for await (const { row } of rows()) nearest.add(row.key);
  throw problem(
    'E557',
    { batch, keys: [...unknown], near: nearest.near },
    { correction: correctionOf(first, nearest.near) },
  );
}
