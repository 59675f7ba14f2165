// Decides which folders the workers may use. Batch folders they may read and write: those directly in RUNSHEET_OUT, and in every
// --out of an earlier command; `out` may be in S3. The state folder, which only its owner can write, keeps the list of the latter,
// so a batch also continues when a command without --out restarts the servers. Sheets the workers of a cluster may read below
// RUNSHEET_OUT and RUNSHEET_SHEETS, because everybody who may start a workflow there can name one.

import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isBelow } from '../host/below.ts';
import { isS3Address, s3Address, s3PlaceOf } from '../host/s3-keys.ts';
import { keepLine, keptLines } from '../host/kept-lines.ts';

type Place = { readonly home: string; readonly out: string };

const outsFile = (home: string): string => join(home, 'outs');

/** Allows the workers to use the batches in `out` from now on. */
export const allowOut = ({ home, out }: Place): void => keepLine(outsFile(home), out);

/** A batch folder may be a link: a user who can create one here could create a batch here as well. */
export function isAllowed(folder: string, { home, out }: Place): boolean {
  const parent = parentOf(folder);
  return parent !== undefined && [out, ...keptOuts(home)].some((one) => realOf(one) === parent);
}

/** Where a worker reads a sheet. */
export type SheetPlaces = {
  readonly out: string;
  /** Paths, and addresses in S3. */
  readonly sheets: readonly string[];
};

/**
 * The path or the address in S3 under which the sheet is to be read, without links; undefined if it is not below one of the places.
 * A path where nothing is stays as it is.
 */
export function allowedSheet(sheet: string, { out, sheets }: SheetPlaces): string | undefined {
  const real = realOf(sheet) ?? join(realOf(dirname(sheet)) ?? dirname(resolve(sheet)), basename(sheet));
  return [out, ...sheets].some((one) => isSheetBelow(real, realOf(one) ?? one)) ? real : undefined;
}

const isSheetBelow = (sheet: string, folder: string): boolean =>
  isS3Address(sheet) || isS3Address(folder) ? isBelowS3(sheet, folder) : isBelow(sheet, folder);

function isBelowS3(sheet: string, folder: string): boolean {
  const [own, other] = [s3PlaceOf(sheet), s3PlaceOf(folder)];
  if (own === undefined || own.bucket !== other?.bucket) return false;
  // The object that is read has its key as the address has it: another slash is part of the key.
  const key = sheet.slice(`s3://${own.bucket}/`.length);
  return other.key === '' || key.startsWith(`${other.key}/`);
}

/** undefined for a folder that cannot hold a batch. */
function parentOf(folder: string): string | undefined {
  if (!isS3Address(folder)) return realOf(dirname(resolve(folder)));
  const place = s3PlaceOf(folder);
  if (place === undefined || place.key === '') return undefined;
  const parts = place.key.split('/');
  return s3Address({ ...place, key: parts.slice(0, -1).join('/') });
}

export const keptOuts = (home: string): readonly string[] => keptLines(outsFile(home));

/** undefined if there is no such folder. */
function realOf(path: string): string | undefined {
  if (isS3Address(path)) return path;
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
