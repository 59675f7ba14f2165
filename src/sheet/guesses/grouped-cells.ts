// Recognizes the column of a merged group: its value stands in the first row of the group, and the cells below it are empty.

/** Groups whose values are compared, and the length of a value. */
const MAX_GROUPS = 10_000;
const MAX_VALUE = 200;

export class GroupedCells {
  readonly #values = new Set<string>();
  #isGrouped = true;
  #filled = 0;
  #empty = 0;

  /** Takes the cell of the next row. */
  take(cell: string): void {
    const text = cell.trim();
    if (text === '') {
      this.#empty += 1;
      this.#isGrouped &&= this.#filled > 0;
      return;
    }
    this.#filled += 1;
    // A value that comes again is a choice of each row, which some rows leave empty.
    this.#isGrouped &&= !this.#values.has(text) && this.#values.size < MAX_GROUPS && text.length <= MAX_VALUE;
    if (this.#isGrouped) this.#values.add(text);
  }

  /** Whether there are several groups, most with rows below the first. */
  get isGrouped(): boolean {
    return this.#isGrouped && this.#filled > 1 && this.#empty >= this.#filled;
  }
}

export function areGrouped(cells: Iterable<string>): boolean {
  const grouped = new GroupedCells();
  for (const cell of cells) grouped.take(cell);
  return grouped.isGrouped;
}
