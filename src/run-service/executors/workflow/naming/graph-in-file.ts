// Finds workflows in the files of other tools: the graph is at the top, inside another program's request, or
// a JSON text.

import { parseExactly } from '../../../../host/formats/exact-json.ts';
import { plainJson } from '../../../../host/formats/python-json.ts';

/** A graph within a file: its path, and the members that are left out. */
export type FoundGraph = {
  /** A path such as `$.input.workflow`; `$` is the whole file. */
  readonly path: string;
  /** The paths of equal graphs. */
  readonly also: readonly string[];
  readonly nodes: Readonly<Record<string, unknown>>;
  /** Keys among the nodes that are not nodes. */
  readonly leftOut: readonly string[];
  /**
   * Values of each enclosing object, such as `$.input.images`, which a wrapping program may mean as inputs.
   * The graphs of one object share its list.
   */
  readonly beside: readonly (readonly string[])[];
};

type Json = Readonly<Record<string, unknown>>;
/** The surroundings of a value. */
type GraphPlace = { readonly path: string; readonly depth: number };

const MAX_DEPTH = 6;
/** How many keys beside the nodes are tolerated, such as `version` or `_comment`. */
const MAX_OTHERS = 3;
/** Members of a request that say nothing about the inputs of its graph. */
const NO_VALUES: ReadonlySet<string> = new Set(
  'client_id prompt_id extra_data extra_pnginfo number front id name title version description createdAt updatedAt'.split(
    ' ',
  ),
);

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNode = (value: unknown): boolean =>
  isObject(value) && typeof value['class_type'] === 'string' && value['class_type'] !== '';

/** Returns every graph below a value with its path; of equal graphs, the first. */
export function graphsIn(value: unknown): readonly FoundGraph[] {
  const graphs = below(value, { path: '$', depth: 0 });
  return [...Map.groupBy(graphs, ({ nodes }) => JSON.stringify(nodes)).values()].map(([first, ...equal]) => ({
    ...(first as FoundGraph),
    also: equal.map(({ path }) => path),
  }));
}

function below(value: unknown, around: GraphPlace): readonly FoundGraph[] {
  const { path, depth } = around;
  if (typeof value === 'string')
    return depth <= MAX_DEPTH ? below(parsed(value), { ...around, depth: depth + 1 }) : [];
  const graph = isObject(value) ? graphOf(value, around) : undefined;
  if (graph !== undefined) return [graph];
  if (depth >= MAX_DEPTH || typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  const at = (key: string): string => (isList ? `${path}[${key}]` : `${path}.${key}`);
  const children = Object.entries(value).map(
    ([key, child]) => [key, child, below(child, { path: at(key), depth: depth + 1 })] as const,
  );
  // A member that holds another graph is not a value.
  const values = isList
    ? []
    : children
        .filter(([key, child, graphs]) => graphs.length === 0 && isMeant(key, child))
        .map(([key]) => at(key));
  return children.flatMap(([, , graphs]) =>
    graphs.map((inner) => ({ ...inner, beside: [values, ...inner.beside] })),
  );
}

/** Whether a value beside a graph may be meant for its inputs. */
const isMeant = (key: string, value: unknown): boolean =>
  value !== null && value !== '' && !NO_VALUES.has(key) && !isEditors(value);

/** Whether a value is the same workflow in the editor's format. */
const isEditors = (value: unknown): boolean =>
  typeof value === 'string'
    ? /"nodes"\s*:\s*\[/.test(value)
    : isObject(value) && Array.isArray(value['nodes']);

/** Parses a text that holds a graph as JSON; undefined for any other text. */
function parsed(text: string): unknown {
  if (!/^\s*\{/.test(text) || !text.includes('class_type')) return undefined;
  try {
    return parseExactly(plainJson(text));
  } catch {
    return undefined;
  }
}

/** The graph in an object of nodes with few other keys. */
function graphOf(value: Json, { path }: GraphPlace): FoundGraph | undefined {
  const entries = Object.entries(value);
  const nodes = entries.filter(([, child]) => isNode(child));
  const leftOut = entries.filter(([, child]) => !isNode(child)).map(([key]) => key);
  if (nodes.length === 0 || nodes.length <= leftOut.length || leftOut.length > MAX_OTHERS) return undefined;
  return { path, also: [], nodes: Object.fromEntries(nodes), leftOut, beside: [] };
}
