// Creators that are killed between any two of their writes.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recount } from '../../src/audit/verify.ts';
import { placeReused } from '../../src/batches/reuse/reuse-rows.ts';
import { staleIn } from '../../src/batches/stale-folders.ts';
import { PARTS } from '../../src/results/parts.ts';
import { LAYOUT } from '../../src/store/batch-file.ts';
import { addResults } from './earlier.ts';
import { filesBelow, Place, wholeBatch } from './creating.ts';

/** The paths of all leftovers. */
const stalePaths = async (out: string, ageMs: number) =>
  (await staleIn({ out }, ageMs)).map(({ path }) => path);

const CREATOR = fileURLToPath(import.meta.resolve('./creator.ts'));
/** Two pages. */
const SHEET = `number\n${Array.from({ length: 700 }, (_, at) => `${at}\n`).join('')}`;

describe('a creator that is killed', () => {
  /** What it says of the batch, or of what was wrong; undefined where it was killed. */
  const createUntil = (place: Place, killAt: number, more: object = {}): string | undefined => {
    const words = [CREATOR, join(place.folder, 'sheet.csv'), place.out];
    const env = { ...process.env, KILL_AT: String(killAt), ...more };
    const { stdout, stderr, signal } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    return signal === 'SIGKILL' ? undefined : stdout + stderr;
  };

  it('between any two of its writes does not block the next creator, and all its files are stale', async () => {
    const left = new Set<string>();
    let killAt = 1;
    for (let output: string | undefined; output === undefined; killAt += 1) {
      const place = new Place();
      place.write('sheet.csv', SHEET);
      output = createUntil(place, killAt);
      expect(output ?? '{"batch":').toMatch(/^\{"batch":/);
      const hasMade = place.hasBatch() || place.entries().length > 0;
      const next = await place.create('sheet.csv');
      // A batch that is made is never made again: the next command joins it, and its own copy goes.
      expect([killAt, next.laidOut === undefined]).toEqual([killAt, hasMade]);
      for (const path of await stalePaths(place.out, 0)) {
        left.add(
          path
            .slice(place.out.length + 1)
            .replaceAll(/[0-9a-f]{16}(?:-[0-9a-f]{8})?|[0-9a-f]{12}-\d+|\w{6}$/g, '*'),
        );
        rmSync(path, { recursive: true });
      }
      expect([killAt, place.names()]).toEqual([killAt, [next.batch]]);
      expect([killAt, filesBelow(next.folder)]).toEqual([killAt, wholeBatch(next.file)]);
      expect(readdirSync(place.folder).sort()).toEqual(['batches', 'sheet.csv']);
    }
    // Otherwise the kills missed what they were aimed at.
    expect(killAt).toBeGreaterThan(9);
    expect([...left].map((path) => path.replace(/^sheet-\w+/, 'sheet-*')).sort()).toEqual([
      '.incoming-*',
      '.made/.*.part',
      '.names/.*.part',
      'sheet-*/.*.part',
      'sheet-*/layout/*',
    ]);
  });

  it('while it reuses rows loses none of their results, and leaves only stale files', async () => {
    const stages = new Set<string>();
    let killAt = 1;
    for (let output: string | undefined; output === undefined; killAt += 1) {
      const place = new Place();
      place.write('earlier.csv', 'number\n1\n2\n3\n');
      place.write('sheet.csv', 'number\n1\n2\n3\n4\n');
      const earlier = await place.create('earlier.csv');
      await addResults(earlier);
      output = createUntil(place, killAt, { REUSE: '1' });
      expect(output ?? '{"batch":').toMatch(/^\{"batch":/);
      const name = place.names().find((folder) => folder.startsWith('sheet-')) ?? 'none';
      const isMade = place.entries().length > 1;
      stages.add(
        `${isMade} ${existsSync(join(place.out, name, 'outputs'))} ${existsSync(join(place.out, name, PARTS))}`,
      );
      // The next command attaches to the batch if it exists, and decides again if it does not.
      const next = await place.create('sheet.csv', { decide: async () => 'reuse' });
      await placeReused(next);
      expect([killAt, next.laidOut === undefined]).toEqual([killAt, isMade]);
      for (const path of await stalePaths(place.out, 0)) rmSync(path, { recursive: true });
      expect([killAt, place.names()]).toEqual([killAt, [earlier.batch, next.batch]]);
      expect([killAt, next.file.sheet.reused, next.file.sheet.lanes]).toEqual([killAt, 3, [{ places: 1 }]]);
      rmSync(earlier.folder, { recursive: true });
      const known = { add: () => undefined };
      expect([killAt, await recount(next.store, next.file, { files: true, known })]).toMatchObject([
        killAt,
        { rows: 4, reused: 3, files: 3, badFiles: [] },
      ]);
      expect([killAt, filesBelow(next.folder).filter((path) => path.includes('reused'))]).toEqual([
        killAt,
        [`${LAYOUT}/${next.file.mark}/reused`],
      ]);
    }
    // A kill met every step: without a batch, before, between and after the moves.
    expect([...stages].sort()).toEqual([
      'false false false',
      'true false false',
      'true true false',
      'true true true',
    ]);
  });

  it('while its sheet is refused leaves only stale files', async () => {
    let killAt = 1;
    for (let output: string | undefined; output === undefined; killAt += 1) {
      const place = new Place();
      place.write('sheet.csv', 'gpu\nNOPE\n');
      output = createUntil(place, killAt);
      expect(output ?? 'E200').toContain('E200');
      for (const path of await stalePaths(place.out, 0)) rmSync(path, { recursive: true });
      expect([killAt, filesBelow(place.folder).filter((name) => name !== 'batches')]).toEqual([
        killAt,
        ['sheet.csv'],
      ]);
    }
    expect(killAt).toBeGreaterThan(4);
  });
});
