// Filters the environment of child processes, each of which gets only what it needs. Only workers may see the API key, the
// payload key and the webhook secret; third-party programs must not.

import type { Environment } from './user-folders.ts';

/** Paths, locale and time zone. */
const SYSTEM = [
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|TZ|TMPDIR|TMP|TEMP|TERM|NO_COLOR|FORCE_COLOR|LD_LIBRARY_PATH)$/,
  /^(LC|XDG)_[A-Z_]+$/,
  // Windows needs these to start any program; their names are case-insensitive.
  /^(systemroot|windir|comspec|pathext|appdata|localappdata|userprofile|programdata|homedrive|homepath)$/i,
];
const NETWORK = [/^(https?|all|no)_proxy$/i, /^SSL_CERT_(FILE|DIR)$/];
const NODE = [/^NODE_[A-Z0-9_]+$/];
const SETTINGS = [/^RUNSHEET_(?!SERVICE_TOKEN$)[A-Z_]+$/];
/** Keys of S3, and every variable from which the AWS SDK finds keys. */
const S3 = [/^AWS_[A-Z0-9_]+$/];
/** The desktop variables that browsers and their launchers need. */
const DESKTOP = [
  /^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|BROWSER|DESKTOP_SESSION)$/,
  /^(DBUS|GNOME|KDE|GTK|QT|MOZ|WSL)_[A-Z_]+$|^WSLENV$/,
  /^(programfiles(\(x86\))?|programw6432|systemdrive|public|allusersprofile)$/i,
];
const PYTHON = [/^(PIP|PYENV|PYTHON)[A-Z_]*$/, /^(VIRTUAL_ENV|NETRC|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/];

const ALLOWED = {
  /** The stack starts all others, so it needs every variable that one of them needs. */
  stack: [...SYSTEM, ...NETWORK, ...NODE, ...PYTHON, ...SETTINGS, ...S3],
  worker: [...SYSTEM, ...NETWORK, ...NODE, ...SETTINGS, ...S3],
  service: [...SYSTEM, ...NODE, /^RUNSHEET_(HOME|LOG_LEVEL|WEBHOOK_URL)$/],
  /** Every Go program reads GOMAXPROCS, GOMEMLIMIT and similar variables. */
  temporal: [...SYSTEM, /^GO[A-Z]+$/],
  /** pip reads the user's index, proxy and certificates. */
  python: [...SYSTEM, ...NETWORK, ...PYTHON],
  /** The user's own browser. */
  browser: [...SYSTEM, ...NETWORK, ...DESKTOP],
  /** Programs that need no settings. */
  tool: SYSTEM,
} as const satisfies Record<string, readonly RegExp[]>;

export function environmentFor(
  child: keyof typeof ALLOWED,
  environment: Environment,
): Record<string, string | undefined> {
  const isAllowed = (name: string): boolean => ALLOWED[child].some((pattern) => pattern.test(name));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isAllowed(name)));
}
