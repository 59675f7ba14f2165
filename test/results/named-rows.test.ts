// The commands that name a row, or columns of the sheet.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeEndedBatch } from '../../bench/ended-batch.ts';
import type { Context } from '../../src/cli/context.ts';
import { rows, show } from '../../src/cli/batch/rows.ts';
import { sharedFolder } from '../stage/fresh-folder.ts';

/** The output of a command. */
async function printed(work: (context: Context) => Promise<unknown>): Promise<string> {
  let text = '';
  const stdout = new Writable({
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString();
      done();
    },
  });
  await work({ process: { ...process, stdout, stderr: stdout } } as unknown as Context);
  return text;
}

describe('a batch of three rows', () => {
  const out = sharedFolder();
  beforeAll(() => {
    mkdirSync(join(out, 'b'));
    makeEndedBatch(join(out, 'b'), { rows: 3, lanes: 2 });
  });

  const shown = (first: string, second?: string): Promise<string> =>
    printed((context) => show.call(context, { out, output: 'text' }, first, second));
  const listed = (fields: string): Promise<string> =>
    printed((context) => rows.call(context, { out, output: 'csv', follow: false, fields }, undefined));

  it('shows a row by its number or its key, also without the name of the batch', async () => {
    const row = await shown('b', '2');
    expect(row).toMatch(/^row 2 of b: succeeded\n {2}key 2/);
    expect(await shown('2')).toBe(row);
  });

  it('shows which node made a file', async () =>
    expect(await shown('2')).toMatch(/outputs\/2\.png {2}\(node 9\)/));

  it('refuses a word that may be a batch or a row, with both commands', async () => {
    await expect(shown('b')).rejects.toMatchObject({
      code: 'E602',
      hint: expect.stringMatching(/show b 1\n.*show b b$/) as string,
    });
  });

  it('refuses a row that it does not have', async () => {
    await expect(shown('SKU-9')).rejects.toMatchObject({ code: 'E505' });
  });

  it('lists columns of its sheet, also those that are no inputs', async () => {
    expect(await listed('key,gpu,seed,outcome')).toBe(
      'key,gpu,seed,outcome\n1,L4,7919,succeeded\n2,A10G,15838,succeeded\n3,L4,23757,succeeded\n',
    );
  });

  it('names the nearest column for one that it does not have', async () => {
    await expect(listed('key,gup')).rejects.toMatchObject({
      code: 'E602',
      hint: expect.stringContaining('did you mean gpu?') as string,
    });
  });
});
