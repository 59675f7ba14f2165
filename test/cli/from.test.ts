import { describe, expect, it } from 'vitest';
import { checkFlags } from '../../src/cli/flags/batch-options.ts';
import { refuseBothSheets } from '../../src/cli/run/from.ts';
import type { RunFlags, SheetFlags } from '../../src/cli/flags/flags.ts';

const refusal = (flags: Partial<SheetFlags>, sheet?: string): string => {
  try {
    refuseBothSheets('run', flags as SheetFlags, sheet);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a command that makes a batch', () => {
  it.each<[Partial<SheetFlags>, string | undefined, string]>([
    [{}, undefined, '<sheet> is missing'],
    [{ from: 'drafts' }, 'a.csv', '--from drafts and the sheet a.csv exclude each other'],
    [{ pick: 'picks.csv' }, 'a.csv', '--pick needs --from'],
    [{ where: 'row = 1' }, 'a.csv', ''],
    [{ each: 'file' }, 'a.csv', '--each needs --from'],
    [{}, 'a.csv', ''],
    [{ grid: ['style=oil,ink'] }, undefined, ''],
    [{ grid: ['style=oil,ink'], into: 'finals' }, undefined, '<sheet> is missing'],
    [{ from: 'drafts', where: 'row = 1', pick: 'picks.csv' }, undefined, ''],
  ])('takes a sheet or --from: %o with %s is refused with %j', (flags, sheet, message) => {
    expect(refusal(flags, sheet)).toBe(message);
  });

  it.each<Partial<RunFlags>>([
    { from: 'drafts', into: 'finals' },
    { into: 'finals', canary: 5 },
    { from: 'drafts', watch: true },
  ])('refuses flags that exclude each other: %o', async (flags) => {
    const [first = '', second = ''] = Object.keys(flags);
    await expect(checkFlags('-', flags as RunFlags)).rejects.toThrow(
      new RegExp(`--(${first}|${second}) and --(${first}|${second}) exclude each other`),
    );
  });
});
