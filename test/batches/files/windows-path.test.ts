// Paths of Windows, in the subsystem for Linux and elsewhere.

import { expect, it } from 'vitest';
import { isWindowsPath, pathInSubsystem } from '../../../src/batches/files/windows-path.ts';

const KERNEL = '5.15.167.4-microsoft-standard-WSL2';

it.each([
  [String.raw`C:\Users\me\a b.png`, '/mnt/c/Users/me/a b.png'],
  ['d:/pics/a.png', '/mnt/d/pics/a.png'],
  ['/C:/Users/me/a.png', '/mnt/c/Users/me/a.png'],
  [String.raw`\\wsl.localhost\Ubuntu\home\me\a.png`, '/home/me/a.png'],
  [String.raw`\\wsl$\Debian\home\me\a.png`, '/home/me/a.png'],
  [String.raw`\\server\share\a.png`, undefined],
])('in the subsystem, %s is %s', (path, here) => {
  expect(isWindowsPath(path)).toBe(true);
  expect(pathInSubsystem(path, KERNEL)).toBe(here);
});

it('on any other system, a path of Windows is on another machine', () => {
  expect(pathInSubsystem(String.raw`C:\Users\me\a.png`, '6.8.0-45-generic')).toBeUndefined();
  expect(isWindowsPath('pics/a.png')).toBe(false);
});
