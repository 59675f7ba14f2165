import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { MemberGrant } from '../../src/batch/pool/pool-step.ts';
import { createDelivery, POOL_GRANTS_IN_FLIGHT } from '../../workflows/pool-workflow.ts';

const grantTo = (member: string, limit = 1): MemberGrant => ({
  member,
  number: 1,
  grant: { life: 1, epoch: limit, limit },
});

/** Grants that arrive when the test says so. */
function scene() {
  const onTheirWay: { readonly sent: MemberGrant; readonly arrive: () => void }[] = [];
  const delivery = createDelivery((sent) => new Promise((arrive) => void onTheirWay.push({ sent, arrive })));
  const arrive = async (): Promise<void> => {
    onTheirWay.shift()?.arrive();
    await turn();
  };
  const sent = () => onTheirWay.map(({ sent: { member, grant } }) => `${member} ${grant.limit}`);
  return { delivery, arrive, sent };
}

describe('the delivery of grants', () => {
  it('sends a member one grant at a time, and then only the newest', async () => {
    const { delivery, arrive, sent } = scene();
    delivery.send([grantTo('a', 1), grantTo('b', 1)]);
    delivery.send([grantTo('a', 2)]);
    delivery.send([grantTo('a', 3)]);
    expect(sent()).toEqual(['a 1', 'b 1']);
    await arrive();
    expect(sent()).toEqual(['b 1', 'a 3']);
    expect(delivery.undelivered()).toEqual(['b', 'a']);
    await arrive();
    await arrive();
    expect([sent(), delivery.undelivered()]).toEqual([[], []]);
  });

  it('has only some on their way, and names all that have not arrived', async () => {
    const { delivery, arrive, sent } = scene();
    const members = Array.from({ length: 2 * POOL_GRANTS_IN_FLIGHT }, (_, at) => `m${at}`);
    delivery.send(members.map((member) => grantTo(member)));
    expect(sent()).toHaveLength(POOL_GRANTS_IN_FLIGHT);
    expect(delivery.undelivered()).toEqual(members);
    await arrive();
    expect(sent()).toHaveLength(POOL_GRANTS_IN_FLIGHT);
    expect(delivery.undelivered()).toEqual(members.slice(1));
  });
});
