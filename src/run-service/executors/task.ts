// A task is what runs a row: a graph in ComfyUI, a model at a vendor, or a program on this machine. Only the
// functions of this file know the difference; queues, servers and files treat all tasks alike.

import { badValue, listed, type Refusal } from '../../service-client/contract/refusal.ts';
import { parseExactly, exactText } from '../../host/formats/exact-json.ts';
import { nearest } from '../../errors/error.ts';
import type { Backend, PutFile, SentWork } from './backend.ts';
import {
  choicesOf,
  filledGraph,
  misfitOf,
  NO_CHOICES,
  offeredInputs,
  type Choices,
  type InputValues,
  type InstalledNodes,
} from './workflow/filled-workflow.ts';
import type { InputType, Workflow } from './workflow/workflow.ts';
import { fieldsNamed, inputRefusals } from './workflow/input-refusals.ts';
import type { Price } from './vendor-price.ts';
import type { TaskTarget } from './target.ts';
import { faultIn } from './workflow/workflow-faults.ts';
import { workerInput } from './vendors/comfy-worker.ts';

export type Task = Workflow | InputsTask;

/** A task that gets the inputs of a row as they are. */
export type InputsTask = TaskTarget & {
  /** undefined: nothing describes them, so any input is passed on. */
  readonly inputs: readonly InputType[] | undefined;
  readonly isPaid: boolean;
  readonly runTimeoutSeconds: number;
  /** The graph that a container of ComfyUI at the vendor gets, with the inputs filled in. */
  readonly workflow?: Workflow;
  /** Absent if nothing tells what a run costs. */
  readonly price?: Price;
};

export const keptTask = (task: Task): string => exactText(task);
export const restoredTask = (text: string): Task => parseExactly(text) as Task;

export const isGraph = (task: Task): task is Workflow => task.kind === undefined;

/** Whether this server runs such tasks. */
export function runsAt(task: Task, { kind, address }: Pick<Backend, 'kind' | 'address'>): boolean {
  if (isGraph(task)) return kind === 'comfyui' || kind === 'comfy-api';
  if (task.kind === 'program') return kind === 'gpu';
  return kind === task.vendor && (address === undefined || address === task.model);
}

export const takesFiles = ({ inputs = [] }: Task): boolean =>
  inputs.some(({ fields }) => fields.some(({ isFile }) => isFile));

/** The values of a run that only some servers may offer. */
export const choicesIn = (task: Task, values: InputValues): Choices =>
  isGraph(task) ? choicesOf(task, values) : NO_CHOICES;

/** Why a server with these nodes cannot execute the task; undefined if it can. */
export function misfitIn(task: Task, choices: Choices, nodes: InstalledNodes): string | undefined {
  if (isGraph(task)) return misfitOf(task, choices, nodes);
  return typeof nodes === 'string' ? nodes : undefined;
}

/** The inputs with the options that servers offer now. */
export const inputsOffered = (
  task: Task,
  installed: readonly (InstalledNodes | undefined)[],
): readonly InputType[] | undefined => (isGraph(task) ? offeredInputs(task, installed) : task.inputs);

/** Why a run with these inputs would be refused. */
export function refusalsIn(
  task: Task,
  offered: readonly InputType[] | undefined,
  values: InputValues,
): readonly Refusal[] {
  const workflow = isGraph(task) ? task : task.workflow;
  if (workflow !== undefined) return inputRefusals({ ...workflow, inputs: offered ?? [] }, values);
  if (offered === undefined) return [];
  const names = offered.map(({ name }) => name);
  const wrong = Object.entries(values).flatMap(([name, value]) => {
    const input = offered.find((candidate) => candidate.name === name);
    const why = input === undefined ? 'unknown' : faultIn(value, input);
    return why === undefined ? [] : [{ name, value, why, isUnknown: input === undefined }];
  });
  return listed(wrong, ({ name, value, why, isUnknown }) => [
    badValue(['body', 'inputs', name], value, isUnknown ? unknownText(task.name, name, names) : why),
  ]);
}

function unknownText(task: string, name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return `${task} has no input ${name}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** The part of a run that its server gets. `files`: the names of input files there, by the value of the input. */
export function workOf(
  task: Task,
  values: InputValues,
  run: {
    readonly id: string;
    readonly day: string;
    readonly webhookUrl?: string | undefined;
  },
  files: ReadonlyMap<string, PutFile>,
): SentWork {
  if (isGraph(task)) return { kind: 'graph', graph: filledGraph(task, values, run, files) };
  const { workflow } = task;
  const inputs =
    workflow === undefined ? sentInputs(values, files) : workerInput(workflow, values, run, files);
  const { webhookUrl } = run;
  return { kind: 'inputs', inputs, ...(webhookUrl !== undefined && { webhookUrl }) };
}

const sentInputs = (values: InputValues, files: ReadonlyMap<string, PutFile>): InputValues =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, (typeof value === 'string' && files.get(value)) || value]),
  );

/** The inputs of a run whose value names a file. */
export const fileValuesIn = ({ inputs = [] }: Task, values: InputValues): readonly unknown[] =>
  Object.entries(values)
    .filter(([name]) => fieldsNamed(inputs, name)?.some(({ isFile }) => isFile))
    .map(([, value]) => value);

/** The class and the title of a node of the task; a program and a model have none. */
export function nodeIn(
  task: Task | undefined,
  node: string,
): { readonly class: string; readonly title?: string } {
  if (task === undefined || !isGraph(task)) return { class: '' };
  const { graph, titles = {} } = task;
  return {
    class: graph[node]?.class_type ?? '',
    ...(Object.hasOwn(titles, node) && { title: titles[node] as string }),
  };
}
