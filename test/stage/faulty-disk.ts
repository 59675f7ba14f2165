// Replaces a call of `node:fs/promises` until the test ends: an answer that is lost, a call that hangs, a listing that is slow.

import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

type Call = 'link' | 'readdir' | 'rename';

export function replaceCall<Name extends Call>(
  name: Name,
  replacement: (real: (typeof promises)[Name]) => (typeof promises)[Name],
): void {
  const real = promises[name];
  const install = (call: (typeof promises)[Name]): void => {
    promises[name] = call;
    syncBuiltinESMExports();
  };
  install(replacement(real));
  onTestFinished(() => install(real));
}

/** The second attempt of a network file system, whose first one took effect: the name is taken, by the caller. */
export const lostLink = (name: string): void =>
  replaceCall('link', (real) => async (from, to) => {
    await real(from, to);
    if (String(to).endsWith(name))
      throw Object.assign(new Error(`EEXIST: file already exists, link '${String(to)}'`), { code: 'EEXIST' });
  });

/** Clocks of this process that leap forward, as for a process that was stopped. */
export function leapingClocks(): { leap(ms: number): void } {
  let leapt = 0;
  for (const clock of [performance, Date]) {
    const real = clock.now.bind(clock);
    const spy = vi.spyOn(clock, 'now').mockImplementation(() => real() + leapt);
    onTestFinished(() => spy.mockRestore());
  }
  return { leap: (ms) => void (leapt += ms) };
}
