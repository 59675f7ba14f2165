import { EXCEL, type SheetCapacity, type SheetLine } from './worksheet.ts';

/** Makes the links of a sheet and of its further sheets. An address for which a sheet has no room is not made, because in S3 each one is signed. */
export class SheetLinks {
  readonly #linkTo: (path: string) => string | Promise<string>;
  readonly #capacity: SheetCapacity;
  #lines = 0;
  #made = 0;

  constructor(linkTo: (path: string) => string | Promise<string>, capacity: SheetCapacity = EXCEL) {
    this.#linkTo = linkTo;
    this.#capacity = capacity;
  }

  /** Of the next line; `path`: the file to which the cell `at` leads. */
  async of(path: string | undefined, at: number): Promise<SheetLine['link']> {
    const { rows, links } = this.#capacity;
    // Each sheet begins with a header.
    if (this.#lines % (rows - 1) === 0) this.#made = 0;
    this.#lines += 1;
    if (path === undefined) return undefined;
    this.#made += 1;
    return { at, to: this.#made > links ? '' : await this.#linkTo(path) };
  }
}
