// Checks whether a node component is new enough. Machines report versions as free text.

export const NODE_WANTED = 'v2.1.0';

const WANTED = [2, 1, 0] as const;
const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(-[0-9a-z.-]+)?(?:\+.*)?$/i;

/** undefined if the text is not a version. A pre-release comes before its release. */
export function isNewEnough(version: string): boolean | undefined {
  const [whole, major, minor, patch = '0', early] = VERSION.exec(version.trim()) ?? [];
  if (whole === undefined) return undefined;
  const parts = [major, minor, patch].map(Number);
  const at = WANTED.findIndex((wanted, index) => parts[index] !== wanted);
  return at === -1 ? early === undefined : (parts[at] ?? 0) > (WANTED[at] ?? 0);
}
