import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const made = (whenDone: (remove: () => void) => void): string => {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  whenDone(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A folder for the test that runs, or is about to run; it goes when the test ends. */
export const freshFolder = (): string => made(onTestFinished);

/** A folder for all tests of a file or of a `describe`, in which it is called. */
export const sharedFolder = (): string => made(afterAll);
