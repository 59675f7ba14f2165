// Exports a batch as a file, which appears once complete. It replaces another file only with `replace`, or at the default place.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { list, problem } from '../../errors/error.ts';
import { throwFault } from '../../errors/file-fault.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { isS3Address } from '../../host/s3-address.ts';
import { writeExport, type ExportParams, type WrittenExport } from '../../results/export/export-batch.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../options/choices.ts';
import { undefinedIfAbsent, type Draft } from '../../store/store.ts';
import { openStore } from '../../store/open-store.ts';
import type { Abortable } from '../abortable.ts';
import type { FoundBatch } from './found-batch.ts';

export type ExportOptions = Abortable & {
  /** (default: as the extension of `file` says, otherwise `xlsx`) */
  readonly as?: ExportFormat;
  /** (default: in the folder of the batch, where the links of a workbook lead to its files; of a batch in S3: in the working folder) */
  readonly file?: string | URL;
  /** Replace the file if it exists (default: false); the default file in the folder of a batch is always replaced. */
  readonly replace?: boolean;
};

/** `notes`: what the file leaves out. */
export type Exported = WrittenExport & { readonly file: URL };

/** Throws E602 for a file that an export must not replace. */
export async function exportBatch(batchFolder: FoundBatch, options: ExportOptions = {}): Promise<Exported> {
  const as = exportFormat(options);
  const path = await targetOf(batchFolder, as, options);
  const draft = await openStore(dirname(path)).draft(basename(path), 'view').catch(throwFault);
  try {
    const written = await exportTo(batchFolder, as, draft, dirname(path));
    await draft.commit();
    return { ...written, file: pathToFileURL(path) };
  } finally {
    await draft.discard();
  }
}

/** Writes the export. `from`: the folder in which the file will lie. */
export const exportTo = (
  batchFolder: FoundBatch,
  as: ExportFormat,
  to: Pick<Draft, 'write'>,
  from: string = batchFolder.folder,
): Promise<WrittenExport> => writeExport(batchFolder, { as, ...linksOf(batchFolder, from) }, to);

/** Lifetime of workbook links to files in S3: the longest that S3 allows. */
const LINKS_DAYS = 7;

/** Builds the links of an export in `from` to the files of the batch. */
function linksOf({ store, folder }: FoundBatch, from: string): Pick<ExportParams, 'linkTo' | 'linksDays'> {
  const { link } = store;
  if (link === undefined) return { linkTo: (path) => linkFrom(resolve(from), join(folder, path)) };
  return { linksDays: LINKS_DAYS, linkTo: (path) => link(path, LINKS_DAYS * DAY_MS) };
}

const DAY_MS = 86_400_000;

/** Throws E602 for an unknown format. */
export function exportFormat({ as, file }: ExportOptions): ExportFormat {
  const extension = file === undefined ? '' : extname(pathOf(file)).slice(1).toLowerCase();
  const implied = EXPORT_FORMATS.find((format) => format === extension) ?? 'xlsx';
  const format = as ?? implied;
  if (!EXPORT_FORMATS.includes(format))
    throw problem('E602', { what: `there is no export as ${format as string}`, hint: list(EXPORT_FORMATS) });
  return format;
}

const pathOf = (file: string | URL): string => (typeof file === 'string' ? file : fileURLToPath(file));

/** A relative link, so that the whole folder stays movable. */
export function linkFrom(folder: string, path: string): string {
  const to = relative(folder, resolve(path));
  if (isAbsolute(to)) return pathToFileURL(to).href;
  return to.split(sep).map(encodeURIComponent).join('/');
}

async function targetOf(
  { batch, store, file }: FoundBatch,
  as: ExportFormat,
  { file: wanted, replace = false }: ExportOptions,
): Promise<string> {
  const folder = store.localPath?.('');
  const own = join(folder ?? resolve(), `${batch}.${as}`);
  if (wanted !== undefined && isS3Address(String(wanted)))
    throw problem('E602', {
      what: 'an export is written to a file of this machine',
      hint: `to send it to S3: runsheet export ${batch} --as ${as} --file - | aws s3 cp - ${shellWord(String(wanted))}`,
    });
  const path = wanted === undefined ? own : resolve(pathOf(wanted));
  if (folder !== undefined && isOfBatch(folder, path))
    throw problem('E602', {
      what: `${path} belongs to the batch`,
      hint: `choose another --file, or none: ${own}`,
    });
  const existing = await stat(path).catch(undefinedIfAbsent);
  if (existing?.isDirectory())
    throw problem('E602', { what: `${path} is a folder`, hint: `--file ${join(path, basename(own))}` });
  if (existing?.size === file.sheet.bytes && (await sha256Of(path)) === file.sheet.sha256)
    throw problem('E602', { what: `${path} is the sheet of the batch`, hint: 'choose another --file' });
  // The file may be any file of the user, even the sheet with newer rows.
  if (existing !== undefined && !replace && (folder === undefined || path !== own))
    throw problem('E602', { what: `${path} exists`, hint: 'choose another --file, or add --replace' });
  return path;
}

/** Whether a batch writes a file with this path. */
function isOfBatch(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  const isInside = !isAbsolute(inside) && inside.split(sep)[0] !== '..';
  return isInside && (inside.includes(sep) || BATCH_FILES.test(inside));
}

/** Files that a batch writes into its folder. */
const BATCH_FILES =
  /^(?:\.|$)|^(?:batch|summary|started|watched|results|failures|duplicates|events|report)\.(?:jsonl?|csv|html)$/i;

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
