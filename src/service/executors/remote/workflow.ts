// A workflow file becomes a deployment: which inputs it has, what they may be, and what keeps it from running. Its id follows what
// it does, so that an edited file is another deployment, and a batch is never continued on it silently.

import { z } from 'zod';
import { compareNumbers, exactText, isRawNumber, parseExactly } from '../../../host/exact-json.ts';
import { canonical } from '../../../host/canonical-json.ts';
import { isWebAddress } from '../../../host/web-address.ts';
import { errorMessage, nearest, problem } from '../../../errors/error.ts';
import { badValue, listed, type Refusal } from '../../../run-service/contract/refusal.ts';
import { uuidOf } from '../../identity.ts';
import type { ClassInput, Graph, NodeClass } from './backend.ts';

type Field = { readonly node: string; readonly field: string; readonly isFile: boolean };

export type InputType = {
  readonly name: string;
  readonly type: string;
  readonly default: unknown;
  /** With all digits. */
  readonly min: string | undefined;
  readonly max: string | undefined;
  readonly options: readonly string[] | undefined;
  readonly fields: readonly Field[];
};

export type Workflow = {
  readonly id: string;
  readonly name: string;
  readonly graph: Graph;
  readonly inputs: readonly InputType[];
  /** Nodes whose files would have the names of other runs, were it not for a prefix of our own. */
  readonly savers: readonly string[];
  /** Whether it calls a paid service elsewhere, so that it must not be sent again on suspicion. */
  readonly isPaid: boolean;
  readonly runTimeoutSeconds: number;
};

export const RUN_TIMEOUT_SECONDS = 3_600;

/** A workflow as it is kept, and as it was made. */
export const keptWorkflow = (workflow: Workflow): string => exactText(workflow);
export const restoredWorkflow = (text: string): Workflow => parseExactly(text) as Workflow;

const nodeSchema = z.looseObject({
  class_type: z.string().min(1),
  inputs: z.record(z.string(), z.unknown()).default({}),
  _meta: z.looseObject({ title: z.string().optional() }).optional(),
});
const graphSchema = z.record(z.string(), nodeSchema).refine((graph) => Object.keys(graph).length > 0);
type Nodes = z.output<typeof graphSchema>;

const refuse = (name: string, why: string, hint: string, cause?: unknown): Error =>
  problem('E602', { what: `the workflow ${name} ${why}`, hint }, { cause });

/** Throws E602 for what is no workflow in the API format. */
export function readGraph(name: string, text: string): Nodes {
  let value: unknown;
  try {
    value = parseExactly(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw refuse(name, `is not JSON: ${errorMessage(error)}`, EXPORT, error);
  }
  const { nodes, links } = (value ?? {}) as { readonly nodes?: unknown; readonly links?: unknown };
  if (Array.isArray(nodes) && links !== undefined)
    throw refuse(name, 'is in the format of the editor', EXPORT);
  const graph = graphSchema.safeParse(value);
  if (!graph.success) throw refuse(name, 'has no nodes with a class_type and inputs', EXPORT);
  return graph.data;
}

const EXPORT = 'in ComfyUI, choose Workflow → Export (API), and give that file';

export const classesOf = (graph: Nodes | Graph): readonly string[] => [
  ...new Set(Object.values(graph).map(({ class_type }) => class_type)),
];

/** undefined where a server does not tell its classes. */
export type Classes = ReadonlyMap<string, NodeClass> | undefined;

/** `fields`: names for inputs, such as `{ prompt: ['6.text'] }`. Throws E602, which names everything that keeps it from running. */
export function workflowOf(
  name: string,
  nodes: Nodes,
  classes: Classes,
  named: Readonly<Record<string, readonly string[]>> = {},
): Workflow {
  const faults = faultsOf(nodes, classes);
  if (faults.length > 0)
    throw refuse(
      name,
      `cannot run: ${faults.join('; ')}`,
      'change it in ComfyUI and export it again, or install what is missing',
    );
  const inputs = inputsOf(name, nodes, classes, named);
  const graph: Graph = Object.fromEntries(
    Object.entries(nodes).map(([node, { class_type, inputs: own }]) => [node, { class_type, inputs: own }]),
  );
  const map = inputs
    .map(
      ({ name: input, fields }) =>
        [input, fields.map(({ node, field }) => `${node}.${field}`).sort()] as const,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    id: uuidOf('workflow file', canonical(graph), JSON.stringify(map)),
    name,
    graph,
    inputs,
    savers: Object.keys(nodes).filter((node) => nodes[node]?.inputs['filename_prefix'] !== undefined),
    isPaid: classesOf(nodes).some((one) => classes?.get(one)?.isPaid === true),
    runTimeoutSeconds: RUN_TIMEOUT_SECONDS,
  };
}

/** What keeps it from running on a server with these classes: missing nodes and models, impossible values, no output. */
export function faultsOf(nodes: Nodes | Graph, classes: Classes): readonly string[] {
  if (classes === undefined) return [];
  const missing = classesOf(nodes).filter((name) => !classes.has(name));
  const entries = Object.entries(nodes);
  const outputs = entries.filter(([, { class_type }]) => classes.get(class_type)?.isOutput === true);
  const savers = outputs.filter(([, { class_type }]) => !class_type.startsWith('Preview'));
  return [
    ...missing.map((name) => `there is no node ${name}`),
    ...(missing.length === 0 && outputs.length === 0 ? ['no node makes an output: add SaveImage'] : []),
    ...(outputs.length > 0 && savers.length === 0
      ? ['it only has previews, which are not kept: add SaveImage']
      : []),
    ...entries.flatMap(([node, { class_type, inputs }]) =>
      Object.entries(inputs).flatMap(([field, value]) => {
        const why = faultIn(value, classes.get(class_type)?.inputs[field]);
        return why === undefined ? [] : [`node ${node} (${class_type}): ${field} ${why}`];
      }),
    ),
  ];
}

const OPTIONS_SHOWN = 5;

type Bounds = Partial<Pick<ClassInput, 'min' | 'max' | 'options' | 'isFile'>>;

/** Why a value is none of those that an input may have; undefined if it may, or if nothing is known. */
function faultIn(value: unknown, bounds: Bounds | undefined): string | undefined {
  if (bounds === undefined || isLink(value)) return undefined;
  const { min, max, options } = bounds;
  // Files are put there before the run.
  if (options !== undefined && bounds.isFile !== true && !options.includes(choiceText(value))) {
    const some = options.slice(0, OPTIONS_SHOWN).map((one) => JSON.stringify(one));
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

/** Why a run with these inputs would be refused by the server: each is named before anything is sent. */
export function inputRefusals(
  { inputs }: Workflow,
  given: Readonly<Record<string, unknown>>,
): readonly Refusal[] {
  const known = new Map(inputs.map((input) => [input.name, input]));
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const why = known.has(name) ? refusalOf(value, known.get(name)) : 'unknown';
    return why === undefined ? [] : [{ name, value, why }];
  });
  return listed(wrong, ({ name, value, why }) => [
    badValue(['body', 'inputs', name], value, known.has(name) ? why : unknownText(name, inputs)),
  ]);
}

function unknownText(name: string, inputs: readonly InputType[]): string {
  const named = inputs.find(({ fields }) => fields.some(({ node, field }) => `${node}.${field}` === name));
  const known = inputs.map((input) => input.name);
  const near = named?.name ?? nearest(name, known);
  return `the workflow has no input ${name}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** A list would be a link to another node, with which a row could change the workflow. */
function refusalOf(value: unknown, input: InputType | undefined): string | undefined {
  if (value === null || (typeof value === 'object' && !isRawNumber(value)))
    return 'it must be a text, a number or a boolean';
  const isFile = input?.fields.some((field) => field.isFile) === true;
  if (isFile && typeof value === 'string' && leadsOut(value))
    return 'it leads out of the folder where ComfyUI has such files';
  return faultIn(value, input && { ...input, isFile });
}

/** Whether ComfyUI would read another file of its machine by this name. Addresses are fetched here. */
const leadsOut = (name: string): boolean =>
  !isWebAddress(name) && /^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(name);

/** `["4", 0]`: the output of another node. */
const isLink = (value: unknown): boolean => Array.isArray(value);

const TYPES: Readonly<Record<string, string>> = {
  INT: 'int',
  FLOAT: 'float',
  BOOLEAN: 'bool',
  STRING: 'string',
  COMBO: 'enum',
};
/** Fields that a node with a name of its own obviously means. */
const OBVIOUS = ['text', 'value', 'string', 'image', 'seed', 'noise_seed'] as const;

function inputsOf(
  workflow: string,
  nodes: Nodes,
  classes: Classes,
  named: Readonly<Record<string, readonly string[]>>,
): readonly InputType[] {
  const own = Object.entries(named).map(([name, fields]) =>
    inputOf(
      name,
      fields.map((field) => fieldNamed(workflow, nodes, field)),
      nodes,
      classes,
    ),
  );
  const taken = new Set(own.flatMap(({ fields }) => fields.map(({ node, field }) => `${node}.${field}`)));
  const found = Object.entries(nodes).flatMap(([node, { inputs }]) =>
    Object.keys(inputs)
      .filter(
        (field) => !isLink(inputs[field]) && !taken.has(`${node}.${field}`) && isFree(nodes, node, field),
      )
      .map((field) => [nameOf(nodes, node, field), { node, field }] as const),
  );
  const usual = [...Map.groupBy(found, ([name]) => name)].filter(([name]) => !(name in named));
  return [
    ...own,
    ...usual.map(([name, all]) =>
      inputOf(
        name,
        all.map(([, field]) => field),
        nodes,
        classes,
      ),
    ),
  ];
}

/** The prefix of files is ours, and the name of a vendor's input node is no input. */
const isFree = (nodes: Nodes, node: string, field: string): boolean =>
  field !== 'filename_prefix' && !(vendorInput(nodes[node]) !== undefined && field === 'input_id');

/** The name that a vendor's input node gives. */
const vendorInput = (node: Nodes[string] | undefined): string | undefined =>
  node?.class_type.startsWith('ComfyUIDeployExternal') === true && typeof node.inputs['input_id'] === 'string'
    ? node.inputs['input_id']
    : undefined;

const VENDOR_FIELDS: ReadonlySet<string> = new Set(['default_value', 'default_value_url']);

function nameOf(nodes: Nodes, node: string, field: string): string {
  const one = nodes[node] as Nodes[string];
  const vendor = vendorInput(one);
  if (vendor !== undefined && VENDOR_FIELDS.has(field)) return vendor;
  const title = /^(?:input:\s*)?([\p{L}_][\p{L}\p{N}_-]*)$/u.exec(titleOf(one) ?? '')?.[1];
  const isNamed = title !== undefined && title !== one.class_type;
  if (isNamed && (title === field || (one.inputs[title] === undefined && field === obviousField(one))))
    return title;
  return `${node}.${field}`;
}

const titleOf = ({ ['_meta']: meta }: Nodes[string]): string | undefined => meta?.title;

function obviousField({ inputs }: Nodes[string]): string | undefined {
  const literal = Object.keys(inputs).filter((field) => !isLink(inputs[field]));
  return literal.length === 1 ? literal[0] : OBVIOUS.find((field) => literal.includes(field));
}

function fieldNamed(workflow: string, nodes: Nodes, path: string): { node: string; field: string } {
  const [node = '', ...rest] = path.split('.');
  const field = rest.join('.');
  const value = nodes[node]?.inputs[field];
  if (value === undefined || isLink(value))
    throw refuse(
      workflow,
      `has no field ${path}`,
      'a field is NODE.FIELD with a value of its own, such as 6.text',
    );
  return { node, field };
}

function inputOf(
  name: string,
  places: readonly { readonly node: string; readonly field: string }[],
  nodes: Nodes,
  classes: Classes,
): InputType {
  const [first] = places;
  const node = nodes[first?.node ?? ''];
  const known = places.map(({ node: at, field }) =>
    classes === undefined
      ? guessed(nodes[at], field)
      : classes.get(nodes[at]?.class_type ?? '')?.inputs[field],
  );
  const [type] = known;
  const value = node?.inputs[first?.field ?? ''];
  return {
    name,
    type: type?.isFile === true ? 'image' : (TYPES[type?.type ?? ''] ?? typeNameOf(value)),
    default: value,
    min: type?.min,
    max: type?.max,
    options: type?.isFile === true ? undefined : type?.options,
    fields: places.map(({ node: at, field }, index) => ({
      node: at,
      field,
      isFile: known[index]?.isFile === true,
    })),
  };
}

const MEDIA = /\.(?:png|jpe?g|webp|gif|avif|mp4|webm|mov|mkv|mp3|wav|flac|ogg|opus)$/i;

/** Of a node whose class is not known, only that it loads a file can be seen. */
function guessed(node: Nodes[string] | undefined, field: string): ClassInput | undefined {
  const value = node?.inputs[field];
  return node?.class_type.startsWith('Load') === true && typeof value === 'string' && MEDIA.test(value)
    ? { type: 'COMBO', isFile: true }
    : undefined;
}

function typeNameOf(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  if (isRawNumber(value)) return 'int';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'string';
}
