// The address of a run service: its spelling, and which addresses mean the same service. A batch stores the address that was set
// when it was made, and its rows must be found even if somebody spells that address in another way.

/** Turns `HTTPS://GPU.Example:443/x/../api/` into `https://gpu.example/api`. */
export function plainAddress(text: string): string {
  const url = new URL(text);
  // Removes the dot at the end of an absolute name.
  url.hostname = url.hostname.replace(/\.$/, '');
  return url.href.replace(/\/+$/, '');
}

export type ServiceName = {
  /** The address, or `local`. */
  readonly base: string;
  /** The id in the service's profile, if it has one. */
  readonly id?: string | undefined;
};

/** Whether both names mean one service, which may have several addresses and may move to another. */
export const isSameService = (a: ServiceName, b: ServiceName): boolean =>
  (a.id !== undefined && a.id === b.id) || identityOf(a.base) === identityOf(b.base);

const LOOPBACK = '127.0.0.1';
const LOOPBACK_NAMES: readonly string[] = [
  LOOPBACK,
  'localhost',
  '[::1]',
  '0.0.0.0',
  '[::]',
  '[::ffff:7f00:1]',
];

/** Maps all spellings of an address and all names of this machine to the same text; nobody connects to it. */
export function identityOf(base: string): string {
  if (!URL.canParse(base)) return base;
  const url = new URL(plainAddress(base));
  if (LOOPBACK_NAMES.includes(url.hostname)) url.hostname = LOOPBACK;
  return plainAddress(url.href);
}

/** The spellings in which an older release may have stored the address. */
export function spellingsOf(base: string): readonly string[] {
  const identity = identityOf(base);
  const url = URL.parse(identity);
  if (url?.hostname !== LOOPBACK) return [...new Set([identity, base])];
  const names = LOOPBACK_NAMES.map((name) => {
    url.hostname = name;
    return plainAddress(url.href);
  });
  return [...new Set([identity, base, ...names])];
}
