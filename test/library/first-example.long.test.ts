// The first example of docs/library.md is the program that a newcomer copies.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sharedStage } from '../stage/shared-stage.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

describe('the first example of the library', () => {
  const stage = sharedStage();

  it('runs as it stands, and again without a second run', async () => {
    const page = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
    const example = /^```ts\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
    const index = JSON.stringify(join(ROOT, 'src/index.ts'));
    const program = stage.write('example.ts', example.replace("'runsheet'", index));
    for (const _ of ['first', 'again']) {
      const { stdout } = await run(process.execPath, [program], { cwd: stage.folder });
      expect(stdout.match(/ succeeded \[/g)).toHaveLength(2);
      expect(stdout).toContain('2 of 2 rows succeeded; their files are in file://');
    }
  });
});
