// The titles of a workflow are in the graph that a server gets, which it writes into each picture.

import { expect, it } from 'vitest';
import type { Graph } from '../../src/run-service/executors/backend.ts';
import { filledGraph, NO_FILES } from '../../src/run-service/executors/workflow/filled-workflow.ts';
import { keptTask, restoredTask } from '../../src/run-service/executors/task.ts';
import { workflowOf, type Workflow } from '../../src/run-service/executors/workflow/workflow.ts';
import { readGraph } from '../../src/run-service/executors/workflow/workflow-text.ts';
import { openStandIn, OwnService, portrait } from './own-service.ts';
import { sentTo } from './sent-graph.ts';

/** A portrait with the title of a user on the node that draws. */
const titled = (title: string) => {
  const graph = portrait();
  Object.assign(graph['3'] ?? {}, { _meta: { title } });
  return graph;
};
const made = (graph: object) =>
  workflowOf('w', readGraph({ name: 'w', text: JSON.stringify(graph) }).nodes, undefined);
const sent = (workflow: ReturnType<typeof made>): Graph =>
  filledGraph(workflow, {}, { id: 'r', day: '2026-11-29' }, NO_FILES);

it('titles are sent with the graph, and make inputs again from what was sent', async () => {
  const gpu = await openStandIn();
  const own = await OwnService.of([gpu], titled('sky'));
  const id = await own.queue({ '3.seed': 7 });
  expect((await own.until(id)).status).toBe('success');
  const graph = await sentTo(gpu, id);
  expect(graph['3']).toMatchObject({ inputs: { seed: 7 }, _meta: { title: 'sky' } });
  const namesOf = (graphOrNode: object) => made(graphOrNode).inputs.map(({ name, also }) => [name, also]);
  expect(namesOf(graph)).toEqual(namesOf(titled('sky')));
});

it('titles are neither in the kept graph nor in the id of a workflow, and a workflow without them sends none', () => {
  const bare = made({ 1: { class_type: 'EmptyImage', inputs: { width: 8 } } });
  const noted = made({
    1: { class_type: 'EmptyImage', inputs: { width: 8 }, _meta: { title: 'EmptyImage' } },
  });
  expect([noted.id, noted.graph]).toEqual([bare.id, bare.graph]);
  expect(sent(bare)).toEqual({ 1: { class_type: 'EmptyImage', inputs: { width: 8 } } });
  expect(sent(restoredTask(keptTask(noted)) as Workflow)).toEqual({
    1: { class_type: 'EmptyImage', inputs: { width: 8 }, _meta: { title: 'EmptyImage' } },
  });
  const { nodeTitles: _, ...before } = noted;
  expect(sent(before)).toEqual(sent(bare));
});
