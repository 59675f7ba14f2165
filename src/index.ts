// The library: import { connect } from 'runsheet'. docs/library.md explains it.

export { connect, type Runsheet } from './library/runsheet.ts';
export type { ConnectOptions, ServiceOptions } from './library/connect-options.ts';
export type { BatchOptions, ColumnMapping } from './library/batch-options.ts';
export type { Limits } from './library/given-limits.ts';
export type { Row, Sheet, Value } from './library/given-rows.ts';
export type {
  Ack,
  AddedRows,
  BatchHandle,
  EventsOptions,
  ResultOptions,
  RetryOptions,
  RowDetail,
  RowsOptions,
} from './library/batch-handle.ts';
export type { Pools } from './library/pools.ts';
export type { ScheduleOptions, Schedules } from './library/schedules.ts';
export type { Pool, PoolMember } from './temporal/pools.ts';
export type { CreatedSchedule, ScheduleHandle, ScheduleInfo } from './temporal/schedules.ts';
export type { Plan } from './library/batch-plan.ts';
export type { ShownEvent as BatchEvent } from './library/shown-events.ts';
export type { Verification } from './library/verification.ts';
export type { BatchStatus } from './library/batch-status.ts';
export type { Cursor, RowResult } from './library/ended-rows.ts';
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
