// The chapter "Resources and their fields": the rows of the Run's table, and what the other chapters say of a record.

import {
  inEndedRun,
  inRun,
  refusingRequests,
  without,
  inQueueRequest,
  showing,
  type Json,
} from '../violations.ts';
import { chapter, type Violation, type Rule } from '../rule.ts';
import { GPU_VALUES, RUN_FIELDS, VENDOR_GPU_VALUES, type RunField } from '../run-fields.ts';

const put = (name: string, value: unknown): Violation => inRun((run) => ({ ...run, [name]: value }));

const renamed = (name: string): Violation =>
  inRun((run) => ({ ...without(run, name), [`${name}_`]: run[name] }));

const WRONG: Readonly<Record<RunField['type'], unknown>> = {
  string: 7,
  number: '7',
  boolean: 'yes',
  object: 'none',
  array: {},
};

const MALFORMED = {
  // Another run's name would be a well-formed one.
  uuid: (value: unknown): unknown => String(value).replaceAll('-', '').slice(1),
  'date-time': (value: unknown): unknown => String(value).replace('T', ' '),
} as const;

const rowsOf = ({ name, type, format, only }: RunField): readonly Rule[] => [
  ...chapter('Run', [
    [`run.${name}`, `Get Run shows \`${name}\`, under exactly this name`, renamed(name), only],
    [`run.${name}.type`, `\`${name}\` has the type ${type} if it is not empty`, put(name, WRONG[type]), only],
  ]),
  ...(format === undefined ? [] : formatOf(name, format)),
];

const formatOf = (name: string, format: NonNullable<RunField['format']>): readonly Rule[] =>
  chapter('Run', [
    [
      `run.${name}.format`,
      `\`${name}\` has the format ${format}`,
      inRun((run) => (run[name] === null ? run : { ...run, [name]: MALFORMED[format](run[name]) })),
    ],
  ]);

const FIELDS: readonly Rule[] = RUN_FIELDS.flatMap(rowsOf);

const NOTES = chapter('Run', [
  ['run.id.note', '`id` is the identifier of the run', inRun((run) => ({ ...run, id: run['machine_id'] }))],
  [
    'run.ended_at.utc',
    '`ended_at` is in UTC',
    inRun((run) => ({ ...run, ended_at: String(run['ended_at']).replace('Z', '+02:00') })),
  ],
  [
    'run.webhook.note',
    '`webhook` is the webhook target given at queue time, unchanged',
    inRun((run) => ({ ...run, webhook: decodeURIComponent(String(run['webhook'])) })),
  ],
  [
    'run.call-id.note',
    '`worker_function_call_id` identifies one call: no two runs have the same',
    put('worker_function_call_id', 'fc-01'),
  ],
]);

const GPUS: readonly Rule[] = [
  ...chapter(
    'GPU values',
    GPU_VALUES.map((gpu) => [
      `gpu.${gpu}`,
      `\`gpu\` may be ${gpu}`,
      refusingRequests((o) => o['gpu'] === gpu),
    ]),
  ),
  ...chapter('GPU values', [
    [
      'gpu.exactly',
      '`gpu` is one of the seven values and nothing else',
      inQueueRequest((request) => (request['gpu'] === 'H200' ? { ...request, gpu: 'H100' } : undefined)),
      'specification',
    ],
    [
      'gpu.spelling',
      'a GPU must be spelled exactly like this',
      inQueueRequest((request) => (request['gpu'] === 't4' ? { ...request, gpu: 'T4' } : undefined)),
    ],
    [
      'gpu.one',
      '`gpu` is one value, not a list',
      inQueueRequest((request) =>
        Array.isArray(request['gpu']) ? { ...request, gpu: request['gpu'][0] } : undefined,
      ),
    ],
  ]),
  ...chapter(
    'Real service: GPU values',
    VENDOR_GPU_VALUES.map((gpu) => [
      `gpu.${gpu}`,
      `\`gpu\` may be ${gpu} too`,
      refusingRequests((request) => request['gpu'] === gpu),
      'vendor',
    ]),
  ),
];

const never = (status: string): Violation =>
  inRun((run) => ({ ...run, status, ended_at: null, outputs: [], run_duration: null }));

const SERVICE = chapter('What the service does', [
  ['does.execute', 'the service executes queued runs', never('not-started')],
  [
    'does.new-run',
    'each request returns the identifier of a new run',
    {
      exchange: async (received, pass, memory) => {
        const answer = await pass(received);
        if (!received.path.endsWith('/queue') || answer.status !== 200) return answer;
        const first = memory.get('first') ?? answer.body.toString();
        memory.set('first', first);
        return { ...answer, body: Buffer.from(first) };
      },
    },
  ],
  [
    'does.full-details',
    'Get Run returns all details of a run',
    inRun(({ id, status, ended_at }) => ({ id, status, ended_at })),
  ],
  ['record.status', 'a record carries its status', inRun((run) => ({ ...run, status: '' }))],
  ['record.timing', 'a record carries its timing', inEndedRun((run) => ({ ...run, ...blank(run, /_at$/) }))],
  ['record.gpu', 'a record carries its GPU', put('gpu', null)],
  [
    'record.webhook-settings',
    'a record carries its webhook settings',
    inRun((run) => ({ ...run, webhook: null, webhook_intermediate_status: false })),
  ],
  ['record.outputs', 'a record carries its outputs', put('outputs', [])],
]);

const blank = (run: Json, names: RegExp): Json =>
  Object.fromEntries(Object.keys(run).flatMap((name) => (names.test(name) ? [[name, null]] : [])));

const REAL = chapter('Real service: Get Run', [
  ['run.workflow_api.absent', 'Get Run no longer shows `workflow_api`', put('workflow_api', {}), 'vendor'],
  [
    'run.modal_function_call_id',
    "the call also has the vendor's field name, with the same value",
    inRun((run) => without(run, 'modal_function_call_id')),
  ],
  [
    'run.call-id.shape',
    'the identifier of a call is `fc-` and 26 letters and digits',
    inRun((run) => ({ ...run, worker_function_call_id: '7', modal_function_call_id: '7' })),
  ],
  ['run.origin.api', '`origin` of a run that was queued here is `api`', put('origin', 'manual')],
  [
    'run.dates.digits',
    'a date has six digits after its seconds, or none, and a Z',
    inRun((run) => ({ ...run, created_at: String(run['created_at']).replace('000Z', 'Z') })),
  ],
  [
    'run.query',
    "V1's `?run_id=` also works on the V2 base, and shows the same run",
    showing(
      ({ method, path }) => method === 'GET' && path.startsWith('/api/run?'),
      (run) => without(run, 'run_duration'),
    ),
  ],
  ['run.number.value', '`number` is 0', put('number', 1)],
  ['run.is_realtime.value', '`is_realtime` is false', put('is_realtime', true)],
  ['run.webhook_status.value', '`webhook_status` is never written', put('webhook_status', 'success')],
  [
    'run.progress.range',
    '`progress` is between 0 and 1',
    inRun((run) => ({ ...run, progress: Number(run['progress']) * 100 })),
  ],
  [
    'run.durations.seconds',
    'durations are in seconds',
    inRun((run) => ({ ...run, duration: run['duration'] === null ? null : Number(run['duration']) * 1000 })),
  ],
  ...(['duration', 'cold_start_duration', 'cold_start_duration_total', 'run_duration'] as const).map(
    (name) =>
      [
        `run.${name}.value`,
        DURATIONS(name),
        inEndedRun((run) => ({ ...run, [name]: Number(run[name]) + 0.01 })),
      ] as const,
  ),
  [
    'run.machine_type.value',
    '`machine_type` is one of the six kinds of machine',
    put('machine_type', 'toaster'),
  ],
]);

function DURATIONS(name: string): string {
  const parts: Readonly<Record<string, string>> = {
    duration: 'from created to ended',
    cold_start_duration: 'from queued to started',
    cold_start_duration_total: 'from created to started',
    run_duration: 'from started to ended',
  };
  return `\`${name}\` lasts ${parts[name]}`;
}

export const RUN_RULES: readonly Rule[] = [...FIELDS, ...NOTES, ...GPUS, ...SERVICE, ...REAL];
