import type { Client } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunCompletion } from '../../src/batch/events.ts';
import { outcomeOf } from '../../src/service-client/run-outcome.ts';
import { batchSignals } from '../../src/temporal/batch-control.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { replay } from '../histories/replay.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 32;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 8, runSeconds: 2.5, runSpread: 0 });

// A query waits in the sticky queue of a dead worker. When another worker takes it, the server includes all current
// events, even those for which no workflow task has started yet, and the SDK applies them immediately. The history
// would not contain the commands that the workflow issues then.
describe('a query that a dead worker leaves behind', () => {
  let stage = new Stage();
  let client: Client;
  let disconnect = async (): Promise<void> => undefined;

  beforeEach(async () => {
    stage = new Stage();
    await stage.cluster(DEPLOYMENTS);
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    ({ client, close: disconnect } = await connectClient({
      address,
      namespace,
      from: 'the test',
      options: {},
    }));
  });
  afterEach(async () => {
    await disconnect();
    await stage.close();
  });

  it('does not make the next worker write a history that no worker can replay', async () => {
    const worker = await stage.worker();
    const batch = await stage.submit(ROWS, 8);
    // All slots are used, so nothing happens until their runs end.
    await until(async () => (await stage.truth()).length >= 16, 'a second wave is under way');
    await stage.worker();
    await worker.kill('SIGKILL');

    const name = stage.batchFile();
    const signals = batchSignals(client);
    // The query that Temporal's web interface sends when a user opens a workflow.
    const query = client.workflow
      .getHandle(workflowIdOf(name))
      .query('__temporal_workflow_metadata')
      .catch((error: unknown) => error);
    await until(async () => (await completionsOf(stage, 8)).length >= 8, 'the second wave has ended');
    const [first, ...laterEnds] = await completionsOf(stage, 8);
    await signals.runsCompleted(name, 'poll', first ? [first] : []);
    await query;
    await signals.runsCompleted(name, 'poll', laterEnds);

    const waited = await stage.run(['wait', batch]);
    expect(waited.code).toBe(0);
    expect(waited.stderr).toMatch(/, 0 bought twice, \$[\d.]+ estimated, 2 workers\n$/);
    expectOneRunPerRow(await stage.truth(), ROWS);
    const history = await client.workflow.getHandle(workflowIdOf(name)).fetchHistory();
    await expect(replay(history)).resolves.toBeUndefined();
  });
});

/** The completions of all runs after the first `after`, as a poll would signal them. */
async function completionsOf(stage: Stage, after: number): Promise<readonly RunCompletion[]> {
  const ended = (await stage.truth()).slice(after).filter((run) => outcomeOf(run).kind === 'ended');
  return ended.map((run) => {
    const { place = 0, attempt = 0 } = readToken(run.webhook) ?? {};
    return { place, attempt, runId: run.id, outcome: 'succeeded' };
  });
}
