// The p-limit loop as a process. Started again, it does what people do: rows that have a line are done.

import { loopOver } from '../loop.ts';
import { linesOf, orderOf } from './order.ts';

const order = orderOf();
const done = linesOf(order.folder);
const rows = Array.from({ length: order.rows }, (_, index) => index + 1).filter((row) => !done.has(row));
await loopOver(rows, order);
