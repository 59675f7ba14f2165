import { expect, it } from 'vitest';
import { reportedCost } from '../../src/store/reported-cost.ts';

type CostFacts = Parameters<typeof reportedCost>[0];

const facts = (runPrice?: number, prices: Readonly<Record<string, number>> = {}): CostFacts => ({
  deployment: { id: 'd', ...(runPrice !== undefined && { runPrice }) },
  service: { prices },
});

it('the price of a run that was stated when the batch was made decides, whatever another command states later', () => {
  expect(reportedCost(facts(0.025), { gpu: 'fal', costUsd: 0.000_001 })).toBe(0.025);
  expect(reportedCost(facts(0.025), { gpu: 'fal', costUsd: 1 })).toBe(0.025);
});

it('a run that the vendor never got costs nothing, and one without a cost has none', () => {
  expect(reportedCost(facts(0.025), { gpu: 'fal', costUsd: 0 })).toBe(0);
  expect(reportedCost(facts(0.025), { gpu: 'fal' })).toBeUndefined();
});

it('a vendor that tells costs is believed', () => {
  expect(reportedCost(facts(0.025), { gpu: 'router', costUsd: 1 })).toBe(1);
});

it('of two prices of a second the higher one decides', () => {
  const priced = facts(undefined, { fal: 0.01 });
  expect(reportedCost(priced, { gpu: 'fal', costUsd: 0.000_02, runSeconds: 2 })).toBe(0.02);
  expect(reportedCost(priced, { gpu: 'fal', costUsd: 0.5, runSeconds: 2 })).toBe(0.5);
  expect(reportedCost(priced, { gpu: 'A10G', costUsd: 0.5, runSeconds: 200 })).toBe(0.5);
});
