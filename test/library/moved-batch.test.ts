// A batch whose folder was moved or restored: embedded servers know it at its place before.

import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { startOrAttach } from '../../src/library/start/start-or-attach.ts';
import type { Session } from '../../src/library/session.ts';
import { holderHere } from '../../src/store/holder.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { Console } from '../console/console.ts';

async function moved(kind: 'embedded' | 'cluster', isKept: boolean) {
  const console = await Console.open();
  const before = await console.batch(console.write('sheet.csv', 'prompt\na fox\n'), 'cups');
  const out = join(console.folder, 'restored');
  cpSync(console.out, out, { recursive: true });
  if (!isKept) rmSync(before.folder, { recursive: true });
  const cups = await openBatchFolder(out, 'cups');
  if (cups === undefined) throw new Error('no copy');
  const batches = { find: async () => ({ folder: before.folder, status: 'RUNNING' }) };
  const here = { config: loadConfig(), holder: holderHere({ kind }) };
  const attached = startOrAttach({ batches, here } as unknown as Session, cups);
  return { attached, out: dirname(before.folder) };
}

it('E507 prints the rebuild if the folder of before is gone', async () => {
  const { attached, out } = await moved('embedded', false);
  await expect(attached).rejects.toMatchObject({
    code: 'E507',
    message: `Temporal already has batch cups, with its results in ${out}, which was moved or removed`,
    hint: expect.stringMatching(/: runsheet resume cups --recover$/) as string,
    correction: undefined,
  });
});

it.each([['embedded', true] as const, ['cluster', false] as const])(
  'E507 prints the folder of before with servers of the kind %s if it is there, or if only workers may have it',
  async (kind, isKept) => {
    const { attached, out } = await moved(kind, isKept);
    await expect(attached).rejects.toMatchObject({ code: 'E507', correction: { add: [['--out', out]] } });
  },
);
