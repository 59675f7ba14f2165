// A placeholder in the place of a number is an input that a sheet has to give.

import { expect, it } from 'vitest';
import { workflowOf, type Classes } from '../../src/run-service/executors/workflow/workflow.ts';
import { readGraph } from '../../src/run-service/executors/workflow/workflow-text.ts';
import { openStandIn, OwnService, portrait } from './own-service.ts';
import { sentTo } from './sent-graph.ts';

const marked = (seed: string) => {
  const graph = portrait();
  Object.assign(graph['3']?.inputs ?? {}, { seed });
  return graph;
};

it.each(['%seed%', '{{seed}}', ' {{ Seed }} ', '%number%'])(
  '%s as the whole value of a number is required, has no default, and is sent as the number',
  async (value) => {
    const gpu = await openStandIn();
    const own = await OwnService.of([gpu], marked(value));
    const name = value.includes('number') ? 'number' : 'seed';
    const { input_types: types } = (await own.ask('GET', `/deployment/${own.deployment}`)).json as {
      readonly input_types: readonly Record<string, unknown>[];
    };
    const input = types.find(
      (type) => type['input_id'] === name || (type['also'] as string[])?.includes(name),
    );
    expect(input).toMatchObject({ type: 'int', required: true, fields: ['3.seed'] });
    expect(input?.['default_value']).toBeNull();
    const id = await own.queue({ '3.seed': 4 });
    expect((await own.until(id)).status).toBe('success');
    expect((await sentTo(gpu, id))['3']?.inputs['seed']).toBe(4);
  },
);

it.each([
  [
    'a missing node',
    { 1: { class_type: 'Absent', inputs: {} } },
    /^install the missing nodes at the server$/,
  ],
  [
    'a wrong link',
    { 1: { class_type: 'Save', inputs: { images: ['9', 0] } } },
    /^correct these links and values in ComfyUI, and export it again$/,
  ],
])('the hint says what helps against %s', (_, graph, hint) => {
  const classes = new Map([['Save', { inputs: {}, isOutput: true }]]) as unknown as Classes;
  const { nodes } = readGraph({ name: 'w', text: JSON.stringify(graph) });
  expect(() => workflowOf('w', nodes, classes)).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(hint) }),
  );
});
