// Restored is made (R35): whatever is kept is read back equal to what was written, and does the same.

import fc from 'fast-check';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { KINDS } from './kinds.ts';

describe.each(KINDS)('$name', ({ made, restored, runs = 40, behaves = () => undefined }) => {
  it('is read back equal to what was written, and does the same', async () => {
    await fc.assert(
      fc.asyncProperty(made, async (original) => {
        const folder = freshFolder();
        const before = behaves(original);
        const again = await restored(original, folder);
        expect(again).toEqual(original);
        expect(behaves(again)).toEqual(before);
        rmSync(folder, { recursive: true, force: true });
      }),
      { numRuns: runs },
    );
  });
});
