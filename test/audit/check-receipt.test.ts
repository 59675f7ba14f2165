// The check of a receipt: what it finds, and at which line.

import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Content } from '../../src/audit/receipt-lines.ts';
import { idOf } from './lists.ts';
import { Scene } from './receipt-scene.ts';

describe('a receipt', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = new Scene();
    await scene.end();
  });
  afterEach(() => scene[Symbol.dispose]());

  it('holds with negative seconds, which a service with a wrong clock may report', async () => {
    await scene.write();
    const changed: Readonly<Record<string, object>> = {
      batch: { total_cost_usd: -0.08 },
      duplicate: { gpu_seconds: -2, cost_usd: -0.2 },
      total: {
        gpu_seconds: { rows: 1, cancelled: 0.2, duplicates: -2 },
        cost_usd: { rows: 0.1, cancelled: 0.02, duplicates: -0.2, total: -0.08 },
      },
    };
    scene.forge(scene.contents().map((line): Content => ({ ...line, ...changed[line.kind] })));
    expect((await scene.check()).total.cost_usd.total).toBe(-0.08);
  });

  it('does not hold with any other digit, and names the line', async () => {
    await scene.write();
    const lines = scene.text().trim().split('\n');
    for (const [at, line] of lines.entries())
      for (const { index } of line.matchAll(/\d/g)) {
        const digit = (Number(line[index]) + 1) % 10;
        const changed = lines.with(at, `${line.slice(0, index)}${digit}${line.slice(index + 1)}`);
        writeFileSync(scene.path, `${changed.join('\n')}\n`);
        await expect(scene.check()).rejects.toMatchObject({ code: 'E520', place: { line: at + 1 } });
      }
  });

  it.each<readonly [string, number, (lines: readonly string[]) => readonly string[]]>([
    ['a line less', 3, (lines) => lines.toSpliced(2, 1)],
    ['a line twice', 4, (lines) => lines.toSpliced(2, 0, lines[2] ?? '')],
    ['an empty line', 3, (lines) => lines.toSpliced(2, 0, '')],
    ['two lines in another order', 2, ([head = '', a = '', b = '', ...rest]) => [head, b, a, ...rest]],
    ['no first line', 1, (lines) => lines.slice(1)],
    ['no last line', 7, (lines) => lines.slice(0, -1)],
    ['nothing', 1, () => []],
    ['other line ends', 1, (lines) => lines.map((line) => `${line}\r`)],
    ['lines of another file', 1, () => ['row,key', '1,k1']],
  ])('does not hold with %s', async (_, line, change) => {
    await scene.write();
    const lines = change(scene.text().trim().split('\n'));
    writeFileSync(scene.path, lines.map((one) => `${one}\n`).join(''));
    await expect(scene.check()).rejects.toMatchObject({ code: 'E520', place: { line } });
  });

  it.each<readonly [string, number, RegExp, (lines: readonly Content[]) => readonly unknown[]]>([
    [
      'a row without its runs',
      7,
      /other sums than its lines/,
      (lines) => lines.with(1, { ...lines[1], attempts: [] } as Content),
    ],
    [
      'a cost that does not follow from its seconds',
      6,
      /names a cost of \$0\.1, but 2 s at \$0\.1 cost \$0\.2/,
      (lines) => lines.with(5, { ...lines[5], cost_usd: 0.1 } as Content),
    ],
    [
      'a run of another row',
      6,
      /names the run 0.*, which an earlier line names/,
      (lines) => lines.with(5, { ...lines[5], run_id: idOf(3) } as Content),
    ],
    ['a row less', 3, /is row 3, but row 2 is next/, (lines) => lines.toSpliced(2, 1)],
    ['no duplicate', 6, /other sums than its lines/, (lines) => lines.toSpliced(5, 1)],
    [
      'a first line that claims less',
      7,
      /other sums than the first line/,
      (lines) => lines.with(0, { ...lines[0], bought_twice: 0 } as Content),
    ],
    [
      'a row after the duplicates',
      6,
      /is a row after a duplicate/,
      (lines) => [...lines.slice(0, 4), lines[5], lines[4], lines[6]],
    ],
    ['a line after the sums', 8, /follows the sums/, (lines) => [...lines, lines[5]]],
    ['two first lines', 2, /names the batch again/, (lines) => [lines[0], ...lines]],
    [
      'an unknown member',
      2,
      /is not a line of a receipt/,
      (lines) => lines.with(1, { ...lines[1], paid: true } as unknown as Content),
    ],
    [
      'members of other types',
      2,
      /is not a line of a receipt/,
      (lines) => lines.with(1, { ...lines[1], attempts: null } as unknown as Content),
    ],
  ])('does not hold with %s, although its hashes are right', async (_, line, reason, change) => {
    await scene.write();
    scene.forge(change(scene.contents()) as readonly Content[]);
    await expect(scene.check()).rejects.toMatchObject({
      code: 'E520',
      message: expect.stringMatching(reason) as string,
      place: { line },
    });
  });
});
