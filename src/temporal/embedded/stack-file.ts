// .runsheet/embedded.json: the one live embedded stack of a place, for whoever wants to join it, and for whoever has to
// clear away what a killed one left behind.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type StackRecord = {
  readonly pid: number;
  readonly startedAt: string;
  /** Where followers hold on, the word that lets them in, and the answer that shows them that it is this stack. */
  readonly control: { readonly port: number; readonly word: string; readonly answer: string };
  readonly temporal?: {
    readonly pid: number | undefined;
    readonly address: string;
    readonly namespace: string;
    readonly uiUrl: string;
  };
  readonly worker?: { readonly pid: number | undefined; readonly receiver: string | undefined };
  readonly service?: { readonly pid: number | undefined; readonly base: string | undefined };
};

const recordFile = (home: string): string => join(home, 'embedded.json');

/** undefined where no stack lives or was killed here. */
export function readRecord(home: string): StackRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(home), 'utf8')) as StackRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** undefined where no stack lives; one that was killed may have left its record. */
export function livingRecord(home: string): StackRecord | undefined {
  const record = readRecord(home);
  return record !== undefined && isAlive(record.pid) ? record : undefined;
}

/** A process of another user that has the number by now (EPERM) is not our stack. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** At once, so that two writings cannot mix. */
export function writeRecord(home: string, record: StackRecord): void {
  const beside = `${recordFile(home)}.${process.pid}`;
  try {
    writeFileSync(beside, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(beside, recordFile(home));
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

export const removeRecord = (home: string): void => rmSync(recordFile(home), { force: true });
