// Copies the sheet into the folder of the batches and hashes it. The batch is laid out from the copy, so the hash is right
// even if the file changes meanwhile or comes from a pipe.

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { problem, RunsheetError } from '../errors/error.ts';
import { openDownloads } from '../host/http/download.ts';
import { withCallSignal } from '../host/call-signal.ts';
import { outFault, withIncoming, type Preparing } from './incoming-folder.ts';
import { sheetAt } from './sheet-address.ts';
import { isAddress } from '../errors/redact.ts';
import { isWorkbook, type SheetFormat } from '../sheet/formats.ts';
import { formatOf } from '../sheet/recognized-format.ts';
import { refuseNoSheet, sheetFault } from '../sheet/sheet-source.ts';
import type { UnpackParams } from '../sheet/xlsx/unpack-sheet.ts';
import { refuseForeignText } from '../sheet/trade/foreign-text.ts';
import type { SheetPlaces } from '../store/allowed-folders.ts';

export type SheetCopy = {
  /** The sheet's name as the user typed it. */
  readonly name: string;
  readonly folder: string;
  /** The file in `folder` that the batch is read from: `sheet.csv`, or `sheet.cells` unpacked from a workbook. */
  readonly file: string;
  readonly format: SheetFormat;
  readonly sha256: string;
  readonly bytes: number;
  /** Where the rows may name files; absent for a downloaded sheet. */
  readonly beside?: FilePlace;
};

/** Paths begin in the first folder that has the file. `within`: only what a worker may read. */
export type FilePlace = {
  readonly folders: readonly string[];
  /** Further ones, which a batch.json from a stranger names: the user is asked before a file there is read. */
  readonly claimed?: readonly string[];
  readonly within?: SheetPlaces;
  /** The user is asked about a file in --set and --grid as about one in a row: a job file has written them. */
  readonly asksAll?: boolean;
};

export type CopyParams = Preparing & {
  readonly stdin: Readable;
  readonly name?: string;
  readonly format?: SheetFormat;
  readonly sheet?: string;
  /** Whether the rows cannot name files of this machine. */
  readonly isRemote?: boolean;
  /** The folders that a worker may read (default: all). */
  readonly within?: SheetPlaces;
  /** The job file that has written the options. Absolute; without a sheet, their paths count from it. */
  readonly job?: string | undefined;
};

/**
 * `path` is `-` for `stdin`, or an address. The copy is removed after `use`, unless it was moved. Throws E101, E106, E107 and E109 for the sheet, E606 and
 * E607 for the folder.
 */
export async function withCopy<T>(
  path: string,
  params: CopyParams,
  use: (copy: SheetCopy) => Promise<T>,
): Promise<T> {
  return withIncoming(params, async (folder) => use(await copySheet(path, params, folder)));
}

/** Copies a sheet whose copy was removed. Throws E107 if it has changed since it was shown, and E602 for a stream, which is read once. */
export async function copyAgain(
  before: SheetCopy,
  path: string,
  params: CopyParams,
  folder: string,
): Promise<SheetCopy> {
  if (path === '-')
    throw problem('E602', {
      what: `the copy of ${before.name} was removed while the command waited, and a stream cannot be read again`,
      hint: 'repeat the same command',
    });
  const copy = await copySheet(path, params, folder);
  if (copy.sha256 !== before.sha256) throw problem('E107', { name: before.name });
  return copy;
}

export async function copySheet(address: string, request: CopyParams, folder: string): Promise<SheetCopy> {
  const { path, ...params } = isAddress(address)
    ? addressed(address, request)
    : { path: address, ...request };
  const name = params.name ?? (path === '-' ? 'stdin' : basename(path));
  const { head, ...content } =
    path === '-' ? await copyStream(path, params.stdin, folder) : await copyFile(path, folder);
  if (params.format === undefined) refuseForeignText(name, head);
  const format = params.format ?? formatOf(name, head);
  const file = fileFor(name, format);
  await rename(join(folder, COPY), join(folder, file));
  const beside = besideOf(path, params);
  if (!isWorkbook(format)) return { name, folder, file, format, ...content, ...beside };
  await unpack(format, {
    from: join(folder, file),
    file: name,
    sheet: params.sheet,
    to: join(folder, CELLS),
  });
  return { name, folder, file: CELLS, format, ...content, ...beside };
}

/** Loads the reader of a format only when a sheet has it. */
async function unpack(format: SheetFormat, params: UnpackParams): Promise<void> {
  if (format === 'ods') return (await import('../sheet/ods/unpack-ods.ts')).unpackOds(params);
  return (await import('../sheet/xlsx/unpack-sheet.ts')).unpackSheet(params);
}

const fileFor = (name: string, format: SheetFormat): string =>
  COPY + (/^\.\w+$/.exec(extname(name).toLowerCase())?.[0] ?? `.${format}`);

/** Unpacks another sheet of the same workbook. */
export async function withOtherSheet(copy: SheetCopy, sheet: string): Promise<SheetCopy> {
  const [from, file] = [fileFor(copy.name, copy.format), `other.${CELLS}`];
  await unpack(copy.format, {
    from: join(copy.folder, from),
    file: copy.name,
    sheet,
    to: join(copy.folder, file),
  });
  return { ...copy, file };
}

/** Rows of a program and of stdin name files from the folder of the command. */
function besideOf(path: string, { isRemote, within, job }: CopyParams): Pick<SheetCopy, 'beside'> {
  if (isRemote) return {};
  const folder = path !== '-' ? dirname(resolve(path)) : job === undefined ? process.cwd() : dirname(job);
  const asksAll = job === undefined ? {} : { asksAll: true };
  return { beside: { folders: [folder], ...(within && { within }), ...asksAll } };
}

/** The user has named the host. */
function addressed(address: string, params: CopyParams): CopyParams & { readonly path: string } {
  const signal = withCallSignal(new AbortController().signal);
  return { ...params, ...sheetAt(address, { download: openDownloads(1), signal }) };
}

type Copied = { readonly head: Uint8Array; readonly sha256: string; readonly bytes: number };

/** Without this check, a file that is still being written would give a batch with half of its rows. */
async function copyFile(path: string, folder: string): Promise<Copied> {
  const file = await openSheet(path);
  try {
    const before = await file.stat();
    const copied = await copyStream(path, file.createReadStream({ autoClose: false }), folder);
    const after = await file.stat();
    const isSame = before.mtimeMs === after.mtimeMs && before.size === after.size;
    const name = basename(path);
    if (before.isFile() && !isSame) throw problem('E107', { name }, { place: { file: name } });
    return copied;
  } finally {
    await file.close();
  }
}

async function openSheet(path: string): Promise<FileHandle> {
  await refuseNoSheet(path);
  try {
    return await open(path);
  } catch (error) {
    throw await sheetFault(path, error);
  }
}

async function copyStream(path: string, source: Readable, folder: string): Promise<Copied> {
  const hash = createHash('sha256');
  let bytes = 0;
  let head: Uint8Array = new Uint8Array();
  const measured = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        if (bytes === 0) head = chunk;
        bytes += chunk.byteLength;
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      throw await sheetFault(path, error);
    }
  };
  try {
    await pipeline(measured, createWriteStream(join(folder, COPY)), {
      signal: withCallSignal(new AbortController().signal),
    });
  } catch (error) {
    throw error instanceof RunsheetError ? error : outFault(dirname(folder), error);
  }
  return { head, sha256: hash.digest('hex'), bytes };
}

const COPY = 'sheet';
const CELLS = 'sheet.cells';
