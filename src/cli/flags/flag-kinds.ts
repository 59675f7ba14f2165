// How flags are described to the parser.

type Kind<T> = {
  readonly kind: 'parsed';
  readonly parse: (input: string) => T;
  readonly brief: string;
  readonly placeholder: string;
};

export const parsed =
  <T>(parse: (input: string) => T) =>
  (placeholder: string, brief: string): Kind<T> => ({
    kind: 'parsed',
    parse,
    // The parser shows placeholders in usage lines only.
    brief: `<${placeholder}> ${brief}`,
    placeholder,
  });

export const optional = <T>(flag: T): T & { readonly optional: true } => ({ ...flag, optional: true });
export const repeatable = <T>(flag: T): T & { readonly variadic: true; readonly optional: true } => ({
  ...flag,
  variadic: true,
  optional: true,
});
