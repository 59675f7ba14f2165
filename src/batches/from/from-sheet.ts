// Makes a sheet from the results of a batch that has ended. The rows are written first with the paths of their files. The hash of
// that sheet finds an earlier batch of the same request. The sheet that is laid out has a mark for each file; once the files are
// uploaded, their addresses replace the marks in it and in its pages.
//
//   .incoming-…/from.jsonl           the rows, with files
//   .incoming-…/marked/sheet.jsonl   the sheet of the batch

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pMapIterable } from 'p-map';
import { parseExactly } from '../../host/formats/exact-json.ts';
import { OUTCOMES } from '../../batch/outcome.ts';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { beforeUpload, marked } from '../../service-client/contract/file-inputs.ts';
import { readSummary, summarizedPass } from '../../results/summary.ts';
import { inputNamed } from '../../sheet/named-inputs.ts';
import { parseWhere } from '../../sheet/where/where.ts';
import type { SheetPlaces } from '../../store/allowed-folders.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import { linesOf } from '../../store/pieces.ts';
import { openStore } from '../../store/open-store.ts';
import type { BatchSpec } from '../batch-spec.ts';
import type { SheetCopy } from '../copy-sheet.ts';
import type { Preparing } from '../incoming-folder.ts';
import type { CreateParams } from '../draft-stages.ts';
import type { IsGone } from '../../host/http/gone-files.ts';
import { FileAddresses, openUploads, UPLOADS_IN_FLIGHT, type UploadMemory } from '../files/file-addresses.ts';
import { inOneOrder } from '../reuse/reuse.ts';
import { Picks, type PicksParams } from './picks.ts';
import {
  whereColumns,
  type FileCell,
  type WantedFile,
  resultIn,
  sourceColumns,
  type SourceColumns,
} from './source-rows.ts';
import { SheetWriter } from './sheet-writer.ts';
import { writeRows, type WrittenSheet } from './write-rows.ts';
import type { Deployment } from '../../service-client/contract/deployment.ts';
import type { RememberingService } from '../../service-client/remembering.ts';

export type FromRequest = Preparing & {
  readonly batchFolder: BatchFolder;
  readonly options: BatchSpec['options'];
  readonly where?: string;
  readonly picks?: Omit<PicksParams, 'mayRepeat' | 'reading'>;
  readonly each: 'row' | 'file';
  /** The folders from which a worker may read files that rows name (default: all). */
  readonly within?: SheetPlaces;
  /** Whether the options come from a job file. */
  readonly isJobs?: boolean;
  /** Whether this user made the batch. */
  readonly isOwn?: boolean;
};

export type FromSheet = Pick<WrittenSheet, 'rows' | 'written' | 'withoutFile'> & {
  readonly batchFolder: BatchFolder;
  readonly copy: SheetCopy;
  readonly columns: SourceColumns;
  readonly from: NonNullable<BatchFile['from']>;
  readonly picked: number | undefined;
  readonly where: string;
  readonly isAddressed: boolean;
};

const USUAL_WHERE = 'outcome = succeeded';

/** Writes the rows into `folder`. Throws E551 if the batch has not ended, and E550 to E556 for the choice of rows. */
export async function readFromSheet(request: FromRequest, folder: string): Promise<FromSheet> {
  const { batchFolder } = request;
  const summary = await readSummary(batchFolder.store);
  if (summary === undefined) throw problem('E551', { batch: batchFolder.batch });
  const { delimiter, encoding, keyColumn } = request.options;
  const picks =
    request.picks &&
    (await Picks.read({
      ...request.picks,
      mayRepeat: keyColumn !== undefined,
      reading: { ...(delimiter && { delimiter }), ...(encoding && { encoding }) },
    }));
  const columns = sourceColumns(batchFolder.file, picks?.columns);
  const where = whereOf(request, columns);
  const addressed = addressedBy(columns, request.options);
  const pass = (await summarizedPass(batchFolder.store)) ?? 1;
  const { each, options } = request;
  const params = { batchFolder, columns, where, each, addressed, picks, limit: options.limit };
  const { sha256, bytes, ...counts } = await writeRows(openStore(folder), ROWS, params);
  if (counts.written === 0) throw noRow(request, summary);
  const beside = besideOf(request);
  const requestHash = createHash('sha256').update(
    JSON.stringify([sha256, inOneOrder({ ...options, format: 'jsonl' })]),
  );
  return {
    ...counts,
    batchFolder,
    columns,
    copy: {
      name: `from-${batchFolder.batch}.jsonl`,
      folder,
      file: ROWS,
      format: 'jsonl',
      sha256,
      bytes,
      ...beside,
    },
    from: { batch: batchFolder.batch, pass, request: requestHash.digest('hex') },
    picked: picks?.rows,
    where: request.where ?? USUAL_WHERE,
    isAddressed: addressed.size > 0,
  };
}

/** Cells name files from the folder of the batch's sheet, and none if that sheet was downloaded. Picks may name files from their own folder. */
function besideOf(request: FromRequest): Pick<SheetCopy, 'beside'> {
  const { batchFolder, picks, within, isJobs = false, isOwn = false } = request;
  const { files } = batchFolder.file.sheet;
  if (files === undefined) return {};
  const ofPicks = picks && (picks.folder ?? dirname(resolve(picks.path)));
  const pickFolders = ofPicks === undefined ? [] : [ofPicks];
  const folders = isOwn
    ? { folders: [files.folder, ...pickFolders] }
    : { folders: pickFolders, claimed: [files.folder] };
  return { beside: { ...folders, ...(within && { within }), ...(isJobs && { asksAll: true }) } };
}

const ROWS = 'from.jsonl';
const SHEET = 'sheet.jsonl';

/** The default condition means the outcome of the run, even if the sheet has a column called outcome. */
function whereOf({ where }: FromRequest, columns: SourceColumns) {
  const { results } = columns;
  return parseWhere(where ?? `'${results[2]}' = succeeded`, whereColumns(columns));
}

function addressedBy(columns: SourceColumns, { map }: BatchSpec['options']) {
  const used = Object.values(map);
  return new Set([
    ...(used.includes(columns.output) ? ['output' as const] : []),
    ...(used.includes(resultIn(columns, 'outputs')) ? ['outputs' as const] : []),
  ]);
}

const noRow = (
  { batchFolder, where = USUAL_WHERE, picks }: FromRequest,
  { rows, outcomes }: { readonly rows: number; readonly outcomes: Readonly<Record<string, number>> },
) =>
  problem('E553', {
    batch: batchFolder.batch,
    where: `${where}${picks === undefined ? '' : ' among the picks'}`,
    rows,
    outcomes: OUTCOMES.flatMap((outcome) =>
      outcomes[outcome] ? [`${outcomes[outcome]} ${outcome}`] : [],
    ).join(', '),
  });

/** The sheet with its files as inputs. Each file has a mark instead of an address until {@link upload} uploads it. */
export class SheetOfFiles implements Disposable {
  readonly #sheet: FromSheet;
  readonly #addresses: FileAddresses<WantedFile> | undefined;
  /** The options and the copy that can be laid out. */
  readonly params: Pick<CreateParams, 'options' | 'from' | 'copy'>;

  private constructor(
    sheet: FromSheet,
    params: SheetOfFiles['params'],
    addresses?: FileAddresses<WantedFile>,
  ) {
    [this.#sheet, this.params, this.#addresses] = [sheet, params, addresses];
  }

  static async of(config: Config, sheet: FromSheet, params: CreateParams): Promise<SheetOfFiles> {
    const { batchFolder, columns, copy, from } = sheet;
    const options = fromOptions(params.options, columns, batchFolder.file, params.deployment);
    if (!sheet.isAddressed) return new SheetOfFiles(sheet, { options, from, copy });
    const { deadlineAt } = params.settings;
    const addresses = outputAddresses({ batchFolder, ...openUploads(config, params.service), deadlineAt });
    const shown = await rewritten(sheet, join(copy.folder, MARKED), ({ path, sha256 }) =>
      Promise.resolve(beforeUpload(path, sha256)),
    );
    return new SheetOfFiles(sheet, { options, from, copy: shown }, addresses);
  }

  /** Uploads the files, and writes their addresses into the copy, which it returns. Throws E504, E554 and E555. */
  async upload(): Promise<{
    readonly copy: SheetCopy;
    readonly uploaded: number;
    readonly endsAt: number | undefined;
  }> {
    const addresses = this.#addresses as FileAddresses<WantedFile>;
    const copy = await rewritten(this.#sheet, this.params.copy.folder, async (file) =>
      marked(await addresses.of(file), file.sha256),
    );
    return { copy, uploaded: addresses.uploaded, endsAt: addresses.endsAt };
  }

  /** The address of a file that {@link upload} has uploaded. */
  addressOf(sha256: string): string | undefined {
    return this.#addresses?.found(sha256);
  }

  [Symbol.dispose](): void {
    this.#addresses?.[Symbol.dispose]();
  }
}

/** The folder of the sheet that is laid out. */
const MARKED = 'marked';

/** Writes the sheet into the folder, with what `addressOf` gives for each file. */
async function rewritten(
  { copy, columns }: FromSheet,
  folder: string,
  addressOf: (file: WantedFile) => Promise<string>,
): Promise<SheetCopy> {
  await mkdir(folder, { recursive: true });
  const sheet = new SheetWriter(openStore(folder), SHEET);
  const withAll = (line: string) => withAddresses(line, columns, addressOf);
  const lines = linesOf(openStore(copy.folder), copy.file);
  try {
    for await (const values of pMapIterable(lines, withAll, { concurrency: UPLOADS_IN_FLIGHT }))
      await sheet.add(columns.all, values);
    const { sha256, bytes } = await sheet.end();
    return { ...copy, folder, file: SHEET, sha256, bytes };
  } finally {
    await sheet.discard();
  }
}

async function withAddresses(
  line: string,
  columns: SourceColumns,
  addressOf: (file: WantedFile) => Promise<string>,
): Promise<readonly unknown[]> {
  const row = parseExactly(line) as Record<string, unknown>;
  for (const name of [columns.output, resultIn(columns, 'outputs')]) {
    const value = row[name] as FileCell | readonly FileCell[] | string | null;
    if (value === null || typeof value === 'string') continue;
    row[name] =
      'file' in value
        ? await addressOf(value.file)
        : await Promise.all(value.map(({ file }) => addressOf(file)));
  }
  return columns.all.map((name) => row[name]);
}

/** The options for reading a sheet made from a batch. A column that nobody mapped is an input only if the deployment has it. */
type Options = BatchSpec['options'];

/** The column that the page adds to the picks; every other column of the picks has to be an input. */
const STARS = 'stars';

/** The given options, with a column of keys, and dropping each column that is no input. */
function fromOptions(
  options: Options,
  columns: SourceColumns,
  source: Pick<BatchFile, 'sheet'>,
  { inputTypes }: Pick<Deployment, 'inputTypes'>,
): Options {
  // The picks are read and the rows are counted, so their options no longer apply.
  const { delimiter: _delimiter, encoding: _encoding, limit: _limit, ...kept } = options;
  const mapped = new Set([...Object.values(kept.map), kept.gpuColumn]);
  const otherwise = new Set([...Object.keys(kept.map), ...Object.keys(kept.set)]);
  const hasGpu = kept.gpu !== undefined || kept.ladder !== undefined;
  const isIgnored = (name: string): boolean => {
    if (mapped.has(name)) return false;
    const own = inputTypes && inputNamed(inputTypes, name);
    if (otherwise.has(own?.name ?? name)) return true;
    if (own !== undefined) return false;
    if (name === 'gpu') return hasGpu;
    return inputTypes !== undefined || !source.sheet.inputs.some(({ input }) => input === name);
  };
  const carried = columns.carried.map(({ name }) => name).filter(isIgnored);
  const ofPage = columns.added.filter((name) => name === STARS && isIgnored(name));
  const own = mapped.has(columns.output) ? [] : [columns.output];
  const dropped = [...kept.drop, ...carried, ...ofPage, ...own];
  return { ...kept, keyColumn: kept.keyColumn ?? resultIn(columns, 'key'), drop: [...new Set(dropped)] };
}

/** How to find addresses for the files of a batch: by uploading them, or at the service that made them if it takes no uploads. */
type OutputParams = {
  readonly batchFolder: BatchFolder;
  readonly service: Pick<RememberingService, 'sendFile' | 'getRun'>;
  readonly memory: UploadMemory;
  readonly isGone: IsGone;
  readonly deadlineAt: number | undefined;
};

/** The addresses throw E504 for a file that has changed, and E555 for a file without an address. */
export function outputAddresses({ batchFolder, ...params }: OutputParams): FileAddresses<WantedFile> {
  const { store } = batchFolder;
  return new FileAddresses({
    ...params,
    open: ({ path }) => store.open(path) as AsyncIterable<Uint8Array>,
    changed: ({ path }, gone) =>
      gone === undefined
        ? problem('E504', { what: `${store.location}/${path} is not the file that its run made` })
        : problem('E504', { what: `${store.location} has no ${path} any more` }, { cause: gone }),
    atService: (file) => atService(batchFolder, params.service, file),
  });
}

async function atService(
  { batch }: BatchFolder,
  service: Pick<RememberingService, 'getRun'>,
  { path, run, nth }: WantedFile,
): Promise<string> {
  const file = `the file ${path} of batch ${batch}`;
  const own = 'the run service takes no files';
  if (run === '')
    throw problem('E555', { file, why: `${own}, and another batch bought the run that made it` });
  const outputs = (await service.getRun(run))?.outputs.flatMap(({ files }) => files);
  const address = outputs?.[nth - 1]?.url;
  if (address === undefined)
    throw problem('E555', { file, why: `${own}, and no longer shows the run ${run} that made it` });
  return address;
}
