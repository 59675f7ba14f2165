// Names and faults of graphs far larger than people have: their cost grows with the number of fields and links.

import { expect, it } from 'vitest';
import { graphsIn } from '../../../src/run-service/executors/workflow/naming/graph-in-file.ts';
import { LiveGraph, type GraphNodes } from '../../../src/run-service/executors/workflow/naming/graph.ts';
import { faultsOf } from '../../../src/run-service/executors/workflow/workflow-faults.ts';
import { inputsOf } from '../../../src/run-service/executors/workflow/workflow-inputs.ts';
import { growthOf, MAX_LINEAR } from '../../stage/growth.ts';

const LINKS = 40;

const times = <T>(count: number, made: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => made(at));
const fields = (count: number, made: (at: number) => readonly [string, unknown]) =>
  Object.fromEntries(times(count, made));

/** Each node takes the outputs of those before it, the first of the last ones, and is saved. */
const ringOf = (output: string) => (size: number) =>
  Object.fromEntries([
    ...times(size, (at) => [
      `${at}`,
      {
        class_type: 'ImageBlend',
        inputs: fields(LINKS, (nth) => [`image_${nth}`, [`${(at + size - nth - 1) % size}`, 0]]),
      },
    ]),
    ...times(size, (at) => [`s${at}`, { class_type: output, inputs: { images: [`${at}`, 0] } }]),
  ]) as GraphNodes;

/** Samplers whose texts are all the same, in many fields. */
const samplers = (size: number): GraphNodes =>
  Object.fromEntries(
    times(size, (at) => [
      [
        `k${at}`,
        {
          class_type: 'KSampler',
          inputs: {
            positive: [`p${at}`, 0],
            negative: [`n${at}`, 0],
            seed: at,
            cfg: 7,
            latent_image: ['l', 0],
          },
        },
      ],
      [`p${at}`, { class_type: 'Texts', inputs: fields(LINKS, (nth) => [`text_${nth}`, 'a fox']) }],
      [`n${at}`, { class_type: 'Texts', inputs: fields(LINKS, (nth) => [`text_${nth}`, 'blurred']) }],
      [`o${at}`, { class_type: 'SaveImage', inputs: { images: [`k${at}`, 0] } }],
    ]).flat(),
  ) as GraphNodes;

/** Nodes whose titles were the names of their texts. */
const titled = (size: number): GraphNodes =>
  Object.fromEntries(
    times(size, (at) => [
      `${at}`,
      {
        class_type: 'SaveText',
        inputs: { text: 'a fox', from: [`${at}`, 0], ...fields(LINKS, (nth) => [`field_${nth}`, nth]) },
        _meta: { title: `title_${at}` },
      },
    ]),
  );

/** Pictures that are handed on through one long chain to one node. */
const pictures = (size: number): GraphNodes =>
  Object.fromEntries([
    ...times(size, (at) => [`l${at}`, { class_type: 'LoadImage', inputs: { image: `${at}.png` } }]),
    ...times(size, (at) => [
      `r${at}`,
      { class_type: 'ImageResize', inputs: { a: [`l${at}`, 0], b: [`r${at - 1}`, 0], c: [`r${at - 2}`, 0] } },
    ]),
    ['o', { class_type: 'SaveImage', inputs: { images: [`r${size - 1}`, 0] } }],
  ]) as GraphNodes;

it.each([
  ['many savers above one ring', ringOf('SaveImage'), 60],
  ['many previews above one ring', ringOf('PreviewImage'), 60],
  ['many samplers with one text', samplers, 60],
  ['many nodes with a title', titled, 100],
  ['many pictures on one chain', pictures, 100],
])('a graph of %s is named in time that grows with its fields', async (_, made, size) => {
  const work = (graph: GraphNodes): void => {
    inputsOf('large', graph, undefined, {});
    faultsOf(graph, undefined);
    new LiveGraph(graph, undefined).savedPreviews();
  };
  expect(await growthOf(size, made, work)).toBeLessThan(MAX_LINEAR);
});

it('a file of many graphs and values side by side is read in time that grows with its length', async () => {
  const made = (size: number): object =>
    Object.fromEntries(
      times(size, (at) => [
        [`graph_${at}`, { 1: { class_type: 'A', inputs: { at } } }],
        [`value_${at}`, at],
      ]).flat(),
    );
  expect(await growthOf(1_000, made, graphsIn)).toBeLessThan(MAX_LINEAR);
});
