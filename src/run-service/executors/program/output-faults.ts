// Checks the files of a program before its run counts as a success. They cannot get better by waiting, so a
// file that is cut off or empty fails the run.

import { createReadStream, openSync, readSync, closeSync, statSync } from 'node:fs';
import { outputCheck } from '../../../host/formats/output-check.ts';
import { kindFault } from '../../../host/formats/output-kind.ts';
import type { TryFile } from './try-folder.ts';

/** Larger files are judged by their first bytes. */
const READ_BYTES = 256 << 20;
const HEAD_BYTES = 1 << 16;

/** Why the outputs are none; undefined if they are whole. `place`: where a program writes its files. */
export async function outputFaults(files: readonly TryFile[], place: string): Promise<string | undefined> {
  if (files.length === 0) return `the program made no file: it writes its results into ${place}`;
  for (const { filename, path } of files) {
    const fault = await faultIn(path, filename);
    if (fault !== undefined) return `the file ${filename} is no result: ${fault}`;
  }
  return undefined;
}

async function faultIn(path: string, name: string): Promise<string | undefined> {
  if (statSync(path).size > READ_BYTES) return kindFault(headOf(path), { name });
  const check = outputCheck({ name });
  for await (const chunk of createReadStream(path)) check.add(chunk as Buffer);
  return check.fault();
}

function headOf(path: string): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}
