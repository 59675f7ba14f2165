// The specification's table of the Run as data; rules and cases are generated from its rows.

type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array';
export type RunField = {
  readonly name: string;
  readonly type: FieldType;
  readonly format?: 'uuid' | 'date-time';
  readonly only?: 'specification';
};

const row = (name: string, type: FieldType, format?: RunField['format']): RunField => ({
  name,
  type,
  ...(format && { format }),
});

export const RUN_FIELDS: readonly RunField[] = [
  row('id', 'string', 'uuid'),
  row('workflow_version_id', 'string', 'uuid'),
  row('workflow_inputs', 'object'),
  row('workflow_id', 'string', 'uuid'),
  // The real service no longer shows it.
  { ...row('workflow_api', 'object'), only: 'specification' },
  row('machine_id', 'string', 'uuid'),
  row('origin', 'string'),
  row('status', 'string'),
  row('ended_at', 'string', 'date-time'),
  row('created_at', 'string', 'date-time'),
  row('updated_at', 'string', 'date-time'),
  row('queued_at', 'string', 'date-time'),
  row('started_at', 'string', 'date-time'),
  row('gpu_event_id', 'string'),
  row('gpu', 'string'),
  row('machine_version', 'string'),
  row('machine_type', 'string'),
  row('worker_function_call_id', 'string'),
  row('user_id', 'string'),
  row('org_id', 'string'),
  row('live_status', 'string'),
  row('progress', 'number'),
  row('is_realtime', 'boolean'),
  row('webhook', 'string'),
  row('webhook_status', 'string'),
  row('webhook_intermediate_status', 'boolean'),
  row('outputs', 'array'),
  row('number', 'number'),
  row('duration', 'number'),
  row('cold_start_duration', 'number'),
  row('cold_start_duration_total', 'number'),
  row('run_duration', 'number'),
];

/** The fields that may be empty even in a succeeded run whose request used every option. */
export const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  'machine_version',
  'machine_type',
  'gpu_event_id',
  'org_id',
  'user_id',
  'live_status',
  'webhook_status',
]);

export const GPU_VALUES = ['T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB', 'H100'] as const;
/** The additional values of the real service. */
export const VENDOR_GPU_VALUES = ['CPU', 'H200', 'B200'] as const;
