// Input names from before names were derived from the graph. They are part of every workflow's id, which
// finds the batches made with them, so this function never changes.

import type { GraphNode, GraphNodes } from './graph.ts';

const VENDOR_FIELDS: ReadonlySet<string> = new Set(['default_value', 'default_value_url']);
const OBVIOUS = ['text', 'value', 'string', 'image', 'seed', 'noise_seed'] as const;

/** Every list counted as a link then. */
const isLink = (value: unknown): boolean => Array.isArray(value);

/**
 * The fields of each input by its name, as NODE.FIELD, both sorted. `own`: names from a deployments file,
 * such as `{ prompt: ['6.text'] }`.
 */
export function namesBefore(
  nodes: GraphNodes,
  own: Readonly<Record<string, readonly string[]>> = {},
): readonly (readonly [name: string, fields: readonly string[]])[] {
  const taken = new Set(Object.values(own).flat());
  const fillable = Object.entries(nodes).flatMap(([node, at]) =>
    Object.keys(at.inputs)
      .filter((field) => !isLink(at.inputs[field]) && !taken.has(`${node}.${field}`) && isFree(at, field))
      .map((field) => [nameOf(at, node, field), `${node}.${field}`] as const),
  );
  const usual = [...Map.groupBy(fillable, ([name]) => name)].filter(([name]) => !(name in own));
  return [
    ...Object.entries(own).map(([name, fields]) => [name, fields.toSorted()] as const),
    ...usual.map(([name, namedFields]) => [name, namedFields.map(([, field]) => field).toSorted()] as const),
  ].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const isFree = (node: GraphNode, field: string): boolean =>
  field !== 'filename_prefix' && !(vendorInput(node) !== undefined && field === 'input_id');

const vendorInput = ({ class_type: name, inputs }: GraphNode): string | undefined =>
  name.startsWith('ComfyUIDeployExternal') && typeof inputs['input_id'] === 'string'
    ? inputs['input_id']
    : undefined;

function nameOf(at: GraphNode, node: string, field: string): string {
  const vendor = vendorInput(at);
  if (vendor !== undefined && VENDOR_FIELDS.has(field)) return vendor;
  const { _meta: meta } = at;
  const title = /^(?:input:\s*)?([\p{L}_][\p{L}\p{N}_-]*)$/u.exec(meta?.title ?? '')?.[1];
  const isNamed = title !== undefined && title !== at.class_type;
  const isMeant = title === field || (at.inputs[title ?? ''] === undefined && field === obviousField(at));
  return isNamed && isMeant ? title : `${node}.${field}`;
}

function obviousField({ inputs }: GraphNode): string | undefined {
  const literal = Object.keys(inputs).filter((field) => !isLink(inputs[field]));
  return literal.length === 1 ? literal[0] : OBVIOUS.find((field) => literal.includes(field));
}
