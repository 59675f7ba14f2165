import { expect, it } from 'vitest';
import { nextCommand } from '../../src/cli/next-command.ts';

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
