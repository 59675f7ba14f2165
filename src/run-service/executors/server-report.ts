// Reports what a GPU server is and what a workflow lacks there, and whether a vendor accepts a key, without sending a run.

import { errorMessage } from '../../errors/error.ts';
import type { Vendor } from '../../options/facts/server-kind.ts';
import { openServer, type GivenServer } from './server-address.ts';
import { Unreachable } from './backend.ts';
import { classesAt } from './queueing/able-servers.ts';
import { unusableVendor } from './unusable-server.ts';
import { modelTask } from './vendors/model-task.ts';
import { faultsOf, RUN_TIMEOUT_SECONDS } from './workflow/workflow.ts';
import { readGraph, type GivenText } from './workflow/workflow-text.ts';

export type ServerReport = {
  readonly url: string;
  /** undefined if the server does not answer. */
  readonly version?: string;
  readonly gpu?: string;
  readonly waiting?: number;
  /** Reasons why the server, or each workflow, cannot execute runs. */
  readonly faults: readonly string[];
};

/** Throws E602 for a file that holds no workflow. */
export async function serverReport(
  server: GivenServer,
  workflows: readonly GivenText[],
): Promise<ServerReport> {
  const graphs = workflows.map((workflow) => ({ name: workflow.name, graph: readGraph(workflow).nodes }));
  const { url, backend } = openServer(server);
  try {
    const [{ version, gpu }, seen] = await Promise.all([backend.describe(), backend.poll([])]);
    const faults: string[] = [];
    for (const { name, graph } of graphs)
      for (const { text } of faultsOf(graph, await classesAt(backend, graph)))
        faults.push(`${name}: ${text}`);
    return { url, version, gpu, waiting: seen.size, faults };
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return { url, faults: [errorMessage(error)] };
  } finally {
    await backend.close();
  }
}

/** Asks a vendor about the key, and about a model if one is named; buys nothing. Throws E614, or E602 without such a model. */
export async function assertVendorAnswers(
  server: GivenServer & { readonly kind: Vendor },
  model: string | undefined,
): Promise<void> {
  const { url, backend } = openServer(server);
  try {
    await backend.describe();
    const task = { vendor: server.kind, name: server.kind, runTimeoutSeconds: RUN_TIMEOUT_SECONDS };
    if (model !== undefined) await modelTask({ ...task, model }, [backend], []);
  } catch (error) {
    throw error instanceof Unreachable ? unusableVendor(url, server.kind, error) : error;
  } finally {
    await backend.close();
  }
}
