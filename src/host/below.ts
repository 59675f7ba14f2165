import { isAbsolute, relative, sep } from 'node:path';

/** Whether the path lies in the folder, judged by the names alone: a link may lead elsewhere. */
export function isBelow(path: string, folder: string): boolean {
  const from = relative(folder, path);
  return from !== '' && !isAbsolute(from) && from.split(sep)[0] !== '..';
}
