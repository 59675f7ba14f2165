// The inputs of a workflow: certain names from the graph, ambiguous names, and every other field as
// NODE.FIELD.

import { isRawNumber } from '../../../host/formats/exact-json.ts';
import { problem } from '../../../errors/error.ts';
import type { ClassInput } from '../backend.ts';
import { fileKindAt, type Files } from './naming/loaded-files.ts';
import { isLiteral, LiveGraph, type GraphNodes } from './naming/graph.ts';
import { isFillable, namesOf, type Names } from './naming/names.ts';
import { namesBefore } from './naming/names-before.ts';
import { pathOf, type FieldPlace } from './naming/values.ts';
import { isPart, partName } from './naming/prompts.ts';
import { isUnsetNumber, type Classes } from './workflow-faults.ts';

/** `part`: the part of the field's text that the value replaces, such as `{{subject}}`. */
export type Field = FieldPlace & { readonly isFile: boolean; readonly part?: string | undefined };

export type InputType = {
  readonly name: string;
  readonly type: string;
  readonly default: unknown;
  /** A text that keeps all digits. */
  readonly min: string | undefined;
  readonly max: string | undefined;
  readonly options: readonly string[] | undefined;
  readonly fields: readonly Field[];
  /** Alternative names of the same fields. */
  readonly also?: readonly string[] | undefined;
  /** Names in batches from the time when rows referred to inputs by name. */
  readonly before?: readonly string[] | undefined;
  /** Set for an ambiguous name, so that a column of this name raises a question. `isChoice`: no answer can be proposed. */
  readonly ask?: { readonly why: string; readonly isChoice: boolean } | undefined;
  /** The field's last word, if it is unique among the nodes: a column of this name may mean the field. */
  readonly word?: string | undefined;
  /** The workflow's default file is on none of its servers, so the sheet has to give one. */
  readonly isAbsent?: true | undefined;
  /** The field holds a placeholder instead of a number, so the sheet has to give one. */
  readonly isUnset?: true | undefined;
  /** The field reaches no output. */
  readonly isIdle?: true | undefined;
  /** The node of the first field, as its owner sees it. */
  readonly node?: { readonly class: string; readonly title: string | undefined } | undefined;
};

const TYPES: ReadonlyMap<string, string> = new Map([
  ['INT', 'int'],
  ['FLOAT', 'float'],
  ['BOOLEAN', 'bool'],
  ['STRING', 'string'],
  ['COMBO', 'enum'],
]);
/** The names of file kinds for clients. */
const FILE_TYPES: Readonly<Record<Files, string>> = {
  image: 'image',
  mask: 'image',
  video: 'video',
  audio: 'audio',
  model: 'file',
  file: 'file',
};

/** The inputs of a graph. `own`: names from a deployments file. Throws E602 if such a name refers to a missing field. */
export function inputsOf(
  workflow: string,
  nodes: GraphNodes,
  classes: Classes,
  own: Readonly<Record<string, readonly string[]>>,
): readonly InputType[] {
  const graph = new LiveGraph(nodes, classes);
  const type = typer(graph);
  const ownInputs = Object.entries(own).map(([name, paths]) =>
    type(
      name,
      paths.map((path) => placeNamed(workflow, nodes, path)),
    ),
  );
  const taken = new Set(ownInputs.flatMap(({ fields }) => fields.map(pathOf)));
  const names = without(namesOf(nodes, classes), taken, new Set(Object.keys(own)));
  const graphs = joined(
    names.named.map(({ name, places, also, part }) => ({
      ...type(name, places, part),
      ...(also.length > 0 && { also }),
    })),
  );
  const named = withUnset(graphs, graph, type);
  // A placeholder from the owner decides which place is meant.
  const certain = new Set(named.map(({ name }) => name));
  const open = names.open.filter(({ name }) => !certain.has(name));
  const ambiguous = open.map(({ name, places, why, isChoice = false }) => ({
    ...type(name, places),
    ask: { why, isChoice },
  }));
  const covered = new Set(
    [...ownInputs, ...named].flatMap(({ fields }) =>
      fields.filter(({ part }) => part === undefined).map(pathOf),
    ),
  );
  const words = new Map(names.single.map(({ name, place }) => [pathOf(place), name]));
  const unnamed = Object.entries(nodes).flatMap(([node, { inputs }]) =>
    Object.keys(inputs)
      .filter((field) => isFillable(inputs[field], field) && !covered.has(`${node}.${field}`))
      .map((field) => ({
        ...type(`${node}.${field}`, [{ node, field }]),
        ...(words.has(`${node}.${field}`) && { word: words.get(`${node}.${field}`) }),
        ...(!graph.live.has(node) && { isIdle: true as const }),
      })),
  );
  return withOldNames([...ownInputs, ...named, ...ambiguous, ...unnamed], nodes, own);
}

/** Adds the placeholders that stand for a number as names, beside the names from the graph. */
function withUnset(
  named: readonly InputType[],
  graph: LiveGraph,
  type: ReturnType<typeof typer>,
): readonly InputType[] {
  const unset = [...graph.live].flatMap((node) =>
    Object.entries(graph.nodes[node]?.inputs ?? {}).flatMap(([field, value]) =>
      isPart(value) && isUnsetNumber(value, graph.classOf(node)?.inputs[field])
        ? [{ name: partName(value.trim()), place: { node, field } }]
        : [],
    ),
  );
  let inputs = named;
  for (const [name, placesToSet] of Map.groupBy(unset, (input) => input.name)) {
    const paths = new Set(placesToSet.map(({ place }) => pathOf(place)));
    const owner = inputs.find((input) => input.fields.some((field) => paths.has(pathOf(field))));
    if (inputs.some((input) => input.name === name)) continue;
    inputs =
      owner === undefined
        ? [
            ...inputs,
            type(
              name,
              placesToSet.map(({ place }) => place),
            ),
          ]
        : inputs.map((input) =>
            input === owner ? { ...input, also: [...(input.also ?? []), name] } : input,
          );
  }
  return inputs;
}

/** A text placeholder with the name of another input gets that input's value, too. */
const joined = (inputs: readonly InputType[]): readonly InputType[] =>
  [...Map.groupBy(inputs, ({ name }) => name).values()].flatMap(([first, ...twins]) =>
    first === undefined ? [] : [{ ...first, fields: [first, ...twins].flatMap(({ fields }) => fields) }],
  );

/** Adds the former names of inputs, such as titles that several share, which older batches use. */
function withOldNames(
  inputs: readonly InputType[],
  nodes: GraphNodes,
  own: Readonly<Record<string, readonly string[]>>,
): readonly InputType[] {
  const before = namesBefore(nodes, own).filter(([name]) => !name.includes('.'));
  const byPath = Map.groupBy(
    before.flatMap(([name, fields], rank) => fields.map((path) => ({ name, rank, path }))),
    ({ path }) => path,
  );
  const titles = onlyTitles(nodes);
  return inputs.map((input) => {
    const whole = input.fields.filter(({ part }) => part === undefined);
    const former = whole.flatMap((field) => byPath.get(pathOf(field)) ?? []);
    const old = [...new Set(former.toSorted((a, b) => a.rank - b.rank).map(({ name }) => name))];
    const [only, ...further] = whole;
    const title = only && further.length === 0 ? titles.get(only.node) : undefined;
    const byTitle = only && title !== undefined ? [`${title}.${only.field}`] : [];
    const also = new Set([...(input.also ?? []), ...old, ...byTitle]);
    also.delete(input.name);
    return {
      ...input,
      ...(also.size > 0 && { also: [...also] }),
      ...(old.length > 0 && { before: old }),
    };
  });
}

/** Titles that only one node has, by node: `Base.steps` means the same field as `3.steps`, even after nodes are renumbered. */
function onlyTitles(nodes: GraphNodes): ReadonlyMap<string, string> {
  const titled = Object.entries(nodes).flatMap(([node, { _meta: meta }]) => {
    const title = meta?.title?.trim() ?? '';
    return title === '' ? [] : [{ node, title }];
  });
  const groups = Map.groupBy(titled, ({ title }) => title);
  return new Map(
    [...groups].flatMap(([title, [first, ...more]]) =>
      first && more.length === 0 ? [[first.node, title]] : [],
    ),
  );
}

/** Own names win: a place with an own name leaves its group, and an own name replaces the same name from the graph. */
function without(
  { named, open, single }: Names,
  taken: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Names {
  const left = (places: readonly FieldPlace[]): readonly FieldPlace[] =>
    places.filter((place) => !taken.has(pathOf(place)));
  const isLeft = ({
    name,
    places,
  }: {
    readonly name: string;
    readonly places: readonly FieldPlace[];
  }): boolean => places.length > 0 && !own.has(name);
  return {
    named: named.map((input) => ({ ...input, places: left(input.places) })).filter(isLeft),
    open: open.map((input) => ({ ...input, places: left(input.places) })).filter(isLeft),
    single: single.filter(({ place }) => !taken.has(pathOf(place))),
  };
}

function placeNamed(workflow: string, nodes: GraphNodes, path: string): FieldPlace {
  const [node = '', ...fieldPath] = path.split('.');
  const field = fieldPath.join('.');
  if (!isLiteral(nodes[node]?.inputs[field]))
    throw problem('E602', {
      what: `the workflow ${workflow} has no field ${path}`,
      hint: 'a field is NODE.FIELD with a value of its own, such as 6.text',
    });
  return { node, field };
}

/** Describes an input by its first field. */
const typer =
  (graph: LiveGraph) =>
  (name: string, places: readonly FieldPlace[], part?: string): InputType => {
    const [first] = places as readonly [FieldPlace];
    const { class_type: nodeClass = '', inputs = {}, _meta: meta } = graph.nodes[first.node] ?? {};
    const input = graph.classOf(first.node)?.inputs[first.field];
    const value = inputs[first.field];
    const kind = part === undefined ? fileKindAt(graph, first) : undefined;
    const isUnset =
      part === undefined &&
      places.some(({ node, field }) =>
        isUnsetNumber(graph.nodes[node]?.inputs[field], graph.classOf(node)?.inputs[field]),
      );
    return {
      name,
      type: kind === undefined ? typeNameOf(input, value, part) : FILE_TYPES[kind],
      default: isUnset ? undefined : (part ?? value),
      ...(isUnset && { isUnset: true as const }),
      min: part === undefined ? lowestOf(input?.min) : undefined,
      max: part === undefined ? input?.max : undefined,
      options: kind === undefined && part === undefined ? input?.options : undefined,
      fields: places.map((place) => ({
        ...place,
        isFile: part === undefined && fileKindAt(graph, place) !== undefined,
        ...(part !== undefined && { part }),
      })),
      node: { class: nodeClass, title: meta?.title },
    };
  };

/** Some nodes write the lowest 64-bit integer, or its float approximation, to say that there is no bound. */
const lowestOf = (bound: string | undefined): string | undefined =>
  bound !== undefined && NO_BOUND.has(bound) ? undefined : bound;
const NO_BOUND: ReadonlySet<string> = new Set(['-9223372036854775808', '-9223372036854776000']);

function typeNameOf(classInput: ClassInput | undefined, value: unknown, part: string | undefined): string {
  if (part !== undefined) return 'string';
  const type = TYPES.get(classInput?.type ?? '');
  if (type !== undefined) return type;
  if (typeof value === 'boolean') return 'bool';
  if (isRawNumber(value)) return 'int';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'string';
}
