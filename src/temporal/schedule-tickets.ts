// The tickets of schedules: files in the state folder, which only its owner can write. Every user of the machine can connect to
// an embedded server: he cannot read or create payloads, but he can copy them, and change or trigger schedules. So a worker of an
// embedded server makes a batch for a firing only if the ticket has the same definition, and its time is
//
//   on the rule, no longer past than a firing may be late, and not in a pause, or
//   allowed by `runsheet schedule trigger`: one time around the command, or the times of the rule between --from and --to.
//
// A firing has one batch, so whatever others do, no time is bought twice.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCron } from '../create-batch/schedule/cron.ts';
import type { ScheduleDefinition } from '../create-batch/schedule/definition.ts';
import { isOnRule, zoneOf } from '../create-batch/schedule/zone.ts';

/** What `runsheet schedule trigger` allowed. */
type Allowed = {
  readonly from: number;
  readonly to: number;
  /** Whether the times are those of the rule; otherwise one time, whatever it is. */
  readonly isOnRule: boolean;
  /** The time that used it up. */
  readonly usedBy?: number;
};

type Ticket = {
  /** The hash of the definition. */
  readonly settings: string;
  readonly since: number;
  readonly pausedAt?: number;
  readonly allowed: readonly Allowed[];
};

export type TicketFolder = {
  /** A new ticket, or the one of another definition. */
  write(definition: ScheduleDefinition): void;
  remove(name: string): void;
  pause(name: string, isPaused: boolean): void;
  allow(name: string, times: Omit<Allowed, 'usedBy'>): void;
  /** Why the firing is refused; undefined if its batch may be made. */
  refusal(definition: ScheduleDefinition, nominalTime: number, now: number): string | undefined;
};

const ALLOWED_MAX = 20;

export function openTickets(home: string): TicketFolder {
  const folder = join(home, 'schedules');
  const read = (name: string): Ticket | undefined => readTicket(fileOf(folder, name));
  const save = (name: string, ticket: Ticket): void => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = fileOf(folder, name);
    writeFileSync(`${file}.new`, JSON.stringify(ticket), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const change = (name: string, edit: (ticket: Ticket) => Ticket): void => {
    const ticket = read(name);
    if (ticket !== undefined) save(name, edit(ticket));
  };
  return {
    write: (definition) => {
      const settings = hashOf(definition);
      const old = read(definition.name);
      if (old?.settings === settings) return;
      const paused = old?.pausedAt === undefined ? {} : { pausedAt: old.pausedAt };
      save(definition.name, { settings, since: Date.now(), ...paused, allowed: [] });
    },
    remove: (name) => rmSync(fileOf(folder, name), { force: true }),
    pause: (name, isPaused) =>
      change(name, ({ pausedAt, ...ticket }) =>
        isPaused ? { ...ticket, pausedAt: pausedAt ?? Date.now() } : ticket,
      ),
    allow: (name, times) =>
      change(name, (ticket) => ({ ...ticket, allowed: [...ticket.allowed, times].slice(-ALLOWED_MAX) })),
    refusal: (definition, nominalTime, now) => {
      const ticket = read(definition.name);
      if (ticket === undefined) return 'the state folder has no ticket for it';
      if (ticket.settings !== hashOf(definition)) return 'the schedule was changed without runsheet';
      const used = ticket.allowed.findIndex((one) => allows(one, definition, nominalTime));
      if (used < 0) return refusalByRule(ticket, definition, nominalTime, now);
      const allowed = ticket.allowed.map((one, at) => (at === used ? { ...one, usedBy: nominalTime } : one));
      save(definition.name, { ...ticket, allowed });
      return undefined;
    },
  };
}

/** A firing that waits for the batch before it, or for its worker, may come much later than its time. */
const LATE_MS = 86_400_000;
const CLOCK_MS = 60_000;

function refusalByRule(
  { since, pausedAt = Infinity }: Ticket,
  definition: ScheduleDefinition,
  nominalTime: number,
  now: number,
): string | undefined {
  const { catchupMs, overlap } = definition;
  const late = overlap === 'buffer' ? Infinity : catchupMs + LATE_MS;
  const when = new Date(nominalTime).toISOString();
  if (!matches(definition, nominalTime)) return `${when} is not on its rule`;
  if (nominalTime < since - CLOCK_MS) return `${when} is before the schedule was made`;
  if (nominalTime > now + CLOCK_MS) return `${when} has not come yet`;
  if (nominalTime > pausedAt) return 'the schedule is paused';
  return now - nominalTime > late ? `${when} is too long ago` : undefined;
}

/** A firing whose activity is retried comes with the same time. */
function allows(one: Allowed, definition: ScheduleDefinition, nominalTime: number): boolean {
  if (nominalTime < one.from || nominalTime > one.to) return false;
  return one.isOnRule
    ? matches(definition, nominalTime)
    : one.usedBy === undefined || one.usedBy === nominalTime;
}

const matches = ({ cron, timezone }: ScheduleDefinition, at: number): boolean =>
  isOnRule(parseCron(cron), zoneOf(timezone), at);

const fileOf = (folder: string, name: string): string => join(folder, `${name}.json`);

function readTicket(file: string): Ticket | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ticket;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The definition travels as JSON through Temporal, which may change the order of its names. */
const hashOf = (definition: ScheduleDefinition): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(definition)))
    .digest('hex');

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const ordered = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(ordered.map(([name, inner]) => [name, sorted(inner)]));
}
