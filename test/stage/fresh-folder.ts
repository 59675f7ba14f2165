import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for the test that runs, or is about to run; it goes when the test ends. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
