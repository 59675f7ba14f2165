// Numbers of a deployment and of the flags, held against each other before anything is sent.

import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../src/batch/params.ts';
import { RunsheetError } from '../../src/errors/error.ts';
import { refuseTooSoon, usableDeployment } from '../../src/batches/batch-request.ts';
import { deploymentSchema, type Deployment } from '../../src/service-client/contract/deployment.ts';

const deployment = (wire: object): Deployment =>
  deploymentSchema.parse({ id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d', name: 'portraits', ...wire });

/** No flag stands in for a number of the deployment. */
const NOTHING = { deadlines: {} };

function refusal(work: () => unknown): RunsheetError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError) return error;
    throw error;
  }
}

describe('the concurrency limit of a deployment', () => {
  it.each([0, -5, 2.5, 1e9])('is refused as %d, and --concurrency replaces it', (limit) => {
    const wrong = deployment({ concurrency_limit: limit });
    expect(refusal(() => usableDeployment(wrong, NOTHING))).toMatchObject({
      code: 'E311',
      exit: 5,
      message: `the deployment "portraits" has the concurrency limit ${limit}, which is not a whole number from 1 to 100,000`,
      hint: expect.stringContaining('--concurrency'),
    });
    expect(usableDeployment(wrong, { concurrency: 4, deadlines: {} }).concurrencyLimit).toBeUndefined();
  });

  it.each([1, 4, undefined])('is read as %s', (limit) => {
    const right = deployment(limit === undefined ? {} : { concurrency_limit: limit });
    expect(usableDeployment(right, NOTHING)).toEqual(right);
  });
});

describe('the run time-out of a deployment', () => {
  it.each([0, -1, 1e12])('is refused as %d, and --run-timeout replaces it', (seconds) => {
    const wrong = deployment({ run_timeout: seconds });
    expect(refusal(() => usableDeployment(wrong, NOTHING))).toMatchObject({
      code: 'E311',
      message: expect.stringContaining(`run time-out ${seconds}`),
      hint: expect.stringContaining('--run-timeout'),
    });
    expect(usableDeployment(wrong, { deadlines: { runMs: 60_000 } }).runTimeoutSeconds).toBeUndefined();
  });

  it('is used if it is valid', () => {
    expect(usableDeployment(deployment({ run_timeout: 0.3 }), NOTHING).runTimeoutSeconds).toBe(0.3);
  });
});

describe('resubmitting', () => {
  const resubmit = (afterMs: number) => ({ unconfirmed: { rule: 'resubmit', afterMs } }) as const;

  it('must wait until an accepted run would be visible', () => {
    expect(refusal(() => refuseTooSoon(resubmit(419_000), DEFAULT_TIMING))).toMatchObject({
      code: 'E602',
      exit: 2,
      message: expect.stringContaining('resubmit-after=419s'),
      hint: expect.stringContaining('at least 420s'),
    });
    expect(refusal(() => refuseTooSoon(resubmit(420_000), DEFAULT_TIMING))).toBeUndefined();
  });

  it('is the only rule that must wait', () => {
    for (const unconfirmed of [{ rule: 'fail', afterMs: 1 }, { rule: 'ask' }] as const)
      expect(refusal(() => refuseTooSoon({ unconfirmed }, DEFAULT_TIMING))).toBeUndefined();
    expect(refusal(() => refuseTooSoon({}, DEFAULT_TIMING))).toBeUndefined();
  });
});
