// Refuses to start a batch that came with the current folder. Its batch.json claims to be the batch of the
// user's sheet, but a stranger may have chosen the rows that would be bought.

import { isOwnBatch } from '../../batches/known-places.ts';
import { problem } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { ownNotes, type Config } from '../../host/settings/config.ts';
import { isTrusted, type TrustSubject } from '../../host/settings/trust-notes.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { FoundBatch } from '../handle/found-batch.ts';

/** Whether a stranger may have written the batch's folder. */
export const isForeign = (config: Config, { folder, file }: Pick<FoundBatch, 'folder' | 'file'>): boolean =>
  !isOwnBatch(config, file) && !isTrusted(ownNotes(config.environment), batchToTrust(folder, file));

/** Called before Temporal gets an unknown batch. Throws E606. */
export function refuseForeign(config: Config, { folder, file }: Pick<FoundBatch, 'folder' | 'file'>): void {
  if (!isForeign(config, { folder, file })) return;
  throw problem('E606', {
    path: folder,
    reason:
      'your runsheet did not make this batch: it came with its folder, or was moved or restored, and its maker chose the rows that would be bought',
    hint: `for a batch of your own, add --again; if this one is yours: runsheet trust ${shellWord(folder)}`,
  });
}

/** The batch as the user saw it; a change of its rows asks again. */
export const batchToTrust = (
  path: string,
  { mark, content }: Pick<BatchFile, 'mark' | 'content'>,
): TrustSubject => ({
  path,
  content: { mark, content },
});
