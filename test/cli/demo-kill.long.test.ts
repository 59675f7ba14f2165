import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';

const stage = freshStage();

const demoFolders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('runsheet-demo-'));

it(
  'buys no run twice while workers are killed, and leaves nothing behind',
  { timeout: 280_000 },
  async () => {
    const before = new Set(demoFolders());
    const { stdout, stderr, code } = await stage.run(['demo', '--kill', '--rows', '36', '--kills', '3']);
    expect(stderr).toContain('demo rows=36');
    expect(stdout).toMatch(
      /^runsheet: 36 rows, 36 runs, 0 bought twice, \$[\d.]+, survived [123] kills?\nloop: {5}36 rows, \d+ runs, \d+ bought twice, \$[\d.]+, restarted [123] times?\n$/,
    );
    expect(code).toBe(0);
    expect(demoFolders().filter((name) => !before.has(name))).toEqual([]);
  },
);
