/** A place in the text of a sheet, both counted from 1. */
export type Spot = { readonly line: number; readonly column: number };
