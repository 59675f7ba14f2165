// Finds where the value of a field is stored: in the field itself, or, over links, in another node.

import {
  isDisplay,
  isLiteral,
  linkIn,
  rememberedFor,
  type GraphNode,
  type Link,
  type LiveGraph,
} from './graph.ts';

/** A field with a value of its own, NODE.FIELD in text form. */
export type FieldPlace = { readonly node: string; readonly field: string };

export const pathOf = ({ node, field }: FieldPlace): string => `${node}.${field}`;

/** Memoized paths of places, which are compared often. */
export const pathsOf = rememberedFor(
  (places: readonly FieldPlace[]): ReadonlySet<string> => new Set(places.map(pathOf)),
);

export const valueAt = ({ nodes }: LiveGraph, { node, field }: FieldPlace): unknown =>
  nodes[node]?.inputs[field];

/** Fields of nodes that carry one value. */
const CARRIES = /^(?:value|int|float|number|text|string|seed|boolean|combo|choice|default_value|xi|xf|x)$/i;
/** Nodes that pass their input on. */
const HANDS_ON = /reroute|switch|^primitivenode$/i;
/** The link that selects the branch of a switch. */
const CHOOSES = /^(?:switch|boolean|condition|flag|enabled?)$/i;
/** Nodes that know sizes by name ignore their own fields, unless they are told to use them. */
const PRESETS = /aspect|ratio|preset|resolution|dimensions|template|model/i;
const OWN_SIZE = /^(?:custom|manual|none|off|disabled)\b/i;

/** The selected branch of a switch whose boolean is known. */
export function branchOf({ nodes }: LiveGraph, id: string): Link | undefined {
  const { inputs } = nodes[id] as GraphNode;
  const flag = Object.values(inputs).find((value) => typeof value === 'boolean') ?? flagOver(nodes, inputs);
  if (flag === undefined) return undefined;
  const side = flag ? /(?:^|_)(?:on_)?true$/i : /(?:^|_)(?:on_)?false$/i;
  const field = Object.keys(inputs).find((name) => side.test(name));
  return field === undefined ? undefined : linkIn(inputs[field]);
}

/** The boolean that a node of one value gives to a switch. Chains of nodes are not followed, which could take long. */
function flagOver(nodes: LiveGraph['nodes'], inputs: GraphNode['inputs']): boolean | undefined {
  const link = linkIn(inputs[Object.keys(inputs).find((name) => CHOOSES.test(name)) ?? '']);
  const source = link && nodes[link.node];
  if (link === undefined || source === undefined || linksOf(source).length > 0) return undefined;
  const value = source.inputs[carriedBy(source, link.slot) ?? ''];
  return typeof value === 'boolean' ? value : undefined;
}

/** Links except those that select a branch. */
export const linksOf = rememberedFor(
  ({ inputs }: GraphNode): readonly (readonly [field: string, link: Link])[] =>
    Object.entries(inputs).flatMap(([field, value]) => {
      const link = linkIn(value);
      return link === undefined ? [] : [[field, link] as const];
    }),
);

/** The place that holds a field's value; undefined if the value is calculated or cannot be filled in. */
export function placeOf(graph: LiveGraph, node: string, field: string): FieldPlace | undefined {
  const value = graph.nodes[node]?.inputs[field];
  if (isLiteral(value)) return isDisplay(graph.nodes[node] as GraphNode) ? undefined : { node, field };
  const link = linkIn(value);
  return link === undefined ? undefined : sourceOf(graph, link, field);
}

/** Memoized sources of links in a graph, because many fields depend on one chain of nodes. */
const sourcesIn = rememberedFor<LiveGraph, Map<string, FieldPlace | undefined>>(() => new Map());

function sourceOf(graph: LiveGraph, link: Link, field: string): FieldPlace | undefined {
  const sources = sourcesIn(graph);
  const passed: string[] = [];
  let source: FieldPlace | undefined;
  for (let at: Link | undefined = link; at !== undefined;) {
    const key = `${at.node} ${at.slot} ${field}`;
    if (sources.has(key)) {
      source = sources.get(key);
      break;
    }
    passed.push(key);
    // The mark ends a cycle.
    sources.set(key, undefined);
    source = givenBy(graph, at, field);
    at = source === undefined ? handedOn(graph, at) : undefined;
  }
  for (const key of passed) sources.set(key, source);
  return source;
}

function givenBy(graph: LiveGraph, { node, slot }: Link, field: string): FieldPlace | undefined {
  const source = graph.nodes[node];
  if (source === undefined) return undefined;
  const hasLinks = linksOf(source).length > 0;
  const carried = hasLinks ? undefined : carriedBy(source, slot);
  if (carried !== undefined) return { node, field: carried };
  // A resizing node passes on the given width as a later output; a node that makes nothing else has it first.
  const isGiven = slot > 0 || (!hasLinks && givesSize(source, field));
  return isGiven && isLiteral(source.inputs[field]) ? { node, field } : undefined;
}

function handedOn(graph: LiveGraph, { node }: Link): Link | undefined {
  const source = graph.nodes[node];
  if (source === undefined || (!isDisplay(source) && !HANDS_ON.test(source.class_type))) return undefined;
  const links = linksOf(source);
  return branchOf(graph, node) ?? (links.length === 1 ? links[0]?.[1] : undefined);
}

/** The field whose value a node without links outputs. A slider has one whole number and one fraction for each output. */
export function carriedBy({ inputs }: GraphNode, slot: number): string | undefined {
  const axis = 'XYZ'.charAt(slot);
  const isFraction = inputs[`isfloat${axis}`];
  if (axis !== '' && isFraction !== undefined) {
    const field = `${axis}${Number(isFraction) > 0 ? 'f' : 'i'}`;
    return isLiteral(inputs[field]) ? field : undefined;
  }
  const values = Object.keys(inputs).filter((name) => CARRIES.test(name) && isLiteral(inputs[name]));
  return values.length === 1 ? values[0] : undefined;
}

function givesSize({ inputs }: GraphNode, field: string): boolean {
  if (field !== 'width' && field !== 'height') return false;
  return Object.entries(inputs).every(
    ([name, value]) => typeof value !== 'string' || !PRESETS.test(name) || OWN_SIZE.test(value),
  );
}

export const hasLinks = (node: GraphNode): boolean => linksOf(node).length > 0;

/** Classes that load something. */
export const LOADS = /load/i;
