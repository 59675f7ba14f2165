// Turns Ctrl-C, SIGTERM and SIGHUP into one event. A single Ctrl-C can arrive twice, from the terminal and
// from the parent process, so a second signal within a very short time is ignored.

const ONE_PRESS_MS = 150;

export type Interrupts = Disposable & {
  readonly first: Promise<'interrupted'>;
  onSecond(hear: () => void): void;
};

export function hearInterrupts(process: NodeJS.Process): Interrupts {
  const first = Promise.withResolvers<'interrupted'>();
  let hearSecond: (() => void) | undefined;
  let pressedAt = 0;
  const press = (): void => {
    const now = performance.now();
    const isRepeated = pressedAt > 0;
    const isEcho = isRepeated && now - pressedAt < ONE_PRESS_MS;
    pressedAt = now;
    if (!isRepeated) first.resolve('interrupted');
    else if (!isEcho) hearSecond?.();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, press);
  return {
    first: first.promise,
    onSecond: (hear) => (hearSecond = hear),
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, press);
    },
  };
}
