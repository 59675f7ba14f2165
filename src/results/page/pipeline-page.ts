// The page of a pipeline: its stages, their progress, and the page of each. A change of a stage rewrites the page.

import { htmlJson, terminalLine } from '../../errors/outside-text.ts';
import { programName } from '../../host/package-version.ts';
import type { OutcomeCounts } from '../../batch/outcome.ts';
import { htmlPage } from './page-source.ts';

export type PipelineStage = {
  readonly name: string;
  readonly deployment: string;
  readonly state: string;
  /** Why it does not advance, and the command that helps. */
  readonly reason: string;
  readonly help: string;
  /** The folder of its batch, which has its page. */
  readonly batch: string | undefined;
  readonly rows: number | undefined;
  readonly outcomes: OutcomeCounts | undefined;
  readonly costUsd: number | undefined;
};

const factsOf = (pipeline: string, stages: readonly PipelineStage[]) => ({
  pipeline: terminalLine(pipeline),
  program: programName(),
  stages: stages.map(({ name, deployment, reason, help, ...stage }) => ({
    ...stage,
    name: terminalLine(name),
    deployment: terminalLine(deployment),
    reason: terminalLine(reason),
    help: terminalLine(help),
  })),
});
export type PipelineFacts = ReturnType<typeof factsOf>;

/** undefined if `shown` is the page of these stages already. */
export async function pipelinePage(
  pipeline: string,
  stages: readonly PipelineStage[],
  shown: string | undefined,
): Promise<string | undefined> {
  const facts = factsOf(pipeline, stages);
  if (shown?.includes(htmlJson(facts))) return undefined;
  const pieces = await Array.fromAsync(
    htmlPage({ name: 'pipeline', title: facts.pipeline, facts, blobs: [] }),
  );
  return pieces.join('');
}
