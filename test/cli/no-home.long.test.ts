import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { canBeNobody, placeOfNobody, runAsNobody } from '../stage/nobody.ts';

it.skipIf(!canBeNobody)('run --local works for a user without a name and a home', async () => {
  const { folder, path } = await placeOfNobody();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'sheet.csv'), 'prompt\na hen\nan owl\n');
  const { status, stderr } = runAsNobody(folder, ['run', 'sheet.csv', '-d', 'portraits', '--local', '-y'], {
    PATH: path,
  });
  expect(stderr).toContain('2 of 2 rows succeeded');
  expect(status).toBe(0);
});
