// Reads the service's own run list.

import { parseExactly } from '../src/host/formats/exact-json.ts';
import { runListSchema, type Run } from '../src/service-client/contract/run.ts';
import { KEY } from './servers.ts';

const headers = { authorization: `Bearer ${KEY}` };
const PAGE = 1_000;
const RECENT = 3_000;

/** Lists the runs of a deployment, with their inputs. */
export async function allRuns(base: string, deployment: string): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (;;) {
    const pageRuns = await page(base, deployment, `with_inputs=true&limit=${PAGE}&offset=${runs.length}`);
    runs.push(...pageRuns);
    if (pageRuns.length < PAGE) return runs;
  }
}

/** The runs of at least the last minute. */
export const recentRuns = (base: string, deployment: string): Promise<readonly Run[]> =>
  page(base, deployment, `limit=${RECENT}&offset=0`);

async function page(base: string, deployment: string, query: string): Promise<readonly Run[]> {
  const deployments = (await (await fetch(`${base}/deployments`, { headers })).json()) as {
    readonly name: string;
    readonly workflow_id: string;
  }[];
  const { workflow_id = '' } = deployments.find(({ name }) => name === deployment) ?? {};
  const answer = await fetch(`${base}/workflow/${workflow_id}/runs?${query}`, { headers });
  return runListSchema.parse(parseExactly(await answer.text()));
}
