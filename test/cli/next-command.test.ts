import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Printer } from '../../src/cli/context.ts';
import { configOf } from '../../src/cli/flags/batch-options.ts';
import { nextCommand, sayLeft, toKeep } from '../../src/cli/next-command.ts';

const at = (folder: string): string =>
  nextCommand('resume', { batch: 'portraits-7f3a', folder }, { out: '/home/me/batches' });

it('names only the batch if it is in the folder of the settings', () => {
  expect(at('/home/me/batches/portraits-7f3a')).toBe('runsheet resume portraits-7f3a');
});

it('names the folder of a batch elsewhere, as a shell reads it', () => {
  expect(at('/data/b/portraits-7f3a')).toBe('runsheet resume portraits-7f3a --out /data/b');
  expect(at("/data/my b's/portraits-7f3a")).toBe(
    String.raw`runsheet resume portraits-7f3a --out '/data/my b'\''s'`,
  );
});

describe('what is proposed on embedded servers', () => {
  const next = (stack: { readonly isKept?: boolean } | undefined) => {
    const said: unknown[] = [];
    const printer = {
      notice: (text: string) => said.push(text),
      next: (...words: readonly unknown[]) => said.push(...words),
    };
    sayLeft(printer as unknown as Printer, { stack }, { batch: 'b', folder: join(configOf({}).out, 'b') });
    return [...said, ...toKeep(stack)];
  };

  it('is to start servers that stay, if they end with this command', () => {
    expect(next({})).toEqual([
      'the embedded servers end with the last command that uses them',
      ['continue', 'runsheet resume b'],
      ['servers', 'runsheet dev'],
    ]);
  });

  it.each([
    ['another terminal keeps them', { isKept: true }],
    ['there are none', undefined],
  ])('is to follow the batch if %s', (_, stack) => {
    expect(next(stack)).toEqual([['follow', 'runsheet follow b']]);
  });
});
