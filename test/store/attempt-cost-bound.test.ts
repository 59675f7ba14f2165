// The highest cost of a run, from batch.json, and the refusals if facts are missing there.

import { describe, expect, it } from 'vitest';
import { RunsheetError } from '../../src/errors/error.ts';
import {
  attemptCosts,
  costParams,
  refuseUnbounded,
  refuseUntried,
} from '../../src/store/attempt-cost-bound.ts';

type CostFacts = Parameters<typeof attemptCosts>[0];

const facts = (own: Partial<CostFacts> = {}): CostFacts => ({
  deployment: { gpu: 'A10G', runTimeoutSeconds: 300 },
  deadlines: {},
  service: { prices: {} },
  sheet: { lanes: [{ gpu: 'A10G' }] },
  ...own,
});

const refusal = (costFacts: CostFacts, limit: number | 'none' | undefined = 1): string | undefined => {
  try {
    refuseUnbounded(costFacts, limit);
    return undefined;
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error;
    expect([error.code, error.exit]).toEqual(['E312', 2]);
    return `${error.message}; ${error.hint}`;
  }
};

describe('the highest cost of a run', () => {
  it('is the price of its GPU for the time limit and five minutes more, in nano-dollars', () => {
    expect(attemptCosts(facts())['A10G']).toBe(202_200_000);
    expect(attemptCosts(facts({ service: { prices: { A10G: 0.5 } } }))['A10G']).toBe(300e9);
    expect(refusal(facts())).toBeUndefined();
  });

  it("is never below that of the deployment's own GPU, on which every row may run", () => {
    const costs = attemptCosts(facts());
    expect([costs['T4'], costs['A10G'], costs['H100']]).toEqual([202_200_000, 202_200_000, 1_402_800_000]);
    const { gpu: _, ...unknown } = facts().deployment;
    expect(attemptCosts(facts({ deployment: unknown }))['T4']).toBe(108_000_000);
  });

  it('takes --run-timeout if the deployment has no time limit', () => {
    const limited = facts({ deployment: { gpu: 'A10G' }, deadlines: { runMs: 1_800_000 } });
    expect(attemptCosts(limited)['A10G']).toBe(707_700_000);
    expect(refusal(limited)).toBeUndefined();
  });

  it('is the price of a run where there is one, on every GPU, whatever the time limit is', () => {
    const priced = facts({ deployment: { gpu: 'fal', runPrice: 0.025 }, sheet: { lanes: [{ gpu: 'fal' }] } });
    const { '': unnamed, A10G, fal } = attemptCosts(priced);
    expect([unnamed, A10G, fal, refusal(priced)]).toEqual([25e6, 25e6, 25e6, undefined]);
  });

  it('are learned from the ends of runs at a vendor that tells them, whatever price is stated', () => {
    const at = (gpu: string, runPrice: number | 'told') =>
      costParams(facts({ deployment: { gpu, runPrice }, sheet: { lanes: [{ gpu }] } }));
    const learned = { attemptCostNano: {}, learnsCost: true };
    expect(at('router', 'told')).toEqual(learned);
    expect(at('router', 0.04)).toEqual({ ...learned, leastCostNano: 40_000_000 });
    expect(at('fal', 0.04)).toMatchObject({ attemptCostNano: { fal: 40_000_000 } });
    expect(at('fal', 0.04).learnsCost).toBeUndefined();
  });

  it('is not known where each run tells it, so that a limit needs rows that are tried first', () => {
    const told = facts({ deployment: { gpu: 'router', runPrice: 'told' } });
    expect([attemptCosts(told), refusal(told)]).toEqual([{}, undefined]);
    expect(() => refuseUntried({ ...told, maxCostNano: 1 }, undefined)).toThrow('is known once it has ended');
    expect(() => refuseUntried({ ...told, maxCostNano: 1 }, { rows: 1 })).not.toThrow();
    expect(() => refuseUntried(told, undefined)).not.toThrow();
  });

  it('names every GPU that a row can ask for, and the others of the batch', () => {
    const sheet = { lanes: [{ gpu: 'B200' }] };
    expect(Object.keys(attemptCosts(facts({ sheet })))).toEqual(
      expect.arrayContaining(['T4', 'H100', 'B200']),
    );
  });
});

describe('--max-cost without a bound of the cost', () => {
  it.each([
    [
      'time limit',
      { deployment: { gpu: 'A10G' } },
      'the service names no time limit of the runs; create the batch with --run-timeout <time>, such as 30m',
    ],
    [
      'time limit, on a service that cannot cancel runs either',
      {
        deployment: { gpu: 'A10G' },
        deadlines: { runMs: 1 },
        service: { api: 'v1', prices: {} },
      },
      'V1 names no time limit of the runs, and cannot cancel them; use the V2 address of the service, or leave --max-cost out',
    ],
    [
      'GPU',
      { deployment: { runTimeoutSeconds: 300 }, sheet: { lanes: [{}] } },
      'some rows name no GPU, and the service does not say which one the deployment has; create the batch with --gpu <gpu>',
    ],
    [
      'GPU of one lane',
      {
        deployment: { runTimeoutSeconds: 300 },
        sheet: { lanes: [{ gpu: 'T4' }, {}] },
      },
      'some rows name no GPU, and the service does not say which one the deployment has; create the batch with --gpu <gpu>',
    ],
    [
      "price of the deployment's GPU",
      { deployment: { gpu: 'Z9', runTimeoutSeconds: 300 }, sheet: { lanes: [{ gpu: 'T4' }] } },
      'the price of Z9 is not known; choose a deployment and a GPU (--gpu <gpu>) with known prices, or leave --max-cost out',
    ],
    [
      "price of a row's GPU",
      { deployment: { runTimeoutSeconds: 300 }, sheet: { lanes: [{ gpu: 'constructor' }] } },
      'the price of constructor is not known; choose a deployment and a GPU (--gpu <gpu>) with known prices, or leave --max-cost out',
    ],
    [
      'price of a vendor',
      { deployment: { gpu: 'fal', runTimeoutSeconds: 300 }, sheet: { lanes: [{ gpu: 'fal' }] } },
      'the price of fal is not known; state what the vendor asks, such as --model 0.025/run=fal:… or --model 0.0003/s=fal:…, or leave --max-cost out',
    ],
    [
      'price that can be counted',
      { service: { prices: { A10G: 1e9 } } },
      'the price of A10G is not known; choose a deployment and a GPU (--gpu <gpu>) with known prices, or leave --max-cost out',
    ],
  ] as const)('is refused, and names what is missing: the %s', (_, own, text) => {
    expect(refusal(facts(own as Partial<CostFacts>))).toBe(`--max-cost cannot be kept: ${text}`);
    expect([refusal(facts(own as Partial<CostFacts>), 'none')]).toEqual([undefined]);
    expect(() => refuseUnbounded(facts(own as Partial<CostFacts>), undefined)).not.toThrow();
  });
});
