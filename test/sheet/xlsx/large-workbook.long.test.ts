import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('a workbook of 100,000 rows is laid out in less than 200 MB', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'lay-large.ts')]);
  const { rows, mb } = JSON.parse(stdout) as { readonly rows: number; readonly mb: number };
  expect(rows).toBe(100_000);
  expect(mb).toBeLessThan(200);
});
