// Every text of the product that contains a command is pasted by a test: its line stands in one of the records.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RECORDS } from './recorded.ts';
import { printedTexts } from './texts.ts';

const LINES = globSync('*.txt', { cwd: RECORDS }).flatMap((file) =>
  readFileSync(join(RECORDS, file), 'utf8').split('\n'),
);

/** The line of a text as it may be printed. */
function patternOf(line: string): RegExp {
  const escaped = line.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(escaped.replaceAll('…', '.*').replaceAll(/\s+/g, String.raw`\s+`));
}

describe('the texts that contain a command', () => {
  const texts = printedTexts();

  it('are found in the sources', () => {
    expect(texts.length).toBeGreaterThan(100);
  });

  it('are each pasted by a test', () => {
    const missing = texts.filter(({ text }) => {
      const lines = text.split('\n').filter((line) => /\brunsheet /.test(line));
      return !lines.every((line) => LINES.some((printed) => patternOf(line).test(printed)));
    });
    expect(missing.map(({ file, text }) => `${file} ${text}`)).toEqual([]);
  });
});
