// The names that inputs get from a graph: of graphs of each kind, as they are and as other tools write them.

import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../../src/run-service/executors/workflow/workflow-faults.ts';
import { namesOf, type Names } from '../../../src/run-service/executors/workflow/naming/names.ts';
import { pathOf, type FieldPlace } from '../../../src/run-service/executors/workflow/naming/values.ts';
import { PICTURE_GRAPHS } from './picture-graphs.ts';
import { PROMPT_GRAPHS } from './prompt-graphs.ts';
import { SETTING_GRAPHS } from './setting-graphs.ts';
import { TEXT_GRAPHS } from './text-graphs.ts';
import { link, node, sampler, usualGraph, type NamedGraph, type Nodes } from './usual-graph.ts';

const GRAPHS: readonly NamedGraph[] = [
  ...PROMPT_GRAPHS,
  ...TEXT_GRAPHS,
  ...SETTING_GRAPHS,
  ...PICTURE_GRAPHS,
];

const UNTITLED = GRAPHS.filter(([, graph]) =>
  Object.values(graph).every(({ _meta: meta }) => meta === undefined),
);

/** The meaning of a name, written as in the tables. */
function meaning({ named, open }: Names, name: string): string | undefined {
  const question = open.find((openName) => openName.name === name);
  if (question !== undefined) return question.isChoice === true ? '?!' : '?';
  const input = named.find((candidate) => candidate.name === name || candidate.also.includes(name));
  return input?.places.map(pathOf).toSorted().join('+');
}

const meanings = (graph: Nodes, names: readonly string[]): Readonly<Record<string, string | undefined>> => {
  const derived = namesOf(graph, undefined);
  return Object.fromEntries(names.map((name) => [name, meaning(derived, name)]));
};

/** Every name with the fields that it fills or is asked about. */
const allNames = (graph: Nodes, idOf?: (id: string) => string): readonly string[] => {
  const { named, open, single } = namesOf(graph, undefined);
  const fields = (places: readonly FieldPlace[]): string =>
    places
      .map((place) => pathOf(idOf === undefined ? place : { ...place, node: idOf(place.node) }))
      .toSorted()
      .join('+');
  return [
    ...named.map(({ name, places }) => `${name} ${fields(places)}`),
    // Pictures that only their order tells apart are numbered by it, and asked about.
    ...open.map(({ name, places }) => `${name.replace(/_\d$/, '_n')} ? ${fields(places)}`),
    ...single.map(({ name, place }) => `${name} one ${fields([place])}`),
  ].toSorted();
};

const isLink = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'number';

/** The graph with other ids of nodes. */
function renamed(graph: Nodes, idOf: (id: string) => string): Nodes {
  const inputsOf = (inputs: Nodes[string]['inputs']) =>
    Object.fromEntries(
      Object.entries(inputs).map(([field, value]) => [
        field,
        isLink(value) ? [idOf(value[0]), value[1]] : value,
      ]),
    );
  return Object.fromEntries(
    Object.entries(graph).map(([id, own]) => [idOf(id), { ...own, inputs: inputsOf(own.inputs) }]),
  );
}

const reversed = (graph: Nodes): Nodes => Object.fromEntries(Object.entries(graph).toReversed());

describe('the names of a graph', () => {
  it.each(GRAPHS)('%s', (_, graph, names) => {
    const actual = Object.entries(meanings(graph, Object.keys(names))).map(([name, what]) => [
      name,
      names[name] === '?' && what?.startsWith('?') === true ? '?' : what,
    ]);
    const expected = Object.entries(names).map(([name, what]) => [
      name,
      what?.split('+').toSorted().join('+'),
    ]);
    expect(actual).toEqual(expected);
  });

  it.each(GRAPHS)('stay when the nodes have other numbers and another order: %s', (_, graph) => {
    const newId = (id: string): string => String(1000 - Number(id));
    expect(allNames(renamed(graph, newId), newId)).toEqual(allNames(graph));
    expect(allNames(reversed(graph))).toEqual(allNames(graph));
  });

  it.each(GRAPHS)('stay when nodes are there that reach no output: %s', (_, graph) => {
    const dead = {
      ...graph,
      901: node('LoadImage', { image: 'dead.png' }, 'Dead Picture'),
      902: node('CLIPTextEncode', { text: 'dead', clip: link(4, 1) }),
      903: node('RandomNoise', { noise_seed: 9 }),
      904: node('EmptyLatentImage', { width: 64, height: 64, batch_size: 1 }),
    };
    expect(allNames(dead)).toEqual(allNames(graph));
  });

  it.each(GRAPHS)('never mean a field twice without a question: %s', (_, graph) => {
    const { named } = namesOf(graph, undefined);
    const paths = named.filter(({ part }) => part === undefined).flatMap(({ places }) => places.map(pathOf));
    expect(paths.toSorted()).toEqual([...new Set(paths)].toSorted());
  });

  it.each(UNTITLED)('do not need the titles that ComfyUI gives: %s', (_, graph, names) => {
    const titled = Object.fromEntries(
      Object.entries(graph).map(([id, content]) => [
        id,
        { ...content, _meta: { title: content.class_type } },
      ]),
    );
    expect(meanings(titled, Object.keys(names))).toEqual(meanings(graph, Object.keys(names)));
  });

  it.each([
    ['in a row', (id: number) => node('ConditioningCombine', { a: link(id + 1), b: link(id + 2) })],
    [
      'over switches',
      (id: number) =>
        node('ComfySwitchNode', {
          switch: true,
          on_true: link(id + 1),
          on_false: link(id + 1),
          steps: link(id + 1),
          positive: link(id + 1),
        }),
    ],
    ['side by side', (id: number) => node('LoadImage', { image: 'a.png' }, `picture ${id}`)],
  ])('are found soon in as many nodes as may be, %s', (_, make) => {
    const ids = Array.from({ length: 1_990 }, (__, id) => id + 10);
    const merged = node('Merge', Object.fromEntries(ids.map((id) => [`input${id}`, link(id)])));
    const graph: Nodes = {
      ...Object.fromEntries(ids.map((id) => [id, make(id)])),
      3: sampler({ positive: link(10) }),
      5: merged,
      9: node('SaveImage', { images: link(5), filename_prefix: 'x' }),
    };
    const began = process.cpuUsage();
    namesOf(graph, undefined);
    expect(process.cpuUsage(began).user).toBeLessThan(10e6);
  });

  it.each(['constructor', '__proto__', 'toString'])('lead nowhere by a link to %s', (id) => {
    const graph = usualGraph({ 6: node('CLIPTextEncode', { text: 'a fox', clip: link(id, 1) }) });
    expect(meanings(graph, ['prompt', 'seed'])).toEqual({ prompt: '6.text', seed: '3.seed' });
    expect(faultsOf(graph, undefined).map(({ text }) => text)).toEqual([
      `node 6 (CLIPTextEncode): clip is a link to node ${id}, which is not there`,
    ]);
  });
});
