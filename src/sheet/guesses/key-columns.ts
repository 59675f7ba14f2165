// Finds the columns that may name the rows: by their names, and by cells that are all different and have the form of names.

import { areIds, isRecorded } from './cell-forms.ts';
import { plainName } from './guess.ts';
import { wordsOf } from './input-names.ts';
import { isFile } from './sample.ts';

/** Names of columns that name rows, and others that mostly do. */
const KEYS = ['sku', 'id', 'key', 'article', 'name', 'filename'] as const;
const ALSO_KEYS = [
  /^handle$/,
  /[_\s-](?:id|sku|key)$/,
  /^(?:pic|picture|image|img|photo|file|output)[_\s-]?name$/,
] as const;

/** `isDeclared`: a column of another name may be an input if the inputs are not known. */
export function keysIn(data: readonly string[], isDeclared: boolean): readonly string[] {
  const own = KEYS.flatMap((key) => data.filter((name) => plainName(name) === key));
  const patterns = isDeclared ? ALSO_KEYS : [];
  const also = patterns.flatMap((key) => data.filter((name) => key.test(name.trim().toLowerCase())));
  return [...new Set([...own, ...also])];
}

/** Abbreviations of *number*. */
const NUMBER = /^(?:no|nr)$/;

/**
 * The columns whose cells are all different, and names of files or of articles. Whole numbers name the rows where they stand in the
 * `first` column, or are called numbers: others may be prices.
 */
export function uniqueIn(
  columns: readonly string[],
  cellsOf: (column: string) => readonly string[],
  first: string | undefined,
): readonly string[] {
  const isCalled = (name: string): boolean => name === first || NUMBER.test(wordsOf(name).at(-1) ?? '');
  return columns.filter((name) => {
    const cells = cellsOf(name).map((text) => text.trim());
    const isName = (text: string): boolean =>
      !isRecorded(text) &&
      !text.includes('/') &&
      (isFile(text) || (areIds([text]) && (isCalled(name) || /\p{L}/u.test(text))));
    return cells.length > 1 && new Set(cells).size === cells.length && cells.every(isName);
  });
}
