// Answers Get Run with the true run, or with an injected false one.

import type { FastifyReply } from 'fastify';
import type { RunRecord } from '../../run-service/contract/run.ts';
import type { Status } from '../../run-service/contract/statuses.ts';
import { runToWire } from '../../run-service/contract/run.ts';
import type { RunRow } from '../runs/run-row.ts';
import type { Fault } from '../faults.ts';
import { uuidOf } from '../identity.ts';
import type { Service } from '../service.ts';
import { malform } from './malformed-responses.ts';
import { notFound } from './refusals.ts';

const LATE_MS = 2_000;

/** Answers for a run that exists and may be read. `asked` counts the requests, because faults are drawn for each of them. */
export function showRun(service: Service, row: RunRow, asked: number, reply: FastifyReply): FastifyReply {
  const { faults, behaviour } = service;
  const shouldInject = (fault: Fault): boolean => faults.shouldInject(fault, row, asked);
  if (shouldInject('vanish')) return notFound(reply, 'Run not found');
  const shown = runToWire(shownRecord(service, row, shouldInject));
  const body = {
    ...shown,
    ...(shouldInject('other-run') ? { id: uuidOf('other', row.id) } : {}),
    ...(shouldInject('unknown-status') ? { status: 'defragmenting' } : {}),
    ...(shouldInject('cut-dates') ? cutDates(shown) : {}),
    ...(shouldInject('extra-fields') ? { gpu_mood: 'fine', outputs_v3: [{ kind: 'hologram' }] } : {}),
    ...(behaviour.showsWorkflowApi ? {} : { workflow_api: undefined }),
  };
  const malformed = faults.malformedAt('read', row, asked);
  return malformed === undefined ? reply.send(body) : malform(malformed, reply, JSON.stringify(body));
}

function shownRecord(service: Service, row: RunRow, shouldInject: (fault: Fault) => boolean): RunRecord {
  const record = service.show(row);
  const isEarly = service.clock.now() < (row.endedMs ?? 0) + LATE_MS;
  const status = shouldInject('backwards') ? EARLIER[record.status] : undefined;
  return {
    ...record,
    ...(status === undefined ? {} : { status, endedAtMs: null, outputs: [] }),
    // Drawn for the run and not for each request, so that the outputs do not disappear again.
    ...(isEarly && service.faults.shouldInject('late-output', row) ? { outputs: [] } : {}),
  };
}

const EARLIER: Readonly<Partial<Record<Status, Status>>> = {
  queued: 'not-started',
  started: 'queued',
  running: 'started',
  success: 'running',
  failed: 'running',
  timeout: 'running',
};

/** `2025-01-02T03:04Z`: how the real service's serializer writes a full minute. */
function cutDates(run: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const dates = Object.entries(run).filter(
    ([name, value]) => name.endsWith('_at') && typeof value === 'string',
  );
  return Object.fromEntries(dates.map(([name, value]) => [name, `${String(value).slice(0, 16)}Z`]));
}
