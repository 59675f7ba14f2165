// Applies each mutant to a copy of the project and runs the test file that guards its rule, in a few copies concurrently.

import { MUTANTS } from './mutants.ts';
import { copyProject, type Copy } from './copy.ts';
import type { Mutant } from './mutant.ts';
import { runSuites, type Verdict } from './suites.ts';

export type MutantResult = { readonly mutant: Mutant; readonly verdict: Verdict; readonly seconds: number };

/** Returns the result of each mutant in order; `onResult` is called as soon as each is known. */
export async function killAll(
  mutants: readonly Mutant[],
  concurrency: number,
  onResult: (result: MutantResult) => void = () => undefined,
): Promise<readonly MutantResult[]> {
  const results: MutantResult[] = [];
  const entries = mutants.entries();
  const work = async (): Promise<void> => {
    const copy = copyProject();
    try {
      for (const [index, mutant] of entries) {
        const result = await kill(copy, mutant);
        results[index] = result;
        onResult(result);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

async function kill(copy: Copy, mutant: Mutant): Promise<MutantResult> {
  const startedMs = performance.now();
  const verdict = await copy.with(mutant, () => runSuites(copy.folder, [mutant.by]));
  return { mutant, verdict, seconds: (performance.now() - startedMs) / 1000 };
}

/** Runs the same test files in the unchanged project. */
export async function control(mutants: readonly Mutant[] = MUTANTS): Promise<Verdict> {
  const copy = copyProject();
  try {
    return await runSuites(copy.folder, [...new Set(mutants.map(({ by }) => by))]);
  } finally {
    copy.remove();
  }
}
