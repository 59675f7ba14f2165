// npm run fuzz:sheets [-- count [from]]: reads many mutated sheets.

import { readMutated } from './mutated-sheets.ts';

const [count = 100_000, from = 1] = process.argv.slice(2).map(Number);
if (!Number.isInteger(count + from)) throw new Error('count and from are whole numbers');
const speed = await readMutated(from, count);
process.stdout.write(`${count} sheets, none read wrongly, ${Math.round(speed)} a second\n`);
