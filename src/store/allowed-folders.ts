// Decides which folders the workers may use. Workers may read and write batch folders directly in RUNSHEET_OUT, and
// in every --out of an earlier command; `out` may be in S3. The state folder, which only its owner can write, keeps
// the list of earlier --out folders, so a batch also continues when a command without --out restarts the servers. The
// workers of a cluster may read sheets only below RUNSHEET_OUT and RUNSHEET_SHEETS, because everybody who may start a
// workflow there can name a sheet.

import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isBelow } from '../host/below.ts';
import { isS3Address, s3Address, s3PlaceOf } from '../host/s3-address.ts';
import { keepLine, keptLines } from '../host/kept-lines.ts';

type WorkPlace = { readonly home: string; readonly out: string };

const outsFile = (home: string): string => join(home, 'outs');

/** Allows the workers to use the batches in `out` from now on. */
export const allowOut = ({ home, out }: WorkPlace): void => keepLine(outsFile(home), out);

/** A batch folder may be a link: a user who can create a link here could create a batch here as well. */
export function isAllowed(folder: string, { home, out }: WorkPlace): boolean {
  const parent = parentOf(folder);
  return parent !== undefined && [out, ...keptOuts(home)].some((allowed) => realOf(allowed) === parent);
}

/** The places where a worker may read sheets. */
export type SheetPlaces = {
  readonly out: string;
  /** Paths, and addresses in S3. */
  readonly sheets: readonly string[];
};

/**
 * The path or the address in S3 under which the sheet is to be read, without links; undefined if it is outside all of
 * the places. A path where nothing exists stays as it is.
 */
export function allowedSheet(sheet: string, { out, sheets }: SheetPlaces): string | undefined {
  const real = realOf(sheet) ?? join(realOf(dirname(sheet)) ?? dirname(resolve(sheet)), basename(sheet));
  return [out, ...sheets].some((place) => isSheetBelow(real, realOf(place) ?? place)) ? real : undefined;
}

const isSheetBelow = (sheet: string, folder: string): boolean =>
  isS3Address(sheet) || isS3Address(folder) ? isBelowS3(sheet, folder) : isBelow(sheet, folder);

function isBelowS3(sheet: string, folder: string): boolean {
  const [own, parent] = [s3PlaceOf(sheet), s3PlaceOf(folder)];
  if (own === undefined || own.bucket !== parent?.bucket) return false;
  // The key of the object is taken from the address unchanged: another slash is part of the key.
  const key = sheet.slice(`s3://${own.bucket}/`.length);
  return parent.key === '' || key.startsWith(`${parent.key}/`);
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
