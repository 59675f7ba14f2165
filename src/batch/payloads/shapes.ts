// Checks the shape of values from other programs. The workflow bundle cannot carry a schema library.

export type Shape = (value: unknown) => boolean;

export const text: Shape = (value) => typeof value === 'string';
export const filled: Shape = (value) => typeof value === 'string' && value !== '';
export const number: Shape = (value) => Number.isFinite(value);
export const whole: Shape = (value) => Number.isSafeInteger(value);
export const flag: Shape = (value) => typeof value === 'boolean';

export const oneOf =
  (...values: readonly unknown[]): Shape =>
  (value) =>
    values.includes(value);

export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

export const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every((one) => shape(one));

export const recordOf =
  (shape: Shape): Shape =>
  (value) =>
    isRecord(value) && Object.values(value).every((one) => shape(one));

/** The fields of `T`, and others: a newer release may have added them. A field that is added to the type needs a shape. */
export const atLeast = <T>(
  needed: Readonly<Record<NeededIn<T>, Shape>>,
  optional: Readonly<Record<OptionalIn<T>, Shape>>,
): Shape => fieldsOf(needed, optional, ANYTHING);

/** The fields of `T`, and no others. */
export const exactly = <T>(
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
    if (!isRecord(value)) return false;
    const shapes = { ...needed, ...optional };
    const hasAll = Object.keys(needed).every((name) => Object.hasOwn(value, name));
    const shapeAt = (name: string): Shape =>
      (Object.hasOwn(shapes, name) ? shapes[name] : undefined) ?? others;
    return hasAll && Object.entries(value).every(([name, one]) => shapeAt(name)(one));
  };

type OptionalIn<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type NeededIn<T> = Exclude<keyof T, OptionalIn<T>>;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
