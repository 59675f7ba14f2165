// Workflows as other tools keep them: the graph is found inside, and what is left out is said.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workflowIn } from '../../src/cli/flags/workflow-file.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openStandIn, OwnService, portrait } from './own-service.ts';
import { sentTo } from './sent-graph.ts';

const graph = portrait();
const otherGraph = portrait({ seconds: 0.01 });

/** Runs the graph of a file with a prompt. Returns the sent graph and the notes about the file. */
async function sentFrom(content: unknown, at = '') {
  const path = join(freshFolder(), 'wf_api.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  const gpu = await openStandIn();
  const own = await OwnService.of([]);
  const gpus = { servers: [{ url: gpu.url }], workflows: [workflowIn(`${path}${at}`)] };
  const [added] = (await own.service.addGpus(gpus)).deployments;
  own.deployment = added?.id ?? '';
  const id = await own.queue({ prompt: 'an owl' });
  await own.until(id);
  const notes = added?.notes.map((note) => note.replace(path, 'wf_api.json'));
  return { name: added?.name, notes, sent: await sentTo(gpu, id) };
}

const OWL = { '3': { inputs: { text: 'an owl', seed: 1 } }, '5': { inputs: { seconds: 0 } } };

it.each([
  ['an export', graph, []],
  ['the request of RunPod', { input: { workflow: graph } }, ['3 nodes at $.input.workflow']],
  [
    'the request of RunPod with pictures',
    { input: { workflow: graph, images: [{ name: 'a.png' }] } },
    ['3 nodes at $.input.workflow; $.input.images beside it is not read'],
  ],
  [
    'the body of POST /prompt',
    { prompt: graph, client_id: 'x', extra_data: { extra_pnginfo: { workflow: { nodes: [], links: [] } } } },
    ['3 nodes at $.prompt'],
  ],
  [
    'a file of ViewComfy',
    {
      file_type: '',
      workflows: [{ workflowApiJSON: graph, viewComfyJSON: { inputs: [] }, disabled: false }],
    },
    [
      '3 nodes at $.workflows[0].workflowApiJSON; $.workflows[0].viewComfyJSON, $.workflows[0].disabled beside it are not read',
    ],
  ],
  ['a graph under a name', { api_graph: graph, version: 2 }, ['3 nodes at $.api_graph']],
  ['a graph that is a text', { prompt: JSON.stringify(graph) }, ['3 nodes at $.prompt']],
  [
    'one key more than nodes',
    { ...graph, _meta: { author: 'x' } },
    ['3 nodes, without _meta, which is no node'],
  ],
  [
    'keys that are no nodes',
    { version: 0.4, _comment: 'x', ...graph },
    ['3 nodes, without version, _comment, which are no nodes'],
  ],
  ['the same graph twice', { a: graph, b: graph }, ['3 nodes at $.a']],
  [
    'JSON of Python with NaN',
    JSON.stringify({ ...graph, '3': { ...graph['3'], is_changed: ['NaN?'] } }).replace('"NaN?"', 'NaN'),
    [],
  ],
])('%s is read', async (_, content, notes) => {
  const read = await sentFrom(content);
  expect(read.name).toBe('wf');
  expect(read.notes).toEqual(notes.map((note) => `workflow of wf_api.json: ${note}`));
  expect(read.sent).toMatchObject(OWL);
  expect(Object.keys(read.sent)).toEqual(['3', '5', '9']);
});

it.each([
  ['#$.workflows[0].api', 0],
  ['#$.workflows[1].api', 0.01],
])('%s behind a file chooses one of its graphs', async (at, seconds) => {
  const { sent, name } = await sentFrom({ workflows: [{ api: graph }, { api: otherGraph }] }, at);
  expect([name, sent['5']?.inputs['seconds'], sent['3']?.inputs['text']]).toEqual(['wf', seconds, 'an owl']);
});

it.each([
  [
    'several different graphs',
    { a: graph, b: { ...otherGraph, '7': { class_type: 'PreviewAny', inputs: { source: ['5', 0] } } } },
    '',
    /has 2 different graphs: \$\.a \(3 nodes, saved by 9 SaveImage\); \$\.b \(4 nodes, saved by 7 PreviewAny, 9 SaveImage\)/,
    /--workflow '\S*wf_api\.json#\$\.a', or --workflow '\S*wf_api\.json#\$\.b'/,
  ],
  [
    'a choice that is not there',
    { a: graph },
    '#$.b',
    /has no graph at \$\.b, but \$\.a \(3 nodes/,
    /wf_api\.json#\$\.a'/,
  ],
  [
    'a name that would end its quotes',
    { "a'; echo $(id); '": graph, b: otherGraph },
    '',
    /has 2 different graphs/,
    /--workflow '\S*wf_api\.json#\$\.a'\\''; echo \$\(id\); '\\'''/,
  ],
  [
    'a class of very many letters',
    { 1: { class_type: 'A'.repeat(20_000), inputs: {} } },
    '',
    /20000 letters/,
    /Export/,
  ],
  [
    'a node of very many fields',
    {
      1: {
        class_type: 'A',
        inputs: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, 1])),
      },
    },
    '',
    /1001 fields/,
    /Export/,
  ],
  [
    'a graph of very many nodes',
    Object.fromEntries(Array.from({ length: 2_001 }, (_, id) => [id, { class_type: 'Draw', inputs: {} }])),
    '',
    /has 2001 nodes, more than 2000/,
    /split it/,
  ],
  [
    'the format of the editor',
    { nodes: [], links: [] },
    '',
    /is in the format of the editor/,
    /Export \(API\)/,
  ],
  [
    'the format of the editor inside another file',
    { extra_data: { workflow: { nodes: [{ id: 1, type: 'Draw' }], links: [] } } },
    '',
    /is in the format of the editor/,
    /Export \(API\)/,
  ],
  [
    'a graph behind too many walls',
    { a: { b: { c: { d: { e: { f: { g: graph } } } } } } },
    '',
    /no nodes with a class_type/,
    /Export/,
  ],
  ['a list of rows', [{ prompt: 'a fox' }], '', /no nodes with a class_type/, /Export/],
])('%s is refused', async (_, content, at, message, hint) => {
  await expect(sentFrom(content, at)).rejects.toMatchObject({
    code: 'E602',
    message: expect.stringMatching(message) as string,
    hint: expect.stringMatching(hint) as string,
  });
});
