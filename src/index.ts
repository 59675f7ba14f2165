// The library: import { connect } from 'runsheet'. docs/library.md explains it.

export { connect, type Runsheet } from './library/runsheet.ts';
export type { ConnectOptions, S3Options, ServiceOptions } from './library/connect-options.ts';
export type { BatchOptions, Duration, Limits, ReadingOptions } from './library/start/program-rows.ts';
export type { Row, Sheet, Value } from './library/start/program-rows.ts';
export type { ResultsOfBatch, Source } from './library/start/program-rows.ts';
export type { BatchHandle } from './library/handle/batch-handle.ts';
export type {
  Ack,
  AddedRows,
  AppendOptions,
  CancelOptions,
  CommandOptions,
  EventsOptions,
  LogsOptions,
  ResultOptions,
  ResumeOptions,
  RetryOptions,
  RowDetail,
  RowsOptions,
} from './library/handle/handle-options.ts';
export type { AppendPlan } from './library/handle/appended-sheet.ts';
export type { Comparison, CompareOptions } from './library/report/compared-batches.ts';
export type { Exported, ExportOptions } from './library/handle/exported-batch.ts';
export type { Deployments } from './library/deployments.ts';
export type { OpenedReport } from './library/report/opened-report.ts';
export type { Pools } from './library/pools.ts';
export type { ScheduleOptions, Schedules } from './library/schedules.ts';
export type { Pool, PoolMember } from './temporal/temporal-pools.ts';
export type { CreatedSchedule, ScheduleHandle, ScheduleInfo } from './temporal/temporal-schedules.ts';
export type { Plan } from './library/start/batch-plan.ts';
export type { Estimate } from './results/estimate.ts';
export type { ShownEvent as BatchEvent } from './library/handle/ended-rows.ts';
export type { AttemptEvent } from './results/all-events.ts';
export type { Verification, VerifyOptions } from './library/handle/verification.ts';
export type { BatchStatus } from './library/handle/batch-status.ts';
export type { Cursor, RowResult } from './library/handle/ended-rows.ts';
export type { Summary } from './results/summary.ts';
export type { Outcome } from './batch/outcome.ts';
export type { TemporalClient } from './temporal/connect.ts';
export { isRunsheetError, RunsheetError, type Code } from './errors/error.ts';
export {
  AlreadyDoneError,
  BatchPausedError,
  InputRefusedError,
  type RowIssue,
} from './library/thrown-errors.ts';
