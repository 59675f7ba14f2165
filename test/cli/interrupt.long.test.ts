import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGateway, type Gateway } from '../stage/gateway.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 40;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 8, runSeconds: 0.3 });

describe('Ctrl-C in a command with embedded servers', () => {
  let stage = new Stage();
  let gateway: Gateway;
  /** Settled, the gateway gives the answers that it holds back. */
  let answering: PromiseWithResolvers<void>;

  beforeEach(async () => {
    stage = new Stage();
    const service = await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    answering = Promise.withResolvers();
    gateway = await openGateway(service.base, answering.promise);
    stage.environment = { ...stage.environment, RUNSHEET_API_URL: gateway.base };
  });
  afterEach(async () => {
    await stage.close();
    await gateway.close();
  });

  it('waits for pending requests, a second Ctrl-C does not, and the repeated command loses nothing and buys nothing twice', async () => {
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '8'];
    const first = stage.start(args);
    await first.says(/progress state=/);
    await until(() => gateway.inFlight() > 0, 'calls are on the wire');
    first.child.kill('SIGINT');
    await first.says(/\d requests? on the wire/);
    expect([first.child.exitCode, gateway.inFlight() > 0]).toEqual([null, true]);
    answering.resolve();
    const stopped = await first.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toMatch(/^stopping; \d+ of 40 rows done/m);
    expect(stopped.stderr).toMatch(/\n {2}continue {2}runsheet resume \S+\n$/);
    expect(gateway.inFlight()).toBe(0);

    await gateway.close();
    gateway = await openGateway(gateway.service, new Promise(() => undefined), gateway.port);

    const second = stage.start(args);
    await second.says(/progress state=/);
    await until(() => gateway.inFlight() > 0, 'calls are on the wire again');
    second.child.kill('SIGINT');
    await second.says(/\d requests? on the wire/);
    second.child.kill('SIGINT');
    expect((await second.ended).code).toBe(130);
    expect(gateway.inFlight()).toBeGreaterThan(0);

    await gateway.close();
    gateway = await openGateway(gateway.service, 0, gateway.port);
    const last = await stage.run(args);
    expect(last.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });
});
