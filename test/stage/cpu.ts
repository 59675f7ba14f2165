// Measures the processor time of this thread, which neither other processes nor what an earlier file left running changes.

import { createHash } from 'node:crypto';

/** Milliseconds of processor time since the thread started. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const TEXT = JSON.stringify(Array.from({ length: 2_000 }, (_, at) => ({ prompt: `a fox ${at}`, seed: at })));

/**
 * How often this thread parses and hashes a certain text in a second of processor time: a measure of the machine, which is slower on
 * cores that it shares with other work.
 */
export function referenceRate(): number {
  const [begun, times] = [cpuMs(), 100];
  for (let time = 0; time < times; time += 1)
    createHash('sha256')
      .update(JSON.stringify(JSON.parse(TEXT)))
      .digest();
  return (times * 1000) / (cpuMs() - begun);
}
