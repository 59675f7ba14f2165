// Shifts the clock of a process that preloads this module by the number of milliseconds in a file, which may change at
// any time.

import { readFileSync } from 'node:fs';

// The file is in the URL of this module, because commands pass few environment variables to their children.
const FILE = new URL(import.meta.url).searchParams.get('file') ?? '';
const READ_AGAIN_MS = 100;
const RealDate = Date;
let offMs = 0;
let readAt = Number.NEGATIVE_INFINITY;

function now(): number {
  const real = RealDate.now();
  if (real - readAt > READ_AGAIN_MS) {
    readAt = real;
    offMs = Number(readFileSync(FILE, 'utf8'));
  }
  return real + offMs;
}

globalThis.Date = class extends RealDate {
  constructor(...args: readonly []) {
    super(...(args.length === 0 ? ([now()] as unknown as []) : args));
  }

  static override now(): number {
    return now();
  }
} as DateConstructor;
