// The workflow of a run as a stand-in got it.

import type { Graph } from './node-classes.ts';
import type { ComfyStandIn } from './stand-in.ts';

/** The graph of a run that has ended. */
export async function sentTo(gpu: ComfyStandIn, run: string): Promise<Graph> {
  const answer = await fetch(`${gpu.url}/history/${run}`);
  const history = (await answer.json()) as Readonly<Record<string, { readonly prompt: readonly unknown[] }>>;
  const entry = history[run];
  if (entry === undefined) throw new Error(`the run ${run} has no end at ${gpu.url}`);
  return entry.prompt[2] as Graph;
}
