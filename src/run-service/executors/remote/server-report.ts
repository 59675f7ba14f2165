// Reports what a GPU server is and what a workflow lacks there, without sending it a run.

import { errorMessage } from '../../../errors/error.ts';
import { openServer, type GivenServer } from './server-address.ts';
import { Unreachable } from './backend.ts';
import { classesAt } from './able-servers.ts';
import { faultsOf } from './workflow.ts';
import { readGraph, type GivenText } from './workflow-text.ts';

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
