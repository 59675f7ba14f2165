// Names the files of a row: after its key, all in one folder, or in folders of a thousand rows if the batch has more rows. A folder
// for each row would cost more processor time than the rest of its download.

import { fileName } from '../errors/outside-text.ts';

export const OUTPUTS = 'outputs';

const FOLDER_ROWS = 1_000;

/** Where the files of a row are: `outputs/00002/fox`, to which each file adds its number, except the first, and its extension. */
export type OutputNames = { readonly folder: string; readonly name: string };

type Row = { readonly row: number; readonly key: string };

/** `rows`: those of the sheet, so that files keep their names when rows are appended. `edition` distinguishes later results of the row, if there are any. */
export const outputNames = (rows: number, { row, key }: Row, edition = ''): OutputNames => ({
  folder:
    rows > FOLDER_ROWS || row > FOLDER_ROWS
      ? `${OUTPUTS}/${String(Math.ceil(row / FOLDER_ROWS)).padStart(5, '0')}`
      : OUTPUTS,
  // No key becomes a name with a tilde.
  name: `${fileName(key)}${edition === '' ? '' : `~${edition}`}`,
});

/** The path without extension of the file with this number, from 1. */
export const outputStem = ({ folder, name }: OutputNames, nth: number): string =>
  `${folder}/${name}${nth === 1 ? '' : `~${nth}`}`;
