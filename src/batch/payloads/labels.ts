// The table of all payloads that Temporal holds. Each has a label with its kind, its name and its direction, which is part of
// what its encryption authenticates: a payload is read only where it was meant to be read.
//
//   kind      name           direction                     written by                  read by
//   workflow  its type       input                         clients, schedules,         the workflow
//                                                          parents, continue-as-new
//   workflow  its type       result, failure               the workflow                clients, parents
//   signal    its name       input                         clients, workers,           the workflow
//                                                          other workflows
//   activity  its type       input                         the workflow                the activity
//   activity  its type       result                        the activity                the workflow
//   activity  its type       failure                       the activity                the workflow, clients
//   activity  its type       heartbeat                     the activity                its next attempt, clients
//   memo      the field      value                         clients, the workflow       clients, the workflow
//   other                                                  anyone                      Temporal's web UI
//
// `other` are summaries, details, and all payloads of an application's own workflows. Labels of activities also name the call,
// because the result of one call must not be the result of another one. From version 4 on, a batch that continues as new names
// the run that wrote its input.

export const OTHER = 'other';

type WorkflowPart = 'input' | 'result' | 'failure';
type ActivityPart = 'input' | 'result' | 'failure' | 'heartbeat';

export const workflowLabel = (type: string, part: WorkflowPart): string => `workflow ${type} ${part}`;

/** The input with which this run continues as new: an earlier state of the batch must not be replayed. */
export const continuedLabel = (type: string, runId: string): string =>
  `${workflowLabel(type, 'input')} @${runId}`;

export const signalLabel = (name: string): string => `signal ${name} input`;

export const memoLabel = (field: string): string => `memo ${field} value`;

/** Identifies one scheduled activity. */
export type ActivityCall = {
  readonly activityType: string;
  readonly activityId: string;
  readonly workflowType: string;
  readonly runId: string;
};

/**
 * Activity ids are unique in one run of a workflow. A batch continues in further runs; other workflows may be reset, and then
 * another run reads the results of the first one.
 */
export const activityLabel = (call: ActivityCall, part: ActivityPart): string =>
  `activity ${call.activityType} ${part} ${call.activityId}${call.workflowType === 'runsheetBatch' ? `@${call.runId}` : ''}`;

/** The activity id in a label; undefined for payloads that belong to no activity. */
export const activityIdIn = (label: string): string | undefined =>
  /^activity \S+ \S+ ([^@]*)/.exec(label)?.[1];

/**
 * Clients read results, memos, schedule inputs, and heartbeats and failures to show them. All other payloads are for
 * workers.
 */
export const isForClients = (label: string): boolean =>
  /^(?:(?:workflow|memo|other)\b|activity \S+ (?:heartbeat|failure) )/.test(label);

/** Whether runsheet defines workflows of this type; others belong to an application. */
export const isOwnWorkflow = (workflowType: string): boolean => workflowType.startsWith('runsheet');

/** The same by workflow id. */
export const isOwnWorkflowId = (workflowId: string): boolean => /^runsheet(?:-[a-z]+)?:/.test(workflowId);

/** Names in the metadata of a payload between the codec and its reader; Temporal never sees them. */
export const LABEL = 'runsheet-label';
/** Why the codec refused the payload. */
export const REFUSED = 'runsheet-refused';
/** Set beside REFUSED if another worker may be able to read the payload. */
export const ELSEWHERE = 'runsheet-elsewhere';
