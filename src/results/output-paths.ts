// Names the output files of a row by its name or key: all in one folder, or in folders of a thousand rows
// for larger batches. A folder for each row would cost more processor time than the rest of its download.
// The page may load only such paths (library/report/report-files.ts).

import { fileName } from '../errors/outside-text.ts';

export const OUTPUTS = 'outputs';

const FOLDER_ROWS = 1_000;

/** Where the files of a row are: `outputs/00002/fox`, to which each file adds its number, except the first, and its extension. */
export type OutputNames = { readonly folder: string; readonly name: string };

/** `name`: the file name that the row got when the batch was made. */
type NamedOutput = { readonly row: number; readonly key: string; readonly name?: string };

/**
 * `rows`: the rows of the sheet, so that files keep their names when rows are appended. `edition`
 * distinguishes later results of the row.
 */
export const outputNames = (rows: number, { row, key, name }: NamedOutput, edition = ''): OutputNames => ({
  folder:
    rows > FOLDER_ROWS || row > FOLDER_ROWS
      ? `${OUTPUTS}/${String(Math.ceil(row / FOLDER_ROWS)).padStart(5, '0')}`
      : OUTPUTS,
  // No name has a tilde.
  name: `${name ?? fileName(key)}${edition === '' ? '' : `~${edition}`}`,
});

/** The path without extension of the file with this number, from 1. */
export const outputStem = ({ folder, name }: OutputNames, nth: number): string =>
  `${folder}/${name}${nth === 1 ? '' : `~${nth}`}`;
