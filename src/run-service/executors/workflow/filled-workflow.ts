// A workflow filled with the inputs of a run: what it needs of a server, and the graph that is sent.

import type { Graph, PutFile } from '../backend.ts';
import { PART, partName } from './naming/prompts.ts';
import { pathOf } from './naming/values.ts';
import { faultsOf, type Classes, type Field, type InputType, type Workflow } from './workflow.ts';
import { fieldsNamed } from './input-refusals.ts';

export type InputValues = Readonly<Record<string, unknown>>;

/** The values of a run that only some servers may offer, such as models. */
export type Choices = InputValues;
export const NO_CHOICES: Choices = {};

export const choicesOf = ({ inputs }: Workflow, values: InputValues): Choices =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const path = fieldsNamed(inputs, name)?.[0];
      return value !== undefined && path !== undefined && typeAt(inputs, path) === 'enum';
    }),
  );

const typeAt = (inputs: readonly InputType[], place: Field): string | undefined =>
  inputs.find(({ fields }) => fields.some((field) => pathOf(field) === pathOf(place)))?.type;

/** The classes of a workflow's nodes on a server; a text with the reason if they could not be read. */
export type InstalledNodes = Classes | string;

/** Cached by installed nodes and choices, because the question comes up whenever a server is free. */
const misfits = new WeakMap<object, WeakMap<Choices, string | undefined>>();

/** Why a server with these nodes cannot execute the workflow; undefined if it can. */
export function misfitOf(workflow: Workflow, choices: Choices, nodes: InstalledNodes): string | undefined {
  if (nodes === undefined || typeof nodes === 'string') return nodes;
  const byChoices = misfits.get(nodes) ?? new WeakMap<Choices, string | undefined>();
  misfits.set(nodes, byChoices);
  if (!byChoices.has(choices))
    byChoices.set(
      choices,
      faultsOf(withInputs(workflow, choices, NO_FILES), nodes, chosenIn(workflow, choices))[0]?.text,
    );
  return byChoices.get(choices);
}

/** The fields whose value must be listed by the server: the run's choices, and defaults that some server lists. */
function chosenIn({ graph, inputs }: Workflow, choices: Choices): ReadonlySet<string> {
  const ofRun = Object.keys(choices).flatMap((name) => fieldsNamed(inputs, name)?.map(pathOf) ?? []);
  const listed = inputs.flatMap(({ options, fields }) =>
    fields
      .filter(({ node, field }) => options?.includes(String(graph[node]?.inputs[field])) === true)
      .map(pathOf),
  );
  return new Set([...ofRun, ...listed]);
}

/** The inputs with all options that these servers offer together. Known options stay if one of the servers does not tell. */
export function offeredInputs(
  { graph, inputs }: Workflow,
  installed: readonly (InstalledNodes | undefined)[],
): readonly InputType[] {
  const catalogues = installed.filter((nodes) => typeof nodes === 'object');
  return inputs.map((input) => {
    const [field] = input.fields;
    if (input.options === undefined || field === undefined || catalogues.length === 0) return input;
    const node = graph[field.node]?.class_type ?? '';
    const before = catalogues.length === installed.length ? [] : input.options;
    const offered = catalogues.flatMap((nodes) => nodes.get(node)?.inputs[field.field]?.options ?? []);
    return { ...input, options: [...new Set([...before, ...offered])] };
  });
}

export const NO_FILES: ReadonlyMap<string, PutFile> = new Map();

/** Fills the graph and gives the run's files a name of their own. `files`: names on the server, by address. */
export function filledGraph(
  workflow: Workflow,
  values: InputValues,
  run: { readonly id: string; readonly day: string },
  files: ReadonlyMap<string, PutFile>,
): Graph {
  const filled = withInputs(workflow, values, files);
  // With an unchanged prefix, a node may answer from the cache with the file of another run, whose name can
  // be used again.
  for (const node of workflow.savers) {
    const own = filled[node];
    if (own !== undefined)
      own.inputs['filename_prefix'] = `runsheet/${run.day}/${run.id}/${node.replaceAll(/[^\w-]/g, '_')}`;
  }
  for (const [node, title] of Object.entries(workflow.nodeTitles ?? {})) {
    const own = filled[node];
    if (own !== undefined) filled[node] = { ...own, _meta: { title } };
  }
  return filled;
}

type Writable = Record<
  string,
  { class_type: string; inputs: Record<string, unknown>; _meta?: { title: string } }
>;

function withInputs({ graph, inputs }: Workflow, values: InputValues, files: ReadonlyMap<string, PutFile>) {
  // structuredClone would lose the digits of long integers.
  const filled: Writable = Object.fromEntries(
    Object.entries(graph).map(([node, { class_type, inputs: own }]) => [
      node,
      { class_type, inputs: { ...own } },
    ]),
  );
  // A field's own address wins over a name, and a name wins over one that fills more fields.
  const members = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const fields = fieldsNamed(inputs, name) ?? [];
      return { value, fields, isAddress: fields.some((field) => pathOf(field) === name) };
    })
    .toSorted((a, b) => Number(a.isAddress) - Number(b.isAddress) || b.fields.length - a.fields.length);
  const parts = new Map<string, Map<string, string>>();
  for (const { value, fields } of members)
    for (const { node, field, isFile, part } of fields) {
      const own = filled[node];
      if (own === undefined) continue;
      if (part === undefined) {
        const put = isFile && typeof value === 'string' ? files.get(value) : undefined;
        own.inputs[field] = put ?? value;
        continue;
      }
      const path = pathOf({ node, field });
      parts.set(path, (parts.get(path) ?? new Map<string, string>()).set(partName(part), String(value)));
    }
  fillParts(filled, graph, parts);
  return filled;
}

/** Replaces all parts of a text at once, so that a value may itself look like a part. A text that was given as a whole stays. */
function fillParts(
  filled: Writable,
  graph: Graph,
  parts: ReadonlyMap<string, ReadonlyMap<string, string>>,
): void {
  for (const [node, { inputs }] of Object.entries(filled))
    for (const [field, text] of Object.entries(inputs)) {
      const values = parts.get(pathOf({ node, field }));
      if (values === undefined || typeof text !== 'string' || text !== graph[node]?.inputs[field]) continue;
      inputs[field] = text.replaceAll(PART, (part) => values.get(partName(part)) ?? part);
    }
}
