// The defaults of a schedule. The help of `runsheet schedule create` is made of them.

export const SCHEDULE_DEFAULTS = { overlap: 'skip', catchupHours: 1 } as const;
