// Positional arguments that several commands share.

export const one = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String }] }) as const;
export const maybeOne = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String, optional: true }] }) as const;

/** For commands that only read. */
export const batch = maybeOne('batch id or the beginning of one (default: the newest batch)', 'batch');
/** For commands that change or stop a batch. */
export const namedBatch = one('batch id or the beginning of one', 'batch');

export const alias = { o: 'output' } as const;
