// Workflows as other tools keep them: the graph of a file stands at its top, inside the request of another program, or as a text.

import { parseExactly } from '../../../../host/exact-json.ts';

/** A graph within a file: where it stands, and the keys beside its nodes that are left out. */
export type FoundGraph = {
  /** As `$.input.workflow`; `$` is the whole file. */
  readonly path: string;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly leftOut: readonly string[];
};

const DEPTH_MAX = 6;
/** Keys beside the nodes, such as `version` or `_comment`. */
const OTHERS_MAX = 3;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNode = (value: unknown): boolean =>
  isObject(value) && typeof value['class_type'] === 'string' && value['class_type'] !== '';

/** Returns every graph below a value, each with its path; equal graphs once, the first of them. */
export function graphsIn(value: unknown): readonly FoundGraph[] {
  const found = new Map<string, FoundGraph>();
  for (const graph of below(value, '$', 0)) {
    const text = JSON.stringify(graph.nodes);
    if (!found.has(text)) found.set(text, graph);
  }
  return [...found.values()];
}

function below(value: unknown, path: string, depth: number): readonly FoundGraph[] {
  if (typeof value === 'string') return depth <= DEPTH_MAX ? below(parsed(value), path, depth + 1) : [];
  const graph = isObject(value) ? graphOf(value, path) : undefined;
  if (graph !== undefined) return [graph];
  if (depth >= DEPTH_MAX || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    below(child, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, depth + 1),
  );
}

/** A text that holds a graph as JSON; undefined for any other. */
function parsed(text: string): unknown {
  if (!text.startsWith('{') || !text.includes('class_type')) return undefined;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** An object of nodes, with few other keys. */
function graphOf(value: Readonly<Record<string, unknown>>, path: string): FoundGraph | undefined {
  const entries = Object.entries(value);
  const nodes = entries.filter(([, child]) => isNode(child));
  const leftOut = entries.filter(([, child]) => !isNode(child)).map(([key]) => key);
  if (nodes.length === 0 || nodes.length <= leftOut.length || leftOut.length > OTHERS_MAX) return undefined;
  return { path, nodes: Object.fromEntries(nodes), leftOut };
}
