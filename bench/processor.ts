// Processor time: what each process and each thread of a measurement uses, by /proc.

import { readFileSync } from 'node:fs';

/** Ticks of `/proc` are 10 ms on every Linux that Node runs on. */
const TICK_MS = 10;

export type Spent = {
  readonly userMs: number;
  readonly systemMs: number;
  /** The thread that started the process. */
  readonly mainMs: number;
};

/** Processor time of a process since its start, including threads that have ended. */
export function spentBy(pid: number): Spent {
  const [userMs, systemMs] = timesIn(`/proc/${pid}/stat`);
  const [mainUser, mainSystem] = timesIn(`/proc/${pid}/task/${pid}/stat`);
  return { userMs, systemMs, mainMs: mainUser + mainSystem };
}

export const plus = (a: Spent, b: Spent): Spent => ({
  userMs: a.userMs + b.userMs,
  systemMs: a.systemMs + b.systemMs,
  mainMs: a.mainMs + b.mainMs,
});

export const minus = (a: Spent, b: Spent): Spent => ({
  userMs: a.userMs - b.userMs,
  systemMs: a.systemMs - b.systemMs,
  mainMs: a.mainMs - b.mainMs,
});

function timesIn(path: string): readonly [user: number, system: number] {
  // The command's name is in brackets and may have blanks.
  const fields = readFileSync(path, 'utf8')
    .replace(/^.*\)\s/s, '')
    .split(' ');
  return [Number(fields[11]) * TICK_MS, Number(fields[12]) * TICK_MS];
}
