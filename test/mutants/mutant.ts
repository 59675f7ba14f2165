// A mutant is a bug that somebody might introduce one day: a small change of one file that costs money. Stryker makes those
// of src/batch; these are outside of it, where Stryker would take hours.

export type Mutant = {
  readonly id: string;
  /** What a user would lose by it. */
  readonly loses: string;
  /** The file that is changed, from the root of the project. */
  readonly file: string;
  /** A text that stands in the file exactly once. */
  readonly old: string;
  readonly new: string;
  /** The cheapest test file that must notice. */
  readonly by: `test/${string}.test.ts`;
};

/** The file with the bug in it. Throws if the text to change is not there, or there more than once. */
export function mutate(mutant: Pick<Mutant, 'id' | 'file' | 'old' | 'new'>, source: string): string {
  const parts = source.split(mutant.old);
  if (parts.length !== 2)
    throw new Error(`${mutant.id}: its text stands ${parts.length - 1} times in ${mutant.file}`);
  if (mutant.old === mutant.new) throw new Error(`${mutant.id} changes nothing`);
  return parts.join(mutant.new);
}
