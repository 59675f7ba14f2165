// Does the same job with BullMQ as its guide shows: one job per row with three attempts and exponential backoff, a
// worker with the concurrency of the runs, and defaults for everything else. Ends when no job is left.

import { setTimeout as wait } from 'node:timers/promises';
import { openLoop } from '../row.ts';
import { openQueue } from './bullmq-module.ts';
import { readJob } from './job.ts';

const job = readJob();
const work = await openLoop(job);
const { queue, startWorker } = openQueue(job);
startWorker(job.cap, async ({ data }) => work.row(data.row));

const LEFT = ['wait', 'active', 'delayed', 'prioritized'] as const;
for (;;) {
  await wait(1_000);
  const counts = await queue.getJobCounts(...LEFT);
  if (LEFT.every((state) => counts[state] === 0)) process.exit(0);
}
