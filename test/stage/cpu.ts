// Measures the processor time of this process, which other processes on the machine do not change.

/** Milliseconds of processor time since the process started. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
