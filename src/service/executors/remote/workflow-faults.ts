// What keeps a workflow from running at a server: only what ComfyUI itself refuses, or what is certain to fail.

import { compareNumbers, isRawNumber } from '../../../host/exact-json.ts';
import type { ClassInput, Graph, NodeClass } from './backend.ts';
import { isLiteral, linkIn, type GraphNode, type GraphNodes } from './naming/live.ts';

/** undefined where a server does not tell its classes. */
export type Classes = ReadonlyMap<string, NodeClass> | undefined;

/**
 * Names the missing nodes and models, impossible values and broken links; empty if it can run, or nothing is known. `chosen`: fields
 * with a choice of a row, as NODE.FIELD.
 */
export function faultsOf(
  nodes: GraphNodes | Graph,
  classes: Classes,
  chosen: ReadonlySet<string> = new Set(),
): readonly string[] {
  const entries = Object.entries(nodes);
  const dangling = entries.flatMap(([node, own]) => danglingIn(nodes, node, own));
  if (classes === undefined) return dangling;
  const missing = [...new Set(entries.map(([, { class_type: name }]) => name))].filter(
    (name) => !classes.has(name),
  );
  const outputs = entries.filter(([, { class_type: name }]) => classes.get(name)?.isOutput === true);
  return [
    ...missing.map((name) => `there is no node ${name}`),
    ...(missing.length === 0 && outputs.length === 0 ? ['no node makes an output: add SaveImage'] : []),
    ...dangling,
    ...entries.flatMap(([node, own]) => faultsIn(node, own, classes.get(own.class_type), chosen)),
  ];
}

const at = (node: string, { class_type: name }: GraphNode): string => `node ${node} (${name})`;

function danglingIn(nodes: GraphNodes | Graph, node: string, own: GraphNode): readonly string[] {
  return Object.entries(own.inputs).flatMap(([field, value]) => {
    const link = linkIn(value);
    return link === undefined || nodes[link.node] !== undefined
      ? []
      : [`${at(node, own)}: ${field} is a link to node ${link.node}, which is not there`];
  });
}

function faultsIn(
  node: string,
  own: GraphNode,
  known: NodeClass | undefined,
  chosen: ReadonlySet<string>,
): readonly string[] {
  if (known === undefined) return [];
  const lacking = Object.entries(known.inputs)
    .filter(([field, { isRequired }]) => isRequired === true && own.inputs[field] === undefined)
    .map(([field, { type }]) => `${at(node, own)}: ${field} is required (${type}), and is missing`);
  const wrong = Object.entries(own.inputs).flatMap(([field, value]) => {
    const bounds = known.inputs[field];
    const why = faultIn(value, bounds, chosen.has(`${node}.${field}`)) ?? typeFault(value, bounds);
    return why === undefined ? [] : [`${at(node, own)}: ${field} ${why}`];
  });
  return [...lacking, ...wrong];
}

const OPTIONS_SHOWN = 5;
const MODEL = /\.(?:safetensors|ckpt|pth?|gguf|bin|onnx|sft)$/i;

export type Bounds = Partial<Pick<ClassInput, 'min' | 'max' | 'options' | 'isFile'>>;

/**
 * Returns why a value is none of those that an input may have; undefined if it may, or if nothing is known. ComfyUI does not check
 * a choice whose class checks it itself, which it does not tell: only a model that is not in the list is certain.
 */
export function faultIn(value: unknown, bounds: Bounds | undefined, isChosen = false): string | undefined {
  if (bounds === undefined || linkIn(value) !== undefined) return undefined;
  const { min, max, options } = bounds;
  // Files are put there before the run.
  const isListed = options !== undefined && bounds.isFile !== true;
  const isCertain =
    isChosen || (isListed && [choiceText(value), ...options].some((option) => MODEL.test(option)));
  if (isListed && isCertain && !options.includes(choiceText(value))) {
    const some = options.slice(0, OPTIONS_SHOWN).map((option) => JSON.stringify(option));
    const more = options.length > OPTIONS_SHOWN ? `, … (${options.length})` : '';
    return `is ${JSON.stringify(value)}, and there is ${some.length === 0 ? 'nothing to choose' : `${some.join(', ')}${more}`}`;
  }
  const number = isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(value) : undefined;
  if (number === undefined) return undefined;
  const isLow = min !== undefined && compareNumbers(number, min) < 0;
  const isHigh = max !== undefined && compareNumbers(number, max) > 0;
  return isLow || isHigh ? `is ${number}, not ${rangeText(min, max)}` : undefined;
}

/** A choice as its node lists it. */
const choiceText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

const rangeText = (min: string | undefined, max: string | undefined): string =>
  min === undefined ? `at most ${max}` : max === undefined ? `at least ${min}` : `from ${min} to ${max}`;

/** ComfyUI converts what it can: texts of digits are numbers. A text that is none fails in each run. */
function typeFault(value: unknown, input: ClassInput | undefined): string | undefined {
  if (typeof value !== 'string' || !isLiteral(value)) return undefined;
  const isNumber = input?.type === 'INT' || input?.type === 'FLOAT';
  return isNumber && !(value.trim() !== '' && Number.isFinite(Number(value)))
    ? `is ${JSON.stringify(value)}, which is no number`
    : undefined;
}
