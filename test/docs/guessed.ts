// A guess about a sheet, as the documents show it.

export type Guessed = {
  readonly found: string;
  readonly means: string;
  /** `said`: printed; `asked`: confirmed, or answered by its flag; `refused`: an error. */
  readonly does: 'said' | 'asked' | 'refused';
  /** A refusal's code; its flag is the one that helps. */
  readonly code?: string;
  readonly flag: string;
  /** The sheet; `file`: its name. */
  readonly sheet: string;
  readonly file?: string;
  /** Further whole-number inputs of the deployment. */
  readonly inputs?: readonly string[];
  /** Templates of the command. */
  readonly set?: Readonly<Record<string, string>>;
};
