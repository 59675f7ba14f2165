// Texts of servers and files that patterns read: each costs time in proportion to its length.

import { expect, it } from 'vitest';
import { withoutSecrets } from '../../src/errors/redact.ts';
import { faultsOf } from '../../src/run-service/executors/workflow/workflow-faults.ts';
import { growthOf, MAX_LINEAR } from '../stage/growth.ts';

it.each([
  ['Bearer', '+', 2_000],
  ['', 'Bearer+', 4_000],
  ['/hook/2', '%2Fa', 20],
  ['', '/hook/2', 4_000],
])(
  'secrets are looked for in %s and many of %s in time that grows with the length',
  async (head, piece, size) => {
    const made = (count: number): string => `${head}${piece.repeat(count)}!`;
    expect(await growthOf(size, made, withoutSecrets)).toBeLessThan(MAX_LINEAR);
  },
);

it.each([
  '/hook/2/b/0123456789abcdef/1/2/',
  '%2Fhook%2F2%2Fb%2F0123456789abcdef%2F1%2F2%2F',
  String.raw`\/hook\/2\/b\/01\/1\/2\/`,
  String.raw`\\/hook\\/2\\/b\\/01\\/1\\/2\\/`,
])('the signature behind %s is removed', (address) => {
  expect(withoutSecrets(`POST ${address}${'0a'.repeat(16)} failed`)).not.toContain('0a0a0a0a');
});

it('a number of many digits in a workflow is judged in time that grows with its length', async () => {
  const classes = new Map([
    [
      'A',
      {
        inputs: { x: { type: 'FLOAT', isFile: false } },
        displayName: undefined,
        outputs: [],
        isOutput: true,
        isPaid: false,
      },
    ],
  ]);
  const made = (size: number) => ({ 1: { class_type: 'A', inputs: { x: `${'1'.repeat(size)}x` } } });
  expect(await growthOf(4_000, made, (graph) => faultsOf(graph, classes))).toBeLessThan(MAX_LINEAR);
});
