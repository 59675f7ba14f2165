// Runs the p-limit loop as a process. After a restart it skips rows that have a line in the results.

import { loopOver } from '../loop.ts';
import { readJob, readResults } from './job.ts';

const job = readJob();
const done = readResults(job.folder);
const rows = Array.from({ length: job.rows }, (_, index) => index + 1).filter((row) => !done.has(row));
await loopOver(rows, job);
