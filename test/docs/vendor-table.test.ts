import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VENDOR_FACTS, VENDORS } from '../../src/options/facts/server-kind.ts';
import { ROOT } from '../source-imports.ts';

const LOST = {
  list: /^exactly one run while/,
  key: /^exactly one run: the same request answers again/,
  webhook: /^exactly one with a \[public address\]/,
};

it('the table of where-rows-run.md has the facts of each vendor', () => {
  const page = readFileSync(join(ROOT, 'docs/where-rows-run.md'), 'utf8');
  const cells = page.split('\n').map((line) => line.split(' | ').map((cell) => cell.trim()));
  for (const vendor of VENDORS) {
    const { reveals, keeps } = VENDOR_FACTS[vendor];
    const [, , lost, files] = cells.find(([, flag]) => flag?.startsWith(`\`--model ${vendor}:`)) ?? [];
    expect([vendor, lost, files]).toEqual([vendor, expect.stringMatching(LOST[reveals]), keeps]);
  }
});
