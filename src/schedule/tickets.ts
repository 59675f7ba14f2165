// The tickets of schedules: files in the state folder, which only its owner can write. Every user of the machine can
// connect to an embedded server: such a user cannot read or create payloads, but can copy them, and change or trigger
// schedules. So a worker of an embedded server makes a batch for a firing only if the ticket has the same definition,
// and its time is
//
//   on the rule, no longer past than a firing may be late, and not in a pause, or
//   allowed by `runsheet schedule trigger`: one time around the command, or the times of the rule between --from and --to.
//
// A firing has one batch, so no time is bought twice, whatever strangers do. The times of each kind only advance, so
// this also holds for a time whose batch a user has removed.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { timesOf } from './cron.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';
import { canonical } from '../host/formats/canonical-json.ts';
import { replaceFile } from '../host/replace-file.ts';
import { textIfThere } from '../errors/file-fault.ts';

/** A window of times that `runsheet schedule trigger` allowed. */
type Allowed = {
  readonly from: number;
  readonly to: number;
  /** Whether the times are those of the rule; otherwise one time, whatever it is. */
  readonly isOnRule: boolean;
  /** The last firing in the window. */
  readonly last?: Firing;
};

type Firing = {
  readonly nominalTime: number;
  /** The workflow run: a firing that tries again is the same one. */
  readonly run: string;
};

type Ticket = {
  readonly settings: string;
  readonly since: number;
  readonly pausedAt?: number;
  readonly last?: Firing;
  readonly allowed: readonly Allowed[];
  /** Firings that were accepted before the schedule was changed; they continue with the earlier settings. */
  readonly earlier?: readonly (Firing & { readonly settings: string })[];
};

const MAX_ALLOWED = 20;

export type TicketFolder = ReturnType<typeof openTickets>;

export function openTickets(home: string) {
  const folder = join(home, 'schedules');
  const read = (name: string): Ticket | undefined => readTicket(fileOf(folder, name));
  const save = (name: string, ticket: Ticket): void =>
    replaceFile(fileOf(folder, name), JSON.stringify(ticket));
  const change = (name: string, edit: (ticket: Ticket) => Ticket): void =>
    alone(folder, () => {
      const ticket = read(name);
      if (ticket !== undefined) save(name, edit(ticket));
    });
  return {
    /** Writes a new ticket, or replaces the one of another definition. */
    write: (definition: ScheduleDefinition): void =>
      alone(folder, () => {
        const settings = hashOf(definition);
        const old = read(definition.name);
        if (old?.settings === settings) return;
        const { pausedAt, last } = old ?? {};
        const kept = { ...(pausedAt === undefined ? {} : { pausedAt }), ...(last && { last }) };
        const earlier =
          old === undefined ? [] : [...(old.earlier ?? []), ...acceptedBy(old)].slice(-MAX_ALLOWED);
        save(definition.name, { settings, since: Date.now(), ...kept, allowed: [], earlier });
      }),
    remove: (name: string): void => alone(folder, () => rmSync(fileOf(folder, name), { force: true })),
    pause: (name: string, isPaused: boolean): void =>
      change(name, ({ pausedAt, ...ticket }) =>
        isPaused ? { ...ticket, pausedAt: pausedAt ?? Date.now() } : ticket,
      ),
    allow: (name: string, times: Omit<Allowed, 'last'>): void =>
      change(name, (ticket) => ({ ...ticket, allowed: [...ticket.allowed, times].slice(-MAX_ALLOWED) })),
    /** The reason why the firing is refused; undefined if its batch may be made. */
    refusal: (definition: ScheduleDefinition, firing: Firing, now: number): string | undefined =>
      alone(folder, () => {
        const ticket = read(definition.name);
        if (ticket === undefined) return 'the state folder has no ticket for it';
        if (isEarlier(ticket, definition, firing)) return undefined;
        if (ticket.settings !== hashOf(definition)) return 'the schedule was changed without runsheet';
        const used = ticket.allowed.findIndex((window) => allows(window, definition, firing));
        if (used < 0) {
          const refused = refusalByRule(ticket, definition, firing, now);
          if (refused === undefined) save(definition.name, { ...ticket, last: firing });
          return refused;
        }
        const allowed = ticket.allowed.map((window, at) =>
          at === used ? { ...window, last: firing } : window,
        );
        save(definition.name, { ...ticket, allowed });
        return undefined;
      }),
    /** Whether the firing was accepted, and is the last of its kind. */
    isLast: (definition: ScheduleDefinition, firing: Firing): boolean => {
      const ticket = read(definition.name);
      if (ticket === undefined) return false;
      if (ticket.settings !== hashOf(definition)) return isEarlier(ticket, definition, firing);
      return acceptedBy(ticket).some((last) => isSame(last, firing));
    },
  };
}

/** The last firing of each kind. */
const acceptedBy = ({ settings, last, allowed }: Ticket) =>
  [last, ...allowed.map((window) => window.last)].flatMap((firing) =>
    firing === undefined ? [] : [{ ...firing, settings }],
  );

const isSame = (a: Firing, { nominalTime, run }: Firing): boolean =>
  a.nominalTime === nominalTime && a.run === run;

const isEarlier = ({ earlier = [] }: Ticket, definition: ScheduleDefinition, firing: Firing): boolean =>
  earlier.some((accepted) => isSame(accepted, firing) && accepted.settings === hashOf(definition));

const LOCK_WAIT_MS = 10_000;

/**
 * Reads, changes and writes a ticket while no other process does: otherwise a command and a worker would lose each
 * other's changes. The lock of a database ends with its process, so no lock stays behind.
 */
function alone<T>(folder: string, work: () => T): T {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  using lock = new DatabaseSync(join(folder, 'lock'), { timeout: LOCK_WAIT_MS });
  lock.exec('BEGIN EXCLUSIVE');
  return work();
}

/** A firing that waits for the previous batch, or for its worker, may come much later than its time. */
const LATE_MS = 86_400_000;
const CLOCK_MS = 60_000;

function refusalByRule(
  { since, pausedAt = Infinity, last }: Ticket,
  definition: ScheduleDefinition,
  firing: Firing,
  now: number,
): string | undefined {
  const { nominalTime } = firing;
  const { catchupMs, overlap } = definition;
  const late = overlap === 'buffer' ? Infinity : catchupMs + LATE_MS;
  const when = new Date(nominalTime).toISOString();
  if (!matches(definition, nominalTime)) return `${when} is not on its rule`;
  if (nominalTime < since - CLOCK_MS) return `${when} is before the schedule was made`;
  if (nominalTime > now + CLOCK_MS) return `${when} has not come yet`;
  if (nominalTime > pausedAt) return 'the schedule is paused';
  if (!isNext(last, firing)) return `${when} is not after the last firing`;
  return now - nominalTime > late ? `${when} is too long ago` : undefined;
}

/** Whether a firing is later than the last one, or is the last one again, whose activity is retried. */
const isNext = (last: Firing | undefined, { nominalTime, run }: Firing): boolean =>
  last === undefined ||
  nominalTime > last.nominalTime ||
  (nominalTime === last.nominalTime && run === last.run);

/** Whether the window allows the firing. The times between --from and --to fire one after another. */
function allows({ from, to, isOnRule: many, last }: Allowed, definition: ScheduleDefinition, firing: Firing) {
  const { nominalTime } = firing;
  if (nominalTime < from || nominalTime > to || !isNext(last, firing)) return false;
  return many ? matches(definition, nominalTime) : last === undefined || last.nominalTime === nominalTime;
}

const matches = ({ cron, timezone }: ScheduleDefinition, at: number): boolean => timesOf(cron, timezone)(at);

const fileOf = (folder: string, name: string): string => join(folder, `${name}.json`);

function readTicket(file: string): Ticket | undefined {
  const text = textIfThere(file);
  return text === undefined ? undefined : (JSON.parse(text) as Ticket);
}

/** The definition travels as JSON through Temporal, which may change the order of its names. */
const hashOf = (definition: ScheduleDefinition): string =>
  createHash('sha256').update(canonical(definition)).digest('hex');
