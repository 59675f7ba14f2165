import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const RACE = join(import.meta.dirname, '../../examples/kills/race.ts');

const raceFolders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('runsheet-kills-'));

it(
  'the batch of the example buys no run twice under kills, and the example leaves nothing behind',
  { timeout: 280_000 },
  async () => {
    const before = new Set(raceFolders());
    const child = spawn(process.execPath, [RACE, '--rows', '24', '--kills', '2'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    const lines = (await text(child.stdout)).trimEnd().split('\n');
    expect(await exit).toEqual([0, null]);
    expect(lines.at(-1)).toMatch(
      /^after [12] kills?: runsheet 24\/24 rows, 24 runs, 0 bought twice; loop 24\/24 rows, \d+ runs, \d+ bought twice$/,
    );
    expect(raceFolders().filter((name) => !before.has(name))).toEqual([]);
  },
);
