// The ids of workflows. The birth mark separates batches of the same name in one cluster, and a cleaned batch from its successor.

/** The workflow id of a batch: its name and its birth mark. */
export const workflowIdOf = ({ batch, mark }: BatchName): string => `runsheet:${batch}~${mark}`;

/** The batch behind a workflow id; undefined for other workflows. */
export function batchNameOf(workflowId: string): BatchName | undefined {
  const [, batch, mark] = /^runsheet:(.+)~([0-9a-f]{16})$/.exec(workflowId) ?? [];
  return batch === undefined || mark === undefined ? undefined : { batch, mark };
}

/** The workflow id of a schedule's firings, to which Temporal adds `-2026-11-23T01:00:00Z`, the nominal time. */
export const firingIdOf = (schedule: string): string => `runsheet-firing:${schedule}`;

/** The schedule of a firing, or of the payloads from which its firings start; undefined for other workflows. */
export const scheduleOfFiring = (workflowId: string): string | undefined =>
  /^runsheet-firing:([^:]+?)(?:-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$/.exec(workflowId)?.[1];

/** The nominal time of a firing by its workflow id; undefined if it is no firing of this schedule. */
export function nominalTimeOf(schedule: string, workflowId: string): number | undefined {
  const id = firingIdOf(schedule);
  const time = /^-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(workflowId.slice(id.length))?.[1];
  return workflowId.startsWith(id) && time !== undefined ? Date.parse(time) : undefined;
}

const SCHEDULE = 'runsheet:';

/** The id of a schedule in Temporal. */
export const scheduleIdOf = (schedule: string): string => `${SCHEDULE}${schedule}`;

/** The name of a schedule by its id; undefined if runsheet did not make it. */
export const scheduleOf = (scheduleId: string): string | undefined =>
  scheduleId.startsWith(SCHEDULE) ? scheduleId.slice(SCHEDULE.length) : undefined;

/** The workflow id of a pipeline: its name and a mark, because folders of batches may share a cluster. */
export const pipelineIdOf = ({
  pipeline,
  mark,
}: {
  readonly pipeline: string;
  readonly mark: string;
}): string => `runsheet-pipeline:${pipeline}~${mark}`;

/** The batch's name, and the birth mark that distinguishes it from other batches with that name. */
export type BatchName = { readonly batch: string; readonly mark: string };

/** A batch name with the folder of its files. */
export type BatchRef = BatchName & { readonly folder: string };

/** A run of a workflow. */
export type Execution = { readonly workflowId: string; readonly runId: string };
