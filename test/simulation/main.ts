// npm run simulate [-- --seeds N] [--from N] [--large|--budget]: simulates many more worlds than the tests.

import { parseArgs } from 'node:util';
import { simulateMany } from './many.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200000' },
    from: { type: 'string', default: '1' },
    large: { type: 'boolean', default: false },
    budget: { type: 'boolean', default: false },
  },
});
const startedAt = performance.now();
const size = values.large ? 'large' : values.budget ? 'budget' : 'small';
const { failing, sometimes, ...sums } = await simulateMany(Number(values.from), Number(values.seeds), size);
const seconds = (performance.now() - startedAt) / 1_000;
for (const [what, count] of [...sometimes].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${count}\t${what}`);
console.log({ ...sums, seedsPerSecond: Number((sums.seeds / seconds).toFixed(1)) });
for (const explanation of failing) console.error(explanation);
process.exitCode = failing.length > 0 ? 1 : 0;
