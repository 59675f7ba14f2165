// Time that this process really worked: what others do on the machine meanwhile does not count.

/** Milliseconds of processor time since the process began. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
