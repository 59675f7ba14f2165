// What a refused sheet or an interrupted laying out leaves in a folder; anything else in it is not ours to take away.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FILE } from '../store/batch-file.ts';

/** A sheet's copy, its pages, its errors. */
const OURS = /^(sheet(\.\w+)?|errors\.csv|rows)$/;

/** Whether a folder holds nothing but leavings, and at least one. */
export function isLeft(folder: string): boolean {
  const names = readdirSync(folder);
  return names.length > 0 && !existsSync(join(folder, BATCH_FILE)) && names.every((name) => OURS.test(name));
}
