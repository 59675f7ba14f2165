// What the embedded servers keep is their user's alone, whatever his umask; what batches write follows it.

import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { Stage } from '../stage/stage.ts';

describe('the files of embedded servers', () => {
  const stage = new Stage();
  afterAll(() => stage.close());

  it('are all private, and the worker keeps the umask of the user', async () => {
    const before = process.umask(0o022);
    const dev = stage.start(['dev'], { TEMPORAL_ADDRESS: '' });
    process.umask(before);
    await dev.says(/service +http/);
    const home = join(stage.folder, '.runsheet');
    const open = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (statSync(join(home, name)).mode & 0o077) !== 0,
    );
    expect(open).toEqual([]);
    const status = readFileSync(`/proc/${readRecord(home)?.worker?.pid}/status`, 'utf8');
    expect(status).toMatch(/^Umask:\s+0022$/m);
  });
});
