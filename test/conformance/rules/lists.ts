// The lists, deployments and prices of the real service, with what a client needs that looks for a lost run.

import {
  answering,
  answerOf,
  at,
  showing,
  changingAnswer,
  without,
  withJson,
  jsonOf,
  type Json,
} from '../violations.ts';
import { chapter, type Violation, type Rule } from '../rule.ts';

const workflowRuns = at(/^\/api\/workflow\/[^/]+\/runs$/);
const deploymentRuns = at(/^\/api\/deployment\/[^/]+\/runs$/);
const deployment = at(/^\/api\/deployment\/[^/]+$/);
const deployments = at(/^\/api\/deployments$/);
const prices = at(/gpu-pricing$/);
const NOT_FOUND = answerOf(404, { detail: 'Not Found' });

const inList = (change: (runs: Json[], path: string) => unknown): Violation =>
  showing(workflowRuns, (runs, { path }) => change(runs as unknown as Json[], path));
const inPage = (change: (runs: Json[]) => unknown): Violation =>
  showing(deploymentRuns, (page) => ({ ...page, data: change(page['data'] as Json[]) }));
const inEach =
  (change: (run: Json) => Json) =>
  (runs: Json[]): Json[] =>
    runs.map(change);

const LISTED = ['id', 'status', 'webhook', 'created_at', 'updated_at', 'workflow_id', 'gpu', 'deployment_id'];
const LIGHT = [
  'id',
  'status',
  'created_at',
  'started_at',
  'ended_at',
  'workflow_id',
  'workflow_version_id',
  'machine_id',
  'gpu',
  'origin',
  'user_id',
  'deployment_id',
  'duration',
];
const DESCRIBED = ['id', 'workflow_id', 'gpu', 'concurrency_limit', 'run_timeout', 'input_types'];

const LISTS = chapter('Real service: run lists', [
  ['list.workflow', 'GET /workflow/{workflow_id}/runs lists its runs', answering(workflowRuns, NOT_FOUND)],
  ...LISTED.map(
    (name) =>
      [
        `list.workflow.${name}`,
        `each run in it shows \`${name}\``,
        inList(inEach((run) => without(run, name))),
      ] as const,
  ),
  ['list.workflow.newest', 'the newest run comes first', inList((runs) => [...runs].reverse())],
  [
    'list.workflow.inputs',
    'with_inputs=true shows workflow_inputs',
    inList(inEach((run) => without(run, 'workflow_inputs'))),
  ],
  [
    'list.workflow.no-outputs',
    'with_outputs=false hides outputs',
    inList(inEach((run) => ({ ...run, outputs: [] }))),
  ],
  ['list.workflow.limit', 'limit bounds the list', inList((runs) => [...runs, ...runs])],
  [
    'list.workflow.offset',
    'offset skips that many of the newest runs',
    {
      exchange: (received, pass) =>
        pass(
          workflowRuns(received)
            ? { ...received, path: received.path.replace(/offset=\d+/, 'offset=0') }
            : received,
        ),
    },
  ],
  [
    'list.workflow.own',
    'a user does not see the runs of another user',
    {
      exchange: (received, pass, memory) => {
        if (!workflowRuns(received)) return pass(received);
        const headers = {
          ...received.headers,
          authorization: memory.get('key') ?? received.headers['authorization'] ?? '',
        };
        memory.set('key', headers.authorization);
        return pass({ ...received, headers });
      },
    },
  ],
  [
    'list.deployment',
    'GET /deployment/{deployment_id}/runs returns {data, meta}',
    showing(deploymentRuns, (page) => page['data']),
  ],
  ...LIGHT.map(
    (name) =>
      [
        `list.deployment.${name}`,
        `each run in data shows \`${name}\``,
        inPage(inEach((run) => without(run, name))),
      ] as const,
  ),
  ['list.deployment.newest', 'the newest run comes first in data', inPage((runs) => [...runs].reverse())],
  [
    'list.deployment.duration.text',
    '`duration` in data is text',
    inPage(
      inEach((run) => ({ ...run, duration: run['duration'] === null ? null : Number(run['duration']) })),
    ),
  ],
  [
    'list.deployment.unknown',
    'runs of an unknown deployment: 404, `Deployment not found`',
    changingAnswer(deploymentRuns, (answer) =>
      answer.status === 404 ? answerOf(200, { data: [], meta: {} }) : answer,
    ),
  ],
]);

const DEPLOYMENTS = chapter('Real service: deployments', [
  ['deployments.list', 'GET /deployments lists the deployments', answering(deployments, NOT_FOUND)],
  ...DESCRIBED.map(
    (name) =>
      [
        `deployment.${name}`,
        `GET /deployment/{deployment_id} shows \`${name}\``,
        showing(deployment, (value) => without(value, name)),
      ] as const,
  ),
  [
    'deployment.input_types.value',
    'an input type has input_id and type',
    showing(deployment, (value) => ({ ...value, input_types: [{ name: 'prompt' }] })),
  ],
  [
    'prices.open',
    'GET /platform/gpu-pricing needs no key',
    answering(
      (received) => prices(received) && received.headers['authorization'] === undefined,
      answerOf(401, { detail: '' }),
    ),
  ],
  [
    'prices.seven',
    'there is a price for each of the seven GPUs, in dollars a second',
    changingAnswer(prices, (answer) => withJson(answer, without(jsonOf(answer.body) as Json, 'L40S'))),
  ],
]);

export { LISTED, LIGHT, DESCRIBED };
export const LIST_RULES: readonly Rule[] = [...LISTS, ...DEPLOYMENTS];
