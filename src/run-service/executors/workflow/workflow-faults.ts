// The faults that keep a workflow from running at a server: only those that ComfyUI itself refuses, or that
// are certain to fail.

import { compareNumbers, isRawNumber } from '../../../host/formats/exact-json.ts';
import type { ClassInput, Graph, NodeClass } from '../backend.ts';
import { isPart } from './naming/prompts.ts';
import { linkIn, LiveGraph, type GraphNode, type GraphNodes } from './naming/graph.ts';

/** undefined for a server that does not tell its classes. */
export type Classes = ReadonlyMap<string, NodeClass> | undefined;

/** Where a fault can be fixed: `graph` in the workflow; `nodes` and `choices` may also be missing at the server. */
type Help = 'nodes' | 'choices' | 'graph';
export type WorkflowFault = { readonly text: string; readonly help: Help };
const ofGraph = (text: string): WorkflowFault => ({ text, help: 'graph' });

/**
 * Names missing nodes and models, impossible values and broken links; empty if the workflow can run, or
 * nothing is known. `chosen`: fields that a row chooses, as NODE.FIELD.
 */
export function faultsOf(
  nodes: GraphNodes | Graph,
  classes: Classes,
  chosen: ReadonlySet<string> = new Set(),
): readonly WorkflowFault[] {
  const checked = checkedNodes(nodes, classes);
  const entries = Object.entries(nodes).filter(([node]) => checked.has(node));
  const dangling = entries.flatMap(([node, own]) => danglingIn(nodes, node, own));
  if (classes === undefined) return dangling;
  // ComfyUI looks up the class of every node, even of one that it does not execute.
  const names = new Set(Object.values(nodes).map(({ class_type: name }) => name));
  const missing = [...names].filter((name) => !classes.has(name));
  const outputs = entries.filter(([, { class_type: name }]) => classes.get(name)?.isOutput === true);
  return [
    ...missing.map((name) => ({ text: `there is no node ${name}`, help: 'nodes' }) as const),
    ...(missing.length === 0 && outputs.length === 0
      ? [ofGraph('no node makes an output: add SaveImage')]
      : []),
    ...dangling,
    ...entries.flatMap(([node, own]) => faultsIn(node, own, classes.get(own.class_type), chosen)),
  ];
}

/**
 * The outputs and all nodes above them, because ComfyUI checks no others. One refused output makes every run
 * fail, even beside a good one.
 */
function checkedNodes(nodes: GraphNodes | Graph, classes: Classes): ReadonlySet<string> {
  const graph = new LiveGraph(nodes, classes);
  const outputs = Object.keys(nodes).filter(
    (node) => classes?.get(nodes[node]?.class_type ?? '')?.isOutput ?? graph.isOutput(node),
  );
  return graph.withAbove(outputs);
}

const at = (node: string, { class_type: name }: GraphNode): string => `node ${node} (${name})`;

function danglingIn(nodes: GraphNodes | Graph, node: string, own: GraphNode): readonly WorkflowFault[] {
  return Object.entries(own.inputs).flatMap(([field, value]) => {
    const link = linkIn(value);
    return link === undefined || Object.hasOwn(nodes, link.node)
      ? []
      : [ofGraph(`${at(node, own)}: ${field} is a link to node ${link.node}, which is not there`)];
  });
}

function faultsIn(
  node: string,
  own: GraphNode,
  nodeClass: NodeClass | undefined,
  chosen: ReadonlySet<string>,
): readonly WorkflowFault[] {
  if (nodeClass === undefined) return [];
  const lacking = Object.entries(nodeClass.inputs)
    .filter(([field, { isRequired, type }]) => isRequired === true && !isThere(own, field, type))
    .map(([field, { type }]) => ofGraph(`${at(node, own)}: ${field} is required (${type}), and is missing`));
  const wrong = Object.entries(own.inputs).flatMap(([field, value]): readonly WorkflowFault[] => {
    const bounds = nodeClass.inputs[field];
    const choice = choiceFault(value, bounds, chosen.has(`${node}.${field}`));
    const why = choice ?? boundsFault(value, bounds) ?? typeFault(value, bounds);
    const help = choice === undefined ? 'graph' : 'choices';
    return why === undefined ? [] : [{ text: `${at(node, own)}: ${field} ${why}`, help }];
  });
  return [...lacking, ...wrong];
}

/** Inputs that grow or change with a choice appear as `field.part`, and may have no part. */
const isThere = ({ inputs }: GraphNode, field: string, type: string): boolean =>
  inputs[field] !== undefined || type.startsWith('COMFY_');

const OPTIONS_SHOWN = 5;
const MODEL = /\.(?:safetensors|ckpt|pth?|gguf|bin|onnx|sft)$/i;

export type Bounds = Partial<Pick<ClassInput, 'min' | 'max' | 'options' | 'isFile'>>;

/** Why an input may not have a value that its user chose; undefined if it may, or if nothing is known. */
export const faultIn = (value: unknown, bounds: Bounds | undefined): string | undefined =>
  choiceFault(value, bounds, true) ?? boundsFault(value, bounds);

/**
 * ComfyUI skips the check of a choice whose class validates itself, but does not tell which classes do. Only
 * a model that is not in the list certainly fails.
 */
function choiceFault(value: unknown, bounds: Bounds | undefined, isChosen: boolean): string | undefined {
  // Files are uploaded before the run.
  if (bounds?.options === undefined || bounds.isFile === true || linkIn(value) !== undefined)
    return undefined;
  const { options } = bounds;
  const isCertain = isChosen || [choiceText(value), ...options].some((option) => MODEL.test(option));
  if (!isCertain || options.includes(choiceText(value))) return undefined;
  const some = options.slice(0, OPTIONS_SHOWN).map((option) => JSON.stringify(option));
  const more = options.length > OPTIONS_SHOWN ? `, … (${options.length})` : '';
  return `is ${JSON.stringify(value)}, and there is ${some.length === 0 ? 'nothing to choose' : `${some.join(', ')}${more}`}`;
}

function boundsFault(value: unknown, { min, max }: Bounds = {}): string | undefined {
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

/** Texts that Python converts to a number. */
const PYTHON_INT = /^\s*[+-]?\d+(?:_\d+)*\s*$/;
const PYTHON_FLOAT =
  /^\s*[+-]?(?:(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+)?|inf(?:inity)?|nan)\s*$/i;
const NUMBERS: Readonly<Record<string, RegExp>> = { INT: PYTHON_INT, FLOAT: PYTHON_FLOAT };

const HELP: Readonly<Record<Help, string>> = {
  nodes: 'install the missing nodes at the server',
  choices: 'put the missing files on the server, or choose others in ComfyUI and export it again',
  graph: 'correct these links and values in ComfyUI, and export it again',
};

/** The remedies for the kinds of these faults. */
export const helpFor = (faults: readonly WorkflowFault[]): string =>
  (Object.keys(HELP) as Help[])
    .filter((kind) => faults.some(({ help }) => help === kind))
    .map((kind) => HELP[kind])
    .join('; ');

/** A number whose owner has put a placeholder there, such as `%seed%`; the sheet has to give it. */
export const isUnsetNumber = (value: unknown, input: Pick<ClassInput, 'type'> | undefined): boolean =>
  NUMBERS[input?.type ?? ''] !== undefined && isPart(value);

/** ComfyUI converts a text of digits to a number. Anything else fails in each run. */
function typeFault(value: unknown, input: ClassInput | undefined): string | undefined {
  const number = NUMBERS[input?.type ?? ''];
  if (number === undefined || typeof value === 'number' || typeof value === 'boolean' || isRawNumber(value))
    return undefined;
  if (linkIn(value) !== undefined || isUnsetNumber(value, input)) return undefined;
  if (typeof value === 'string' && number.test(value)) return undefined;
  return `is ${JSON.stringify(value)}, which is no ${input?.type === 'INT' ? 'integer' : 'number'}`;
}
