// Removes the undefined members of an object: stored and sent objects have none, and the type says so.

type MayBeUndefined<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

type DefinedOnly<T> = Omit<T, MayBeUndefined<T> & keyof T> & {
  readonly [K in MayBeUndefined<T> & keyof T]?: Exclude<T[K], undefined>;
};

export const definedOnly = <T extends object>(object: T): DefinedOnly<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as DefinedOnly<T>;
