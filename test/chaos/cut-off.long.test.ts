// Cuts a worker's network for a while: to Temporal, to the run service (including webhooks from it), or to both.

import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGateway, type Gateway } from '../stage/gateway.ts';
import { IS_LONG, OUTAGE_MS } from '../stage/outage.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';
import { expectAllOnce, underWay } from '../stage/truth.ts';
import { freeAddress } from '../stage/free-port.ts';
import { openWire, type Cut, type Wire } from '../stage/wire.ts';

const ROWS = 300;
const CAP = 24;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: CAP, runSeconds: 0.5, runSpread: 0.5 });

type Network = { readonly temporal: Wire; readonly service: Wire; readonly webhooks: Wire };

describe('a worker whose network is cut in the middle of a group and repaired long after', () => {
  let stage = new Stage();
  let gateway: Gateway;
  let network: Network;
  let base = '';

  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    ({ base } = await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]));
    gateway = await openGateway(base, 200);
    const listen = await freeAddress();
    network = {
      temporal: await openWire(stage.environment['TEMPORAL_ADDRESS'] ?? ''),
      service: await openWire(`127.0.0.1:${gateway.port}`),
      webhooks: await openWire(listen),
    };
    const { pathname } = new URL(base);
    stage.environment = {
      ...stage.environment,
      RUNSHEET_API_URL: `http://${network.service.address}${pathname}`,
    };
    await stage.worker({
      TEMPORAL_ADDRESS: network.temporal.address,
      RUNSHEET_WEBHOOK_LISTEN: listen,
      RUNSHEET_WEBHOOK_URL: `http://${network.webhooks.address}`,
    });
  });
  afterEach(async () => {
    await stage.close();
    await Promise.all([gateway, ...Object.values(network)].map((relay) => relay.close()));
  });

  const CUTS: readonly [string, readonly (keyof Network)[], Cut][] = [
    ['from both, in silence', ['temporal', 'service', 'webhooks'], 'silence'],
  ];
  const MORE: typeof CUTS = [
    ['from Temporal, in silence', ['temporal'], 'silence'],
    ['from the run service, in silence', ['service', 'webhooks'], 'silence'],
    ['from both, with resets', ['temporal', 'service', 'webhooks'], 'resets'],
    ['from Temporal, with resets', ['temporal'], 'resets'],
    ['from the run service, with resets', ['service', 'webhooks'], 'resets'],
  ];

  it.each([...CUTS, ...(IS_LONG ? MORE : [])])(
    'nothing is lost, nothing is bought twice: %s',
    async (_, ways, how) => {
      const batch = await stage.submit(ROWS, CAP);
      await underWay(stage, ROWS / 4, () => gateway.inFlight() > 0);
      for (const way of ways) network[way].cut(how);
      await wait(OUTAGE_MS);
      // Without the cut, all rows would have been sent by now.
      expect((await stage.truth(base)).length).toBeLessThan(ROWS);
      for (const way of ways) network[way].repair();

      await expectAllOnce(stage, batch, ROWS, CAP);
    },
    180_000 + 2 * OUTAGE_MS,
  );
});
