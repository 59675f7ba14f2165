import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withCopy } from '../../src/create-batch/copy-sheet.ts';
import { deploymentSchema } from '../../src/run-service/contract/deployment.ts';
import { takeIn, type Intake } from '../../src/intake/intake.ts';

const AT_ONCE = 6;
const ROUNDS = 15;

describe('the same sheet taken in several times at once', () => {
  let place = '';
  beforeEach(() => (place = mkdtempSync(join(tmpdir(), 'runsheet-intake-'))));
  afterEach(() => rmSync(place, { recursive: true }));

  const sheetOf = (name: string, text: string): string => {
    const path = join(place, `${name}.csv`);
    writeFileSync(path, text);
    return path;
  };
  const take = (sheet: string): Promise<Intake> =>
    withCopy(sheet, { out: join(place, 'batches'), stdin: process.stdin }, (copy) =>
      takeIn({
        copy,
        out: join(place, 'batches'),
        again: false,
        options: { map: {}, set: {}, drop: [], types: {} },
        deployment: deploymentSchema.parse({ id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' }),
        service: { base: 'local', api: 'v2', rehearsal: true, timing: undefined, prices: {} },
        retries: 0,
        onUncertain: { rule: 'unknown' },
        deadlines: { queueMs: 86_400_000 },
        webhooks: true,
      }),
    );
  const together = (sheet: string): Promise<readonly PromiseSettledResult<Intake>[]> =>
    Promise.allSettled(Array.from({ length: AT_ONCE }, () => take(sheet)));

  it('is one batch, whole, for each of them', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const rows = Array.from({ length: 700 + round }, (_, at) => `${at}\n`).join('');
      const taken = await together(sheetOf(`round-${round}`, `number\n${rows}`));
      expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 'fulfilled'));
      const made = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const [{ folder } = { folder: '' }] = made;
      expect(new Set(made.map((one) => one.folder))).toEqual(new Set([folder]));
      expect(new Set(made.map((one) => one.file.createdAt)).size).toBe(1);
      expect(made.filter(({ laidOut }) => laidOut !== undefined)).toHaveLength(1);
      expect(readdirSync(join(folder, 'rows'))).toHaveLength(2);
    }
    expect(readdirSync(join(place, 'batches')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('and wrong, is refused each time, with its problems listed where each of them says', async () => {
    const taken = await together(sheetOf('wrong', 'number,number\n1,2\n'));
    expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 'rejected'));
    const bad = await together(sheetOf('bad', 'gpu\nNOPE\n'));
    expect(bad.map(({ status }) => status)).toEqual(bad.map(() => 'rejected'));
    const [folder = ''] = readdirSync(join(place, 'batches'));
    expect(readFileSync(join(place, 'batches', folder, 'errors.csv'), 'utf8')).toContain('NOPE');
  });
});
