// Simulates workers of several releases: the current workflows with other numbers in src/batch/params.ts, and a behaviour that
// the next version introduces (it sends groups of one row).

import { readFileSync } from 'node:fs';
import { READS } from '../../src/batch/behaviour-version.ts';
import { workflowBundle, type WorkflowBundle } from '../../src/temporal/bundle.ts';

/** The version after the current one. */
export const NEXT = READS + 1;

export type Release = { readonly reads: number; readonly writes: number };

export const bundleOf = ({ reads, writes }: Release): Promise<WorkflowBundle> =>
  changedBundle([
    [/\bREADS=\d+/, `READS=${reads}`],
    [/\bWRITES=\d+/, `WRITES=${writes}`],
    [/takeAttempts\(state,Math\.min\(/, `takeAttempts(state,Math.min(state.version>=${NEXT}?1:`],
  ]);

export async function bundledCode(): Promise<string> {
  const bundle = await workflowBundle();
  return 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
}

/** The current workflows with other code in one place for each change. The bundle is changed, because making one takes seconds. */
export async function changedBundle(
  changes: readonly (readonly [from: RegExp, to: string])[],
): Promise<WorkflowBundle> {
  let code = await bundledCode();
  for (const [from, to] of changes) {
    if (code.split(from).length !== 2) throw new Error(`the bundle does not have ${from} once`);
    code = code.replace(from, to);
  }
  return { code };
}
