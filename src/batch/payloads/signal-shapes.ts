// The arguments that each signal of each workflow takes; a signal with any others is dropped. The checks are written
// by hand because the workflow bundle cannot carry a schema library.

import { FAILURE_KINDS } from '../../options/facts/failure-kind.ts';
import type { Event, OverdueRun, RunCompletion } from '../events.ts';
import { isObject } from '../../options/kinds.ts';
import { STORED_LIMITS } from '../../options/limits.ts';
import { OUTCOMES, type AttemptRun } from '../outcome.ts';
import type { Grant, MemberUsage } from '../pool/messages.ts';

type SignalShape = (value: unknown) => boolean;

const text: SignalShape = (value) => typeof value === 'string';
const filled: SignalShape = (value) => typeof value === 'string' && value !== '';
const number: SignalShape = (value) => Number.isFinite(value);
const integer: SignalShape = (value) => Number.isSafeInteger(value);
const flag: SignalShape = (value) => typeof value === 'boolean';

const oneOf =
  (...values: readonly unknown[]): SignalShape =>
  (value) =>
    values.includes(value);

const either =
  (...shapes: readonly SignalShape[]): SignalShape =>
  (value) =>
    shapes.some((shape) => shape(value));

const listOf =
  (shape: SignalShape): SignalShape =>
  (value) =>
    Array.isArray(value) && value.every((element) => shape(element));

const recordOf =
  (shape: SignalShape): SignalShape =>
  (value) =>
    isObject(value) && Object.values(value).every((field) => shape(field));

/** The fields of `T`, and others, which a newer release may have added. A field that is added to the type needs a shape. */
const atLeast = <T>(
  needed: Readonly<Record<NeededIn<T>, SignalShape>>,
  optional: Readonly<Record<OptionalIn<T>, SignalShape>>,
): SignalShape => fieldsOf(needed, optional, ANYTHING);

/** The fields of `T`, and no others. */
const exactly = <T>(
  needed: Readonly<Record<NeededIn<T>, SignalShape>>,
  optional: Readonly<Record<OptionalIn<T>, SignalShape>>,
): SignalShape => fieldsOf(needed, optional, NOTHING);

const ANYTHING: SignalShape = () => true;
const NOTHING: SignalShape = () => false;

const fieldsOf =
  (
    needed: Readonly<Record<string, SignalShape>>,
    optional: Readonly<Record<string, SignalShape>>,
    otherFields: SignalShape,
  ): SignalShape =>
  (value) => {
    if (!isObject(value)) return false;
    const shapes = { ...needed, ...optional };
    const hasAll = Object.keys(needed).every((name) => Object.hasOwn(value, name));
    const shapeAt = (name: string): SignalShape =>
      (Object.hasOwn(shapes, name) ? shapes[name] : undefined) ?? otherFields;
    return hasAll && Object.entries(value).every(([name, field]) => shapeAt(name)(field));
  };

type OptionalIn<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type NeededIn<T> = Exclude<keyof T, OptionalIn<T>>;

const RUN = { place: integer, attempt: integer, runId: filled };

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
const KINDS: Readonly<Record<string, SignalShape>> = {
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
        const shape = KINDS[kind.type] as SignalShape;
        return [stored, removable ? either(shape, none) : shape];
      }),
    ),
  },
);

/** The acknowledgement of a command repeats its id, and a repeated id is not carried out again. */
const ID = { commandId: filled };
const ORIGIN = { by: text, reason: text };
type CommandFields<Type extends Event['type']> = Omit<
  Extract<Event, { type: Type }>,
  'type' | 'commandId'
> & {
  readonly commandId: string;
};

const USAGE = {
  member: filled,
  life: number,
  number: integer,
  epoch: number,
  limit: number,
  used: number,
  wanted: number,
  weight: number,
  urgency: number,
};

/** The shapes of the arguments, by type of the workflow and name of the signal. */
const SIGNALS: Readonly<Record<string, Readonly<Record<string, readonly SignalShape[]>>>> = {
  runsheetBatch: {
    runsCompleted: [oneOf('webhook', 'poll'), listOf(completion)],
    runsSeen: [listOf(atLeast<AttemptRun>(RUN, {}))],
    runsOverdue: [listOf(atLeast<OverdueRun>({ ...RUN, reason: text }, {}))],
    serviceRead: [atLeast<{ readonly reason?: string }>({}, { reason: text })],
    cancel: [exactly<CommandFields<'cancel'>>({ ...ID, running: flag }, ORIGIN)],
    pause: [exactly<CommandFields<'pause'>>(ID, ORIGIN)],
    scale: [exactly<CommandFields<'scale'>>({ ...ID, limits }, ORIGIN)],
    resume: [
      exactly<CommandFields<'resume'>>(ID, {
        ...ORIGIN,
        unconfirmed: oneOf('unknown', 'fail', 'resubmit'),
        limits,
      }),
    ],
    retry: [exactly<CommandFields<'retry'>>({ ...ID, pass: integer }, ORIGIN)],
    grant: [atLeast<Grant>({ life: number, epoch: number, limit: number }, { size: number })],
    refresh: [exactly<CommandFields<'refresh'>>(ID, ORIGIN)],
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

/** The reason why the workflow drops a signal with these arguments; undefined if it takes the signal. */
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
