// Reads the graph from a workflow file: the export for ComfyUI's API, or a file in which another tool keeps
// it.

import { z } from 'zod';
import { errorMessage, list, problem } from '../../../errors/error.ts';
import { shellWord } from '../../../errors/outside-text.ts';
import { plural } from '../../../options/text/printed-numbers.ts';
import { parseExactly } from '../../../host/formats/exact-json.ts';
import { plainJson } from '../../../host/formats/python-json.ts';
import { graphsIn, type FoundGraph } from './naming/graph-in-file.ts';
import { LiveGraph } from './naming/graph.ts';

/** Longer titles are ignored; counted in letters. */
const MAX_TITLE = 300;

const nodeSchema = z.looseObject({
  class_type: z.string().min(1),
  inputs: z.record(z.string(), z.unknown()).default({}),
  _meta: z
    .looseObject({ title: z.string().max(MAX_TITLE).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
const graphSchema = z.record(z.string(), nodeSchema).refine((graph) => Object.keys(graph).length > 0);
export type Nodes = z.output<typeof graphSchema>;

export type GivenText = {
  readonly name: string;
  readonly text: string;
  /** The path of the graph if the text holds several. */
  readonly at?: string | undefined;
  /** The name of the file that holds the text. */
  readonly file?: string | undefined;
};

/** A graph in a file, and what the user should know about its place there. */
export type ReadGraph = { readonly nodes: Nodes; readonly notes: readonly string[] };

const EXPORT = 'in ComfyUI, choose Workflow → Export (API), and give that file';

export const refuse = (name: string, why: string, hint: string, cause?: unknown): Error =>
  problem('E602', { what: `the workflow ${name} ${why}`, hint }, { cause });

/** Throws E602 for a file without a workflow in the API format, and for several graphs if none is chosen. */
export function readGraph(source: GivenText): ReadGraph {
  const { name, text } = source;
  let value: unknown;
  try {
    value = parseExactly(plainJson(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    throw refuse(name, `is not JSON: ${errorMessage(error)}`, EXPORT, error);
  }
  const chosen = chosenGraph(source, value);
  const nodes = nodesOf(name, chosen);
  const note = noteOf(source, chosen);
  return { nodes, notes: note === undefined ? [] : [note] };
}

/** Ten times the size of the largest known workflows, because some look-ups are quadratic in the number of nodes. */
const MAX_NODES = 2_000;

function nodesOf(name: string, { nodes }: FoundGraph): Nodes {
  const count = Object.keys(nodes).length;
  if (count > MAX_NODES)
    throw refuse(name, `has ${count} nodes, more than ${MAX_NODES}`, 'split it into workflows of their own');
  const graph = graphSchema.safeParse(nodes);
  if (!graph.success) throw refuse(name, 'has no nodes with a class_type and inputs', EXPORT);
  for (const [id, { class_type: nodeClass, inputs }] of Object.entries(graph.data)) {
    const fields = Object.keys(inputs);
    const longest = [id, nodeClass, ...fields].reduce((most, { length }) => Math.max(most, length), 0);
    if (longest > MAX_LETTERS || fields.length > MAX_FIELDS)
      throw refuse(
        name,
        `has a node with ${fields.length} fields and a name of ${longest} letters: at most ${MAX_FIELDS} and ${MAX_LETTERS}`,
        EXPORT,
      );
  }
  return graph.data;
}

/** Far above any real node, because patterns read names in quadratic time. */
const MAX_LETTERS = 300;
const MAX_FIELDS = 1_000;

const isMedia = (file: string): boolean => !/\.(?:json|txt)$/i.test(file) && /\.\w+$/.test(file);

/** undefined for a file that holds the graph and nothing else. */
function noteOf(
  { name, file = name }: GivenText,
  { path, nodes, leftOut, beside: around }: FoundGraph,
): string | undefined {
  const beside = around.flat();
  const isPlain = path === '$' && leftOut.length === 0 && !isMedia(file);
  if (isPlain) return undefined;
  const where = path === '$' || isMedia(file) ? '' : ` at ${path}`;
  const without =
    leftOut.length === 0
      ? ''
      : `, without ${named(leftOut)}, which ${are(leftOut)} no ${leftOut.length === 1 ? 'node' : 'nodes'}`;
  const unread = beside.length === 0 ? '' : `; ${named(beside)} beside it ${are(beside)} not read`;
  return `workflow of ${file}: ${plural(Object.keys(nodes).length, 'node')}${where}${without}${unread}`;
}

const MAX_NAMED = 5;
const are = ({ length }: readonly string[]): string => (length === 1 ? 'is' : 'are');
const named = (names: readonly string[]): string =>
  list(
    names.length <= MAX_NAMED ? names : [...names.slice(0, MAX_NAMED), `${names.length - MAX_NAMED} more`],
  );

function chosenGraph({ name, at, file = `${name}.json` }: GivenText, value: unknown): FoundGraph {
  const graphs = graphsIn(value);
  const [first, ...further] = graphs;
  const several = (): string => graphs.map((graph) => shownGraph(name, graph)).join('; ');
  const choice = (path: string): string => `--workflow ${shellWord(`${file}#${path}`)}`;
  if (at !== undefined) {
    const chosen = graphs.find(({ path, also }) => path === at || also.includes(at));
    if (chosen !== undefined) return chosen;
    if (first === undefined) throw refuse(name, `has no graph at ${at}`, EXPORT);
    throw refuse(
      name,
      `has no graph at ${at}, but ${several()}`,
      `name one after the file: ${choice(first.path)}`,
    );
  }
  if (first !== undefined && further.length === 0) return first;
  if (first !== undefined)
    throw refuse(
      name,
      `has ${graphs.length} different graphs: ${several()}`,
      `name one after the file: ${graphs
        .slice(0, MAX_NAMED)
        .map(({ path }) => choice(path))
        .join(', or ')}`,
    );
  if (hasEditors(value, EDITORS_DEPTH)) throw refuse(name, 'is in the format of the editor', EXPORT);
  throw refuse(name, 'has no nodes with a class_type and inputs', EXPORT);
}

const EDITORS_DEPTH = 4;

/** Whether a value is or holds a workflow in the editor's format. */
function hasEditors(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  if ('nodes' in value && Array.isArray(value.nodes) && 'links' in value) return true;
  return Object.values(value).some((child) => hasEditors(child, depth - 1));
}

/** Formats `$.workflows[1] (7 nodes, saved by 9 SaveImage)`. */
function shownGraph(name: string, graph: FoundGraph): string {
  const nodes = nodesOf(name, graph);
  const live = new LiveGraph(nodes, undefined);
  const savers = Object.keys(nodes)
    .filter((node) => live.isOutput(node))
    .map((node) => `${node} ${nodes[node]?.class_type ?? ''}`);
  const saved = savers.length === 0 ? '' : `, saved by ${named(savers)}`;
  return `${graph.path} (${plural(Object.keys(nodes).length, 'node')}${saved})`;
}
