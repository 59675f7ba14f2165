// Where the value of a field stands: in the field itself, or, over links, in the node that carries it.

import { isLiteral, linkIn, type GraphNode, type Link, type LiveGraph } from './live.ts';

/** A field with a value of its own, as NODE.FIELD. */
export type Place = { readonly node: string; readonly field: string };

export const pathOf = ({ node, field }: Place): string => `${node}.${field}`;

export const valueAt = ({ nodes }: LiveGraph, { node, field }: Place): unknown => nodes[node]?.inputs[field];

/** Fields of a node that carries one value. */
const CARRIES = /^(?:value|int|float|number|text|string|seed|boolean|combo|choice|default_value|xi|xf|x)$/i;
/** Nodes that hand on what they get. */
const HANDS_ON =
  /reroute|^show_?(?:text|anything|string)|display_?(?:text|any|string)|^previewany$|any switch|switch|^primitivenode$/i;

/** The branch of a switch whose boolean is known. */
export function branchOf({ inputs }: GraphNode): Link | undefined {
  const flag = Object.values(inputs).find((value) => typeof value === 'boolean');
  if (flag === undefined) return undefined;
  const side = flag ? /(?:^|_)(?:on_)?true$/i : /(?:^|_)(?:on_)?false$/i;
  const field = Object.keys(inputs).find((name) => side.test(name));
  return field === undefined ? undefined : linkIn(inputs[field]);
}

/** Links without those that choose. */
export const linksOf = ({ inputs }: GraphNode): readonly (readonly [field: string, link: Link])[] =>
  Object.entries(inputs).flatMap(([field, value]) => {
    const link = linkIn(value);
    return link === undefined ? [] : [[field, link] as const];
  });

/** The place whose value a field has; undefined if it is calculated, or nothing that can be filled in. */
export function placeOf(graph: LiveGraph, node: string, field: string): Place | undefined {
  const value = graph.nodes[node]?.inputs[field];
  if (isLiteral(value)) return { node, field };
  const link = linkIn(value);
  return link === undefined ? undefined : sourceOf(graph, link, field, new Set());
}

function sourceOf(
  graph: LiveGraph,
  { node, slot }: Link,
  field: string,
  seen: Set<string>,
): Place | undefined {
  const source = graph.nodes[node];
  if (source === undefined || seen.has(node)) return undefined;
  seen.add(node);
  const links = linksOf(source);
  if (links.length === 0) {
    const values = Object.keys(source.inputs).filter(
      (name) => CARRIES.test(name) && isLiteral(source.inputs[name]),
    );
    if (values.length === 1) return { node, field: values[0] as string };
  }
  // A node that resizes hands on the width that it was given.
  if (slot > 0 && isLiteral(source.inputs[field])) return { node, field };
  if (!HANDS_ON.test(source.class_type)) return undefined;
  const next = branchOf(source) ?? (links.length === 1 ? links[0]?.[1] : undefined);
  return next === undefined ? undefined : sourceOf(graph, next, field, seen);
}
