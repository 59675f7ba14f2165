// The sources of the inputs of a row: columns, and texts of options.

import type { InputType } from '../service-client/contract/deployment.ts';
import type { CellKind } from './parse-cell.ts';
import type { Template } from './templates.ts';

/** The source of one input: a column (by index), the same JSON text in every row, or a text with cells of the row. */
export type Feed = {
  readonly input: string;
  readonly kind: CellKind;
  /** Whether an option sets the kind. */
  readonly isGiven: boolean;
  readonly type: InputType | undefined;
  readonly from: ColumnSource | { readonly json: string } | { readonly template: Template };
};

/** `part`: the number of the value that is sent of each cell, which lists several. */
type ColumnSource = { readonly column: number; readonly part?: number };

export type DeclaredInputs = ReadonlyMap<string, InputType> | undefined;

/** The source of an input: a column (by its index) or the text of `--set`; `by` names it in messages. */
export type Giver = {
  readonly input: string;
  readonly by: string;
  readonly from: ColumnSource | { readonly set: string };
  /** True if an option names it; a column provides the input of its own name without an option. */
  readonly asked: boolean;
};

/** The default file of a workflow input that no server has; with another file, the input would not be required. */
export const absentFile = ({ required, default: file }: InputType): string | undefined =>
  required && typeof file === 'string' && file !== '' ? file : undefined;
