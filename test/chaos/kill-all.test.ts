import { afterEach, describe, expect, it } from 'vitest';
import { openGateway, type Gateway } from '../stage/gateway.ts';
import { IS_LONG } from '../stage/outage.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';
import { expectOneRunPerRow, mostOutstanding } from '../stage/truth.ts';

const ROWS = 160;
const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 24,
  coldStartSeconds: 0.1,
  runSeconds: 0.8,
  runSpread: 0.3,
});

/** Resolves when the service has taken this many calls, while the worker waits for the answer to the last of them. */
const taken = ({ calls, atNext }: Gateway, enough: number): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => (calls.length < enough ? atNext('taken', look) : resolve());
    look();
  });

describe('SIGKILL of the whole process tree in the middle of a batch', () => {
  let stage = new Stage();
  let gateway: Gateway | undefined;
  afterEach(async () => {
    await stage.close();
    await gateway?.close();
  });

  it.each([
    ['a service that drops every twentieth response', ['--fault', 'drop-answer=0.05']],
    ...(IS_LONG ? [['a service without faults', []] satisfies [string, string[]]] : []),
  ] satisfies [string, string[]][])(
    'the same command again finishes every row, and no row has two runs: %s',
    async (_, faults) => {
      stage = new Stage();
      const deployments = stage.write('deployments.json', DEPLOYMENTS);
      const service = await stage.service(['--deployments', deployments, ...faults]);
      gateway = await openGateway(service.base, 200);
      stage.environment = { ...stage.environment, RUNSHEET_API_URL: gateway.base };
      const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '24'];

      for (const enough of [40, 90]) {
        const command = stage.start(args);
        await taken(gateway, enough);
        await command.killTree();
      }

      const last = await stage.run(args);
      expect(last.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
      expect(last.stderr).toMatch(
        /\n160 rows, 160 runs, 0 bought twice, \$[\d.]+ estimated, survived 2 restarts\n/,
      );
      expect(last.code).toBe(0);
      const runs = await stage.truth();
      expectOneRunPerRow(runs, ROWS);
      expect(mostOutstanding(runs)).toBeLessThanOrEqual(24);
      expect(stage.results().map(({ row }) => Number(row))).toEqual(
        Array.from({ length: ROWS }, (__, at) => at + 1),
      );
    },
  );
});
