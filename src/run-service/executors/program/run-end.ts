// The end of a run, from the exit code, the answer and the files of its program.

import { errorMessage } from '../../../errors/error.ts';
import type { RunEnd } from '../backend.ts';
import { outputFaults } from './output-faults.ts';
import type { TryFolder } from './try-folder.ts';
import { wholeFiles } from './whole-files.ts';

const SIGNALS: Readonly<Record<number, string>> = {
  9: 'often: out of memory',
  11: 'it crashed',
  6: 'it aborted',
};

/** The end of a program in words. The shell reports a signal as 128 and its number. */
export function endText(code: number, last: string): string {
  const why = SIGNALS[code - 128];
  const text =
    code <= 128
      ? `the program exited with ${code}`
      : `the program was ended by signal ${code - 128}${why === undefined ? '' : ` (${why})`}`;
  return last === '' ? text : `${text}: ${last}`;
}

/** The command itself cannot be executed, which is no fault of the row. */
export const isBroken = (code: number): boolean => code === 126 || code === 127;

type Ended = { readonly last: string; readonly ranMs: number | undefined; readonly postponedMs: number };

/** The end of a run whose program exited with this code instead of an answer or files. */
export function endByCode(code: number, { last, ranMs, postponedMs }: Ended): RunEnd {
  if (code !== 75) return { status: 'failed', ranMs, reason: endText(code, last) };
  return {
    status: 'postponed',
    ranMs,
    afterMs: postponedMs,
    reason: `the program asks to be started again later${last === '' ? '' : `: ${last}`}`,
  };
}

/** The places where a program writes its files. */
const PLACE = 'the folder in which it is started ($RUNSHEET_OUTPUT)';
const STAYING_PLACE = 'the folder "dir" of its run';

/** The success of a run with the files that were complete at that moment, unless one of them is no result. */
export async function endByFiles(
  folder: TryFolder,
  atMs: number,
  { ranMs, stays }: { readonly ranMs: number | undefined; readonly stays: boolean },
): Promise<RunEnd> {
  try {
    const files = stays ? await wholeFiles(folder, atMs) : folder.files(atMs);
    const fault = await outputFaults(files, stays ? STAYING_PLACE : PLACE);
    if (fault !== undefined) return { status: 'failed', ranMs, reason: fault };
    const made = files.map(({ filename, path }) => ({ filename, path, subfolder: '', type: 'output' }));
    return { status: 'success', ranMs, made: [{ node: '', key: 'files', texts: [], files: made }] };
  } catch (error) {
    return { status: 'failed', ranMs, reason: errorMessage(error) };
  }
}
