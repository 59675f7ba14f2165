// Loaded before a process: its clock is off by as many milliseconds as the file says, which may change at any time.

import { readFileSync } from 'node:fs';

// In the address of this module, because commands give their children few of their variables.
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
  constructor(...given: readonly []) {
    super(...(given.length === 0 ? ([now()] as unknown as []) : given));
  }

  static override now(): number {
    return now();
  }
} as DateConstructor;
