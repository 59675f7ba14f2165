// Breaks the project once for each mutant and runs the test file that guards its rule. A few copies work side by side.

import { MUTANTS } from './mutants.ts';
import { copyProject, type Copy } from './copy.ts';
import type { Mutant } from './mutant.ts';
import { runSuites, type Verdict } from './suites.ts';

export type PlannedResult = { readonly mutant: Mutant; readonly verdict: Verdict; readonly seconds: number };

/** What became of each mutant, in their order; `tell` hears of each as it is known. */
export async function killAll(
  mutants: readonly Mutant[],
  atOnce: number,
  tell: (fate: PlannedResult) => void = () => undefined,
): Promise<readonly PlannedResult[]> {
  const fates: PlannedResult[] = [];
  const entries = mutants.entries();
  const work = async (): Promise<void> => {
    const copy = copyProject();
    try {
      for (const [index, mutant] of entries) {
        const fate = await kill(copy, mutant);
        fates[index] = fate;
        tell(fate);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return fates;
}

async function kill(copy: Copy, mutant: Mutant): Promise<PlannedResult> {
  const startedMs = performance.now();
  const verdict = await copy.with(mutant, () => runSuites(copy.folder, [mutant.by]));
  return { mutant, verdict, seconds: (performance.now() - startedMs) / 1000 };
}

/** What the same test files say of the project as it is. */
export async function control(mutants: readonly Mutant[] = MUTANTS): Promise<Verdict> {
  const copy = copyProject();
  try {
    return await runSuites(copy.folder, [...new Set(mutants.map(({ by }) => by))]);
  } finally {
    copy.remove();
  }
}
