// Computes the identity of a batch: its rows in order, the deployment and the service (R24). The file's bytes, its name and
// options that do not change a row are not part of it.

import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';

export type Asked = {
  /** sha256 of the rows: key, GPU and inputs of each; see {@link LaidOut.content}. */
  readonly rows: string;
  readonly deploymentId: string;
  /** The service's base address, or `local`. */
  readonly base: string;
};

/** sha256 of the identity. */
export const contentOf = ({ rows, deploymentId, base }: Asked): string =>
  createHash('sha256')
    .update(JSON.stringify([rows, deploymentId, base]))
    .digest('hex');

const ID_DIGITS = 12;

/** The default batch id, from the sheet's name: `prompts-5f0c2a91be77`. */
export const batchIdOf = (sheetName: string, content: string): string =>
  `${stemOf(sheetName)}-${content.slice(0, ID_DIGITS)}`;

const STEM_CHARS = 40;

/** The sheet's name without its extension, safe for a file name. */
export function stemOf(sheetName: string): string {
  const stem = basename(sheetName, extname(sheetName)).toLowerCase();
  return (
    stem
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, STEM_CHARS)
      .replaceAll(/^-+|-+$/g, '') || 'sheet'
  );
}
