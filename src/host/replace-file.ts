// Replaces a file at once: a reader finds its old text or all of the new one, two writers never mix, and a failure leaves nothing
// beside it.

import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** `flush`: the text must survive a power loss. Without `mode`, only this user can read the file. */
type Replacing = { readonly mode?: number; readonly flush?: boolean };

export function replaceFile(
  path: string,
  text: string,
  { mode = 0o600, flush = true }: Replacing = {},
): void {
  const beside = `${path}.${randomUUID()}.part`;
  try {
    writeFileSync(beside, text, { mode, flush });
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
