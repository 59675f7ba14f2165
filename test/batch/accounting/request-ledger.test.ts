import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NO_LEDGER,
  atRisk,
  enterAccepted,
  enterAdopted,
  enterDuplicate,
  enterPost,
  enterResolved,
  knownRuns,
  stillUnconfirmed,
} from '../../../src/batch/accounting/request-ledger.ts';
import type { PostClass } from '../../../src/batch/classify-response.ts';

const CLASSES: readonly PostClass[] = [
  'accepted',
  'rejected',
  'not-sent',
  'throttled',
  'blocked',
  'unconfirmed',
];
const FOUR = Array.from({ length: 4 }, () => 'unconfirmed' as const).reduce(enterPost, NO_LEDGER);

describe('request ledger', () => {
  it('the request ledger adds up however POSTs end', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...CLASSES)), (posts) => {
        const ledger = posts.reduce(enterPost, NO_LEDGER);
        const { sent, accepted, rejected, throttled, blocked, unconfirmed } = ledger;
        expect(sent).toBe(posts.filter((post) => post !== 'not-sent').length);
        expect(sent).toBe(accepted + rejected + throttled + blocked + unconfirmed);
        expect(stillUnconfirmed(ledger)).toBe(unconfirmed);
      }),
    );
  });

  it('the request ledger resolves each unconfirmed attempt once, one way or the other', () => {
    const adopted = enterAdopted(enterAdopted(FOUR, 'webhook'), 'list');
    expect(adopted.adopted).toEqual({ webhook: 1, list: 1 });
    expect(stillUnconfirmed(adopted)).toBe(2);
    expect(stillUnconfirmed(enterResolved(enterResolved(adopted, 'absent'), 'unknown'))).toBe(0);
  });

  it('the request ledger counts as money at risk what may be a run that was never seen, and not what was proved absent', () => {
    const resolved = (['absent', 'unknown', 'resubmitted', 'failed'] as const).reduce(enterResolved, FOUR);
    expect(atRisk(resolved)).toBe(3);
    expect(stillUnconfirmed(resolved)).toBe(0);
  });

  it('the request ledger takes a POST that seemed to be turned away for accepted once its run turns up', () => {
    const throttled = enterPost(NO_LEDGER, 'throttled');
    expect(enterAccepted(throttled, 'throttled')).toMatchObject({ sent: 1, throttled: 0, accepted: 1 });
    const notSent = enterPost(NO_LEDGER, 'not-sent');
    expect(enterAccepted(notSent, undefined)).toMatchObject({ sent: 1, accepted: 1 });
  });

  it('the request ledger knows the runs that rows name, and counts duplicates beside them', () => {
    const accepted = enterDuplicate(enterPost(FOUR, 'accepted'));
    const ledger = (['webhook', 'webhook', 'list'] as const).reduce(enterAdopted, accepted);
    expect([knownRuns(ledger), ledger.duplicates]).toEqual([4, 1]);
  });
});
