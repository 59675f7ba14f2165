// Simulates workers of several releases: the current workflows with other numbers in src/batch/version.ts, and a behaviour that
// the next version introduces (it sends groups of one row).

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READS } from '../../src/batch/version.ts';
import { makeBundle, type WorkflowBundle } from '../../src/temporal/bundle.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The version after the current one. */
export const NEXT = READS + 1;

export type Release = { readonly reads: number; readonly writes: number };

export const bundleOf = ({ reads, writes }: Release): Promise<WorkflowBundle> =>
  changedBundle([
    ['src/batch/version.ts', /READS = \d+/, `READS = ${reads}`],
    ['src/batch/version.ts', /WRITES = \d+/, `WRITES = ${writes}`],
    [
      'src/batch/decisions/send.ts',
      /Math\.min\(GROUP_ATTEMPTS,/,
      `Math.min(state.version >= ${NEXT} ? 1 : GROUP_ATTEMPTS,`,
    ],
  ]);

/** The current workflows with changes of their sources: a file, what is there, and what takes its place. */
export async function changedBundle(
  changes: readonly (readonly [file: string, from: RegExp, to: string])[],
): Promise<WorkflowBundle> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-release-'));
  try {
    for (const name of ['workflows', 'src/batch', 'src/options'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const [file, from, to] of changes) change(join(folder, file), from, to);
    return { code: await makeBundle(join(folder, 'workflows')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function change(file: string, from: RegExp, to: string): void {
  const text = readFileSync(file, 'utf8');
  if (!from.test(text)) throw new Error(`${file} has no ${from}`);
  writeFileSync(file, text.replace(from, to));
}
