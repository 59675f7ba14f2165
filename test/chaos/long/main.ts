// npm run chaos -- [--kills N] [--minutes N] [--mode cluster|embedded]… [--rows N] [--concurrency N] [--seed N]:
// batches in a row, on a Temporal server with two workers and on the embedded one, whose processes are killed
// repeatedly. docs/evidence.md has the figures of some runs.

import { parseArgs } from 'node:util';
import { chaos, hasFindings, neverMet } from './chaos.ts';
import { closeAll, type Mode } from './rig.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '60' },
    mode: { type: 'string', multiple: true, default: ['cluster', 'embedded'] },
    rows: { type: 'string', default: '300' },
    concurrency: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
  },
});

/** Ends all processes before an early exit. */
const abort = (why: unknown): void => {
  console.error(why);
  void closeAll().finally(() => process.exit(1));
};
for (const event of ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection'] as const)
  process.once(event, abort);

const result = await chaos({
  kills: Number(values.kills),
  minutes: Number(values.minutes),
  modes: values.mode.map((mode): Mode => (mode === 'embedded' ? 'embedded' : 'cluster')),
  rows: Number(values.rows),
  concurrency: Number(values.concurrency),
  seed: Number(values.seed),
  log: (text) => console.error(text),
});
console.log(JSON.stringify(result, undefined, 2));
const missing = neverMet(result);
if (missing.length > 0) console.error(`never occurred in this run: ${missing.join(', ')}`);
process.exit(hasFindings(result) ? 1 : 0);
