// The same job on BullMQ, as its guide shows it: a job per row with three attempts and exponential back-off, a worker with
// as many jobs at once as runs are wanted, and its defaults for everything else. Ends when no job is left.

import { setTimeout as wait } from 'node:timers/promises';
import { byHand } from '../row.ts';
import { openQueue } from './bullmq-module.ts';
import { orderOf } from './order.ts';

const order = orderOf();
const work = await byHand(order);
const { queue, startWorker } = openQueue(order);
startWorker(order.cap, async ({ data }) => work.row(data.row));

const LEFT = ['wait', 'active', 'delayed', 'prioritized'] as const;
for (;;) {
  await wait(1_000);
  const counts = await queue.getJobCounts(...LEFT);
  if (LEFT.every((state) => counts[state] === 0)) process.exit(0);
}
