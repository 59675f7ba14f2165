// Parts of a text that its owner marked are inputs: the rest of the text stays.

import { expect, it } from 'vitest';
import { openStandIn, OwnService, portrait } from './own-service.ts';
import { sentTo } from './sent-graph.ts';

/** The text of the sent graph. */
async function sentText(text: string, inputs: object): Promise<unknown> {
  const gpu = await openStandIn();
  const graph = portrait();
  Object.assign(graph['3'] ?? {}, { inputs: { text, seed: 1, style: 'plain' }, _meta: { title: 'Draw' } });
  Object.assign(graph['9']?.inputs ?? {}, { filename_prefix: '%date%/{{subject}}' });
  const own = await OwnService.of([gpu], graph);
  const id = await own.queue(inputs);
  const run = await own.until(id);
  expect(run.status).toBe('success');
  const sent = await sentTo(gpu, id);
  expect(sent['9']?.inputs['filename_prefix']).toMatch(/^runsheet\//);
  return sent['3']?.inputs['text'];
}

it.each([
  ['{{x}}', 'photo of {{subject}}, 4k', { subject: 'a fox' }, 'photo of a fox, 4k'],
  ['spaces and capitals in {{ X }}', 'a {{ Subject }} and {{subject}}', { subject: 'fox' }, 'a fox and fox'],
  ['%x%', 'a %subject% in %mood% light', { subject: 'fox', mood: 'red' }, 'a fox in red light'],
  ['__X__', 'a __SUBJECT__, 4k', { subject: 'fox' }, 'a fox, 4k'],
  ['every spelling of one name', '{{subject}} %subject% __SUBJECT__', { subject: 'fox' }, 'fox fox fox'],
  ['a part without a value', 'a {{subject}} in %mood%', { subject: 'fox' }, 'a fox in %mood%'],
  ['signs that replace means otherwise', 'a {{subject}}!', { subject: "$& $1 $$ $'" }, "a $& $1 $$ $'!"],
  [
    'a value that looks like a part',
    'a {{subject}} in {{mood}}',
    { subject: '{{mood}}', mood: 'red' },
    'a {{mood}} in red',
  ],
  ['a number', 'take {{nr}} of a fox', { nr: 7 }, 'take 7 of a fox'],
  ['the whole text by node and field', 'a {{subject}}', { '3.text': 'an {{owl}}' }, 'an {{owl}}'],
])('%s is filled in', async (_, text, inputs, sent) => {
  expect(await sentText(text, inputs)).toBe(sent);
});

it.each([
  ['a wildcard', 'a __animal__ in a forest'],
  ['a percentage', '50% wool and 30% silk'],
  ['a date', 'made %date:yyyy-MM-dd%'],
])('%s is no part of a text', async (_, text) => {
  const gpu = await openStandIn();
  const graph = portrait();
  Object.assign(graph['3'] ?? {}, { inputs: { text, seed: 1, style: 'plain' } });
  const own = await OwnService.of([gpu], graph);
  const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
  const names = (json as { readonly input_types: readonly { readonly input_id: string }[] }).input_types;
  expect(names.map(({ input_id }) => input_id)).toEqual(['prompt', 'seed', 'steps', '3.style', '5.seconds']);
});
