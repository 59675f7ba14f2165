// npm run chaos -- --minutes N [--calm] [--victim V]… [--rows N] [--cap N] [--seed N]: batches in a row whose parts are killed again and again, for
// so many minutes and then until the last batch has ended; appends a line to docs/chaos.md.

import { parseArgs } from 'node:util';
import { errorMessage } from '../../../src/errors.ts';
import { chaosBatch, POINTS, type Aim, type BatchResult } from './batch.ts';
import { append, longRunOf } from './page.ts';
import { closeAll, FAULTS } from './rig.ts';
import { VICTIMS } from './victims.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rows: { type: 'string', default: '3000' },
    cap: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    calm: { type: 'boolean', default: false },
    victim: { type: 'string', multiple: true, default: [...VICTIMS] },
  },
});
const minutes = Math.min(60, Number(values.minutes));
const [rows, cap, seed] = [Number(values.rows), Number(values.cap), Number(values.seed)];
const victims = VICTIMS.filter((victim) => values.victim.includes(victim));
const faults = values.calm ? {} : FAULTS;

const began = performance.now();
const minutesGone = (): number => (performance.now() - began) / 60_000;
let before = 0;
/** Everyone in turn, each time at another point. */
const next = (killsOfBatch: number): Aim | undefined => {
  if (minutesGone() >= minutes) return undefined;
  const kills = before + killsOfBatch;
  const victim = victims[kills % victims.length] ?? 'worker';
  const point = POINTS[(kills + Math.floor(kills / victims.length)) % POINTS.length] ?? 'any moment';
  return { victim, point };
};
const say = (words: string): void =>
  console.error(`${(minutesGone() * 60).toFixed(0).padStart(5)} s  ${words}`);

/** Whatever happens, no process is left behind. */
const leave = (why: unknown): void => {
  console.error(why);
  void closeAll().finally(() => process.exit(1));
};
for (const event of ['SIGINT', 'SIGTERM', 'uncaughtException'] as const) process.once(event, leave);
const LAST_BATCH_MINUTES = 15;
setTimeout(leave, (minutes + LAST_BATCH_MINUTES) * 60_000, 'the last batch took too long').unref();

const done: BatchResult[] = [];
let stuck = 0;
for (let nth = 0; minutesGone() < minutes; nth += 1) {
  try {
    const result = await chaosBatch({ rows, cap, seed: seed + nth, faults, next, until: 'full speed', say });
    done.push(result);
    before += result.cycles.length;
    const { cycles, ...verdict } = result;
    say(`${cycles.length} kills: ${JSON.stringify(verdict)}`);
  } catch (error) {
    stuck += 1;
    say(errorMessage(error));
  }
}
const run = longRunOf({ minutes, cap, faults, stuck }, done);
append(run);
console.log(JSON.stringify(run, undefined, 2));
const isRight = run.stuck + run.lost + run.duplicates + run.falseSuccesses + run.ledgerFaults.length === 0;
process.exitCode = isRight ? 0 : 1;
