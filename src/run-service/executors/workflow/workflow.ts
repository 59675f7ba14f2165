// Turns a workflow file into a deployment: its inputs, their bounds, and the faults that keep it from
// running. The id depends on what the workflow does, so that an edited file is another deployment and never
// silently continues a batch.

import { canonical } from '../../../host/formats/canonical-json.ts';
import { list } from '../../../errors/error.ts';
import { uuidOf } from '../../identity.ts';
import type { Graph } from '../backend.ts';
import { LiveGraph } from './naming/graph.ts';
import { namesBefore } from './naming/names-before.ts';
import { ownTitleOf } from './naming/titles.ts';
import { faultIn, faultsOf, helpFor, type Classes } from './workflow-faults.ts';
import { inputsOf, type InputType } from './workflow-inputs.ts';
import { refuse, type Nodes } from './workflow-text.ts';

export type Workflow = {
  /** Tasks of other kinds have one. */
  readonly kind?: undefined;
  readonly id: string;
  readonly name: string;
  readonly graph: Graph;
  readonly inputs: readonly InputType[];
  /** The owner's titles of output nodes; undefined for a workflow stored before titles were recorded. */
  readonly titles?: Readonly<Record<string, string>>;
  /** The titles of all nodes, for the graph in a saved picture; undefined for a workflow stored before titles were recorded. */
  readonly nodeTitles?: Readonly<Record<string, string>>;
  /** Nodes whose files need a prefix of their own, because their names would collide with those of other runs. */
  readonly savers: readonly string[];
  /** Whether the workflow calls a paid service elsewhere, so that it must not be repeated on suspicion. */
  readonly isPaid: boolean;
  readonly runTimeoutSeconds: number;
};

export const RUN_TIMEOUT_SECONDS = 3_600;

export const classesOf = (graph: Nodes | Graph): readonly string[] => [
  ...new Set(Object.values(graph).map(({ class_type }) => class_type)),
];

/** `fields`: names for inputs, such as `{ prompt: ['6.text'] }`. Throws E602 with everything that keeps the workflow from running. */
export function workflowOf(
  name: string,
  nodes: Nodes,
  classes: Classes,
  named: Readonly<Record<string, readonly string[]>> = {},
): Workflow {
  const faults = faultsOf(nodes, classes);
  if (faults.length > 0)
    throw refuse(name, `cannot run: ${faults.map(({ text }) => text).join('; ')}`, helpFor(faults));
  const inputs = inputsOf(name, nodes, classes, named);
  const graph: Graph = Object.fromEntries(
    Object.entries(nodes).map(([node, { class_type, inputs: own }]) => [node, { class_type, inputs: own }]),
  );
  const executed = withSavedPreviews(graph, classes);
  return {
    id: uuidOf('workflow file', canonical(graph), JSON.stringify(namesBefore(nodes, named))),
    name,
    graph: executed,
    inputs,
    titles: titlesOfOutputs(new LiveGraph(nodes, classes)),
    nodeTitles: Object.fromEntries(
      Object.entries(nodes).flatMap(([node, { _meta: meta }]) =>
        meta?.title === undefined ? [] : [[node, meta.title]],
      ),
    ),
    savers: Object.keys(executed).filter((node) => executed[node]?.inputs['filename_prefix'] !== undefined),
    isPaid: classesOf(nodes).some((className) => classes?.get(className)?.isPaid === true),
    runTimeoutSeconds: RUN_TIMEOUT_SECONDS,
  };
}

const titlesOfOutputs = (graph: LiveGraph): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(graph.nodes)
      .filter((node) => graph.isOutput(node))
      .flatMap((node) => {
        const title = ownTitleOf(graph, node);
        return title === undefined ? [] : [[node, title]];
      }),
  );

/** Classes that save what a class of ComfyUI only shows. */
const SAVERS: Readonly<Record<string, string>> = { PreviewImage: 'SaveImage', PreviewAudio: 'SaveAudio' };

/** A workflow that only shows its pictures is executed with savers in place of previews. */
function withSavedPreviews(graph: Graph, classes: Classes): Graph {
  const saved = new Map(
    new LiveGraph(graph, classes).savedPreviews().map((node) => [node, savedPreview(graph[node])]),
  );
  return Object.fromEntries(Object.entries(graph).map(([node, own]) => [node, saved.get(node) ?? own]));
}

function savedPreview(shown: Graph[string] | undefined): Graph[string] | undefined {
  if (shown === undefined) return undefined;
  const { class_type: name, inputs } = shown;
  const saver = Object.hasOwn(SAVERS, name) ? SAVERS[name] : undefined;
  if (saver !== undefined) return { class_type: saver, inputs: { ...inputs, filename_prefix: 'runsheet' } };
  return inputs['save_output'] === false ? { ...shown, inputs: { ...inputs, save_output: true } } : undefined;
}

/** Choices of the workflow that its servers do not list; the class decides whether ComfyUI accepts them. */
export const doubtsOf = ({ inputs }: Workflow): readonly string[] => [
  ...new Set(
    inputs.flatMap(({ options, default: usual, fields, node, isIdle }) => {
      const [field] = fields;
      const why = faultIn(usual, { options });
      return why === undefined || field === undefined || isIdle === true || field.part !== undefined
        ? []
        : [
            `may be refused by the first run: node ${field.node} (${node?.class ?? ''}): ${field.field} ${why}`,
          ];
    }),
  ),
];

/** How the executed graph differs from the workflow; undefined if it does not. */
export function changeIn(nodes: Nodes, { graph }: Pick<Workflow, 'graph'>): string | undefined {
  const changed = Object.keys(graph).filter((node) => {
    const [before, now] = [nodes[node], graph[node]];
    return (
      before?.class_type !== now?.class_type || before?.inputs['save_output'] !== now?.inputs['save_output']
    );
  });
  if (changed.length === 0) return undefined;
  const shown = changed.map((node) => `${node} (${nodes[node]?.class_type ?? ''})`);
  return `saves nothing: what ${list(shown)} ${changed.length === 1 ? 'shows' : 'show'} is saved instead`;
}

export type { Field, InputType } from './workflow-inputs.ts';
export { faultsOf, type Classes } from './workflow-faults.ts';
