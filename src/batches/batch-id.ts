// Computes the identity of a batch: its rows in order, the deployment and the service (R24). The bytes and the name of the file, and
// options that change no row, do not count.

import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { identityOf, isSameService, type ServiceName } from '../host/service-address.ts';
import type { BatchFile } from '../store/batch-file.ts';

export type BatchIdentity = {
  /** sha256 of the rows: key, GPU and inputs of each; see {@link LaidOut.content}. */
  readonly rows: string;
  readonly deploymentId: string;
  /** The service's base address in any spelling, or `local`. */
  readonly base: string;
};

/** sha256 of the identity. */
export const contentOf = ({ base, ...identity }: BatchIdentity): string =>
  hashOf({ ...identity, base: identityOf(base) });

const hashOf = ({ rows, deploymentId, base }: BatchIdentity): string =>
  createHash('sha256')
    .update(JSON.stringify([rows, deploymentId, base]))
    .digest('hex');

/** Whether a batch has these rows. Older releases hashed the address as it was written, and a service may have several addresses. */
export function hasContent(
  { content, deployment, service }: Pick<BatchFile, 'content' | 'deployment' | 'service'>,
  wanted: { readonly rows: string; readonly deploymentId: string; readonly service: ServiceName },
): boolean {
  if (deployment.id !== wanted.deploymentId || !isSameService(service, wanted.service)) return false;
  return [contentOf, hashOf].some((hash) => hash({ ...wanted, base: service.base }) === content);
}

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
