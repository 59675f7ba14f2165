// Batches of different shapes. Idle machines stop soon, so that the second batch of a shape starts cold like the first one.

import type { Shape } from './real-batches.ts';

const idleTimeoutSeconds = 3;
const caps = (from: number, to: number): Pick<Shape, 'first' | 'second' | 'change'> => ({
  first: ['-c', String(from)],
  second: ['-c', String(to)],
  change: { concurrency: to },
});

export const SHAPES: readonly Shape[] = [
  {
    name: 'constant',
    deployment: { concurrencyLimit: 16, coldStartSeconds: 1, runSeconds: 2, idleTimeoutSeconds },
    rows: 48,
    ...caps(4, 8),
  },
  {
    name: 'varied',
    deployment: {
      concurrencyLimit: 3,
      coldStartSeconds: 2,
      runSeconds: 1.5,
      runSpread: 0.9,
      idleTimeoutSeconds,
    },
    rows: 50,
    ...caps(6, 2),
  },
  {
    name: 'full',
    deployment: {
      concurrencyLimit: 4,
      coldStartSeconds: 3,
      runSeconds: 2,
      runSpread: 0.3,
      idleTimeoutSeconds,
    },
    rows: 48,
    ...caps(8, 24),
  },
  {
    name: 'failing',
    deployment: {
      concurrencyLimit: 8,
      coldStartSeconds: 1,
      runSeconds: 2,
      runSpread: 0.5,
      idleTimeoutSeconds,
    },
    rows: 50,
    faults: ['fail=0.2'],
    ...caps(3, 6),
  },
  {
    name: 'two-gpus',
    deployment: {
      concurrencyLimit: 6,
      coldStartSeconds: 0.6,
      runSeconds: { default: 2.5, H100: 1 },
      runSpread: 0.3,
      idleTimeoutSeconds,
    },
    rows: 48,
    header: 'prompt,gpu',
    cells: (row) => `fox,${row % 3 === 0 ? 'H100' : 'A10G'}`,
    ...caps(3, 6),
  },
  {
    name: 'another-gpu',
    deployment: {
      concurrencyLimit: 4,
      coldStartSeconds: 1.5,
      runSeconds: { default: 2.5, H100: 1.2 },
      runSpread: 0.1,
      idleTimeoutSeconds,
    },
    rows: 40,
    first: ['-c', '4'],
    others: { canary: ['-c', '4', '--gpu', 'H100', '--limit', '6'] },
    second: ['-c', '4', '--gpu', 'H100'],
    change: { gpu: 'H100' },
  },
];
