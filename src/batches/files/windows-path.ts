// Paths of Windows in the Windows Subsystem for Linux, where the drive C: is the folder /mnt/c.

import { release } from 'node:os';

const DRIVE = /^\/?([a-z]):[\\/]/i;
/** `\\wsl.localhost\Ubuntu\home\me`, the own files of the subsystem as Windows names them. */
const OWN = /^\\\\wsl(?:\.localhost|\$)\\[^\\]+/i;

export const isWindowsPath = (path: string): boolean => DRIVE.test(path) || path.startsWith(String.raw`\\`);

/** The path of the same file here; undefined if this is another system, or if the path is on a share. `kernel`: its release. */
export function pathInSubsystem(path: string, kernel = release()): string | undefined {
  if (!/microsoft/i.test(kernel)) return undefined;
  const isHere = DRIVE.test(path) || OWN.test(path);
  return isHere
    ? path
        .replace(OWN, '')
        .replace(DRIVE, (_, drive: string) => `/mnt/${drive.toLowerCase()}/`)
        .replaceAll('\\', '/')
    : undefined;
}
