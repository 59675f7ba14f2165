// What keeps a workflow from running at a server: only what ComfyUI itself refuses, or what is certain to fail.

import { compareNumbers, isRawNumber } from '../../../host/exact-json.ts';
import type { ClassInput, Graph, NodeClass } from './backend.ts';
import { isPart } from './naming/prompts.ts';
import { linkIn, LiveGraph, type GraphNode, type GraphNodes } from './naming/live.ts';

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
  const checked = checkedNodes(nodes, classes);
  const entries = Object.entries(nodes).filter(([node]) => checked.has(node));
  const dangling = entries.flatMap(([node, own]) => danglingIn(nodes, node, own));
  if (classes === undefined) return dangling;
  // ComfyUI looks for the class of each node, also of one that it does not execute.
  const names = new Set(Object.values(nodes).map(({ class_type: name }) => name));
  const missing = [...names].filter((name) => !classes.has(name));
  const outputs = entries.filter(([, { class_type: name }]) => classes.get(name)?.isOutput === true);
  return [
    ...missing.map((name) => `there is no node ${name}`),
    ...(missing.length === 0 && outputs.length === 0 ? ['no node makes an output: add SaveImage'] : []),
    ...dangling,
    ...entries.flatMap(([node, own]) => faultsIn(node, own, classes.get(own.class_type), chosen)),
  ];
}

/** The outputs and all above them: ComfyUI checks no others. One output that is refused makes every run fail, also beside a good one. */
function checkedNodes(nodes: GraphNodes | Graph, classes: Classes): ReadonlySet<string> {
  const graph = new LiveGraph(nodes, classes);
  const outputs = Object.keys(nodes).filter(
    (node) => classes?.get(nodes[node]?.class_type ?? '')?.isOutput ?? graph.isOutput(node),
  );
  return graph.withAbove(outputs);
}

const at = (node: string, { class_type: name }: GraphNode): string => `node ${node} (${name})`;

function danglingIn(nodes: GraphNodes | Graph, node: string, own: GraphNode): readonly string[] {
  return Object.entries(own.inputs).flatMap(([field, value]) => {
    const link = linkIn(value);
    return link === undefined || Object.hasOwn(nodes, link.node)
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
    .filter(([field, { isRequired, type }]) => isRequired === true && !isThere(own, field, type))
    .map(([field, { type }]) => `${at(node, own)}: ${field} is required (${type}), and is missing`);
  const wrong = Object.entries(own.inputs).flatMap(([field, value]) => {
    const bounds = known.inputs[field];
    const why = faultIn(value, bounds, chosen.has(`${node}.${field}`)) ?? typeFault(value, bounds);
    return why === undefined ? [] : [`${at(node, own)}: ${field} ${why}`];
  });
  return [...lacking, ...wrong];
}

/** Inputs that grow or change with a choice stand as `field.part`, and may have no part. */
const isThere = ({ inputs }: GraphNode, field: string, type: string): boolean =>
  inputs[field] !== undefined || type.startsWith('COMFY_');

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

/** What Python makes a number of. */
const PYTHON_INT = /^\s*[+-]?\d+(?:_\d+)*\s*$/;
const PYTHON_FLOAT =
  /^\s*[+-]?(?:(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+)?|inf(?:inity)?|nan)\s*$/i;
const NUMBERS: Readonly<Record<string, RegExp>> = { INT: PYTHON_INT, FLOAT: PYTHON_FLOAT };

/** What helps against faults, as their texts say them. */
export function helpFor(faults: readonly string[]): string {
  const isMissing = (fault: string): boolean => fault.startsWith('there is no node ');
  const isChoice = (fault: string): boolean => / and there is /.test(fault);
  const isOfGraph = (fault: string): boolean => !isMissing(fault) && !isChoice(fault);
  return [
    faults.some(isMissing) && 'install the missing nodes at the server',
    faults.some(isChoice) &&
      'put the missing files on the server, or choose others in ComfyUI and export it again',
    faults.some(isOfGraph) && 'correct these links and values in ComfyUI, and export it again',
  ]
    .filter(Boolean)
    .join('; ');
}

/** A number that its owner has marked as an input, such as `%seed%`: a sheet has to give it. */
export const isUnsetNumber = (value: unknown, input: Pick<ClassInput, 'type'> | undefined): boolean =>
  NUMBERS[input?.type ?? ''] !== undefined && isPart(value);

/** ComfyUI converts what it can: a text of digits is a number. Anything else fails in each run. */
function typeFault(value: unknown, input: ClassInput | undefined): string | undefined {
  const number = NUMBERS[input?.type ?? ''];
  if (number === undefined || typeof value === 'number' || typeof value === 'boolean' || isRawNumber(value))
    return undefined;
  if (linkIn(value) !== undefined || isUnsetNumber(value, input)) return undefined;
  if (typeof value === 'string' && number.test(value)) return undefined;
  return `is ${JSON.stringify(value)}, which is no ${input?.type === 'INT' ? 'integer' : 'number'}`;
}
