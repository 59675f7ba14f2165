// Reads and writes .runsheet/embedded.json, which describes the running stack of a state folder. Commands use it to join the
// stack, and to clean up after a killed one.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { textIfThere } from '../../errors/file-fault.ts';
import { jsonIn } from '../../errors/outside-text.ts';
import { replaceFile } from '../../host/replace-file.ts';

export type StackRecord = {
  readonly pid: number;
  readonly startedAt: string;
  /** The version of runsheet, and the newest version of batches that its worker can run; absent before both were recorded. */
  readonly version?: string;
  readonly reads?: number;
  /** The processes of the commands that keep the stack. */
  readonly followers?: readonly number[];
  /** The control port, the word that authenticates followers, and the answer that authenticates the stack. */
  readonly control: { readonly port: number; readonly word: string; readonly answer: string };
  readonly temporal?: {
    readonly pid: number | undefined;
    readonly address: string;
    readonly namespace: string;
  };
  readonly worker?: { readonly pid: number | undefined; readonly receiver: string | undefined };
  readonly service?: { readonly pid: number | undefined; readonly base: string | undefined };
};

const recordFile = (home: string): string => join(home, 'embedded.json');

/** undefined if no stack runs or was killed here. A power cut may leave the file empty. */
export const readRecord = (home: string): StackRecord | undefined =>
  jsonIn(textIfThere(recordFile(home)) ?? '') as StackRecord | undefined;

/** undefined if no stack runs; a killed one may have left its record. */
export function livingRecord(home: string): StackRecord | undefined {
  const record = readRecord(home);
  return record !== undefined && isAlive(record.pid) ? record : undefined;
}

/** If another user's process has the pid (EPERM), it is not our stack. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const writeRecord = (home: string, record: StackRecord): void =>
  replaceFile(recordFile(home), `${JSON.stringify(record, undefined, 2)}\n`);

export const removeRecord = (home: string): void => rmSync(recordFile(home), { force: true });
