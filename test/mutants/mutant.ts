// A mutant is a bug that somebody might put into the product one day: a rule that is broken by a small change of one file.
// The tests that guard the rule must notice it. Each is data, so that the list reads as what the tests are for.

export type Mutant = {
  readonly id: string;
  /** The rule that it breaks, by its number; D for a decision of the design, F for a fault of docs/faults.md. */
  readonly rule: `${'R' | 'D' | 'F'}${number}`;
  /** What a user would lose by it. */
  readonly loses: string;
  /** The file that is changed, from the root of the project. */
  readonly file: string;
  /** A text that stands in the file exactly once. */
  readonly old: string;
  readonly new: string;
  /** The cheapest suites that must notice: files of tests, or the simulation. */
  readonly by: readonly Suite[];
};

export type Suite = 'simulation' | `test/${string}.test.ts`;

/** The file with the bug in it. Throws where the text to change is not there, or there more than once. */
export function mutate(mutant: Pick<Mutant, 'id' | 'file' | 'old' | 'new'>, source: string): string {
  const parts = source.split(mutant.old);
  if (parts.length !== 2)
    throw new Error(`${mutant.id}: its text stands ${parts.length - 1} times in ${mutant.file}`);
  if (mutant.old === mutant.new) throw new Error(`${mutant.id} changes nothing`);
  return parts.join(mutant.new);
}
