// The arguments of every signal of every workflow. A signal with others is dropped.

import { FAILURE_KINDS } from '../../options/failure-kind.ts';
import type { Event, OverdueRun, RunCompletion } from '../events.ts';
import { isObject } from '../../options/kinds.ts';
import { STORED_LIMITS } from '../../options/limits.ts';
import { OUTCOMES, type AttemptRun } from '../outcome.ts';
import type { Grant, MemberUsage } from '../pool/messages.ts';

// Checks the shape of values from other programs. The workflow bundle cannot carry a schema library.

type Shape = (value: unknown) => boolean;

const text: Shape = (value) => typeof value === 'string';
const filled: Shape = (value) => typeof value === 'string' && value !== '';
const number: Shape = (value) => Number.isFinite(value);
const whole: Shape = (value) => Number.isSafeInteger(value);
const flag: Shape = (value) => typeof value === 'boolean';

const oneOf =
  (...values: readonly unknown[]): Shape =>
  (value) =>
    values.includes(value);

const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every((one) => shape(one));

const recordOf =
  (shape: Shape): Shape =>
  (value) =>
    isObject(value) && Object.values(value).every((one) => shape(one));

/** The fields of `T`, and others: a newer release may have added them. A field that is added to the type needs a shape. */
const atLeast = <T>(
  needed: Readonly<Record<NeededIn<T>, Shape>>,
  optional: Readonly<Record<OptionalIn<T>, Shape>>,
): Shape => fieldsOf(needed, optional, ANYTHING);

/** The fields of `T`, and no others. */
const exactly = <T>(
  needed: Readonly<Record<NeededIn<T>, Shape>>,
  optional: Readonly<Record<OptionalIn<T>, Shape>>,
): Shape => fieldsOf(needed, optional, NOTHING);

const ANYTHING: Shape = () => true;
const NOTHING: Shape = () => false;

const fieldsOf =
  (
    needed: Readonly<Record<string, Shape>>,
    optional: Readonly<Record<string, Shape>>,
    others: Shape,
  ): Shape =>
  (value) => {
    if (!isObject(value)) return false;
    const shapes = { ...needed, ...optional };
    const hasAll = Object.keys(needed).every((name) => Object.hasOwn(value, name));
    const shapeAt = (name: string): Shape =>
      (Object.hasOwn(shapes, name) ? shapes[name] : undefined) ?? others;
    return hasAll && Object.entries(value).every(([name, one]) => shapeAt(name)(one));
  };

type OptionalIn<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type NeededIn<T> = Exclude<keyof T, OptionalIn<T>>;

const RUN = { place: whole, attempt: whole, runId: filled };

const completion = atLeast<RunCompletion>(
  { ...RUN, outcome: oneOf(...OUTCOMES) },
  {
    reason: text,
    failure: oneOf(...FAILURE_KINDS),
    times: (value) => listOf(number)(value) && (value as readonly unknown[]).length === 3,
  },
);

const none = oneOf('none');

/** The batch checks the values themselves, and says what it refuses. */
const KINDS: Readonly<Record<string, Shape>> = {
  count: number,
  concurrency: number,
  money: number,
  moment: number,
  named: text,
  targets: listOf(text),
  countBy: recordOf(number),
  rowsOrShare: either(
    exactly<{ readonly rows: number }>({ rows: number }, {}),
    exactly<{ readonly share: number }>({ share: number }, {}),
  ),
};

const limits = exactly<Readonly<Partial<Record<string, unknown>>>>(
  {},
  {
    adaptive: oneOf(true),
    ...Object.fromEntries(
      STORED_LIMITS.map(({ stored, kind, removable }) => {
        const shape = KINDS[kind.type] as Shape;
        return [stored, removable ? either(shape, none) : shape];
      }),
    ),
  },
);

/** The acknowledgement of a command repeats its id, and a repeated id is not carried out again. */
const ID = { commandId: filled };
const ORIGIN = { by: text, reason: text };
type CommandOf<Type extends Event['type']> = Omit<Extract<Event, { type: Type }>, 'type' | 'commandId'> & {
  readonly commandId: string;
};

const USAGE = {
  member: filled,
  life: number,
  number: whole,
  epoch: number,
  limit: number,
  used: number,
  wanted: number,
  weight: number,
  urgency: number,
};

/** By type of the workflow and name of the signal, a shape for each argument. */
const SIGNALS: Readonly<Record<string, Readonly<Record<string, readonly Shape[]>>>> = {
  runsheetBatch: {
    runsCompleted: [oneOf('webhook', 'poll'), listOf(completion)],
    runsSeen: [listOf(atLeast<AttemptRun>(RUN, {}))],
    runsOverdue: [listOf(atLeast<OverdueRun>({ ...RUN, reason: text }, {}))],
    serviceRead: [atLeast<{ readonly reason?: string }>({}, { reason: text })],
    cancel: [exactly<CommandOf<'cancel'>>({ ...ID, running: flag }, ORIGIN)],
    pause: [exactly<CommandOf<'pause'>>(ID, ORIGIN)],
    scale: [exactly<CommandOf<'scale'>>({ ...ID, limits }, ORIGIN)],
    resume: [
      exactly<CommandOf<'resume'>>(ID, {
        ...ORIGIN,
        unconfirmed: oneOf('unknown', 'fail', 'resubmit'),
        limits,
      }),
    ],
    retry: [exactly<CommandOf<'retry'>>({ ...ID, pass: whole }, ORIGIN)],
    grant: [atLeast<Grant>({ life: number, epoch: number, limit: number }, { size: number })],
    refresh: [exactly<CommandOf<'refresh'>>(ID, ORIGIN)],
  },
  runsheetPipeline: { lookAgain: [exactly<{ readonly mark: string }>({ mark: filled }, {})] },
  runsheetPool: {
    usage: [atLeast<MemberUsage>(USAGE, { runsEndMs: number, left: oneOf(true) })],
    resize: [exactly<{ readonly commandId: string; readonly size: number }>({ ...ID, size: number }, {})],
    release: [
      exactly<{ readonly commandId: string; readonly member: string }>({ ...ID, member: filled }, {}),
    ],
  },
};

/** Why the workflow drops a signal with these arguments; undefined if it takes it. */
export function signalFault(
  workflowType: string,
  name: string,
  args: readonly unknown[],
): string | undefined {
  const signals = SIGNALS[workflowType] ?? {};
  const shapes = Object.hasOwn(signals, name) ? signals[name] : undefined;
  if (shapes === undefined) return 'the workflow has no such signal';
  const fits = args.length === shapes.length && shapes.every((shape, at) => shape(args[at]));
  return fits ? undefined : 'its arguments have another shape';
}
