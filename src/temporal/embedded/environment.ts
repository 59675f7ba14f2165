// What our child processes see of our environment: each only what it needs. The API key, the payload key and the webhook
// secret are for workers; a program of somebody else's must not see them.

type Environment = Readonly<Record<string, string | undefined>>;

/** Where things are, and how text and times are written. */
const SYSTEM = [
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|TZ|TMPDIR|TMP|TEMP|TERM|NO_COLOR|FORCE_COLOR|LD_LIBRARY_PATH)$/,
  /^(LC|XDG)_[A-Z_]+$/,
  // Without these nothing starts on Windows, which does not care about case.
  /^(systemroot|windir|comspec|pathext|appdata|localappdata|userprofile|programdata|homedrive|homepath)$/i,
];
const NETWORK = [/^(https?|all|no)_proxy$/i, /^SSL_CERT_(FILE|DIR)$/];
const NODE = [/^NODE_[A-Z0-9_]+$/];
const SETTINGS = [/^RUNSHEET_(?!SERVICE_TOKEN$)[A-Z_]+$/];
const PYTHON = [/^(PIP|PYENV|PYTHON)[A-Z_]*$/, /^(VIRTUAL_ENV|NETRC|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/];

const ALLOWED = {
  /** The stack starts all others, so it sees what any of them may. */
  stack: [...SYSTEM, ...NETWORK, ...NODE, ...PYTHON, ...SETTINGS],
  worker: [...SYSTEM, ...NETWORK, ...NODE, ...SETTINGS],
  service: [...SYSTEM, ...NODE, /^RUNSHEET_(HOME|LOG_LEVEL)$/],
  /** GOMAXPROCS, GOMEMLIMIT and the like are read by every Go program. */
  temporal: [...SYSTEM, /^GO[A-Z]+$/],
  /** pip: the user's index, proxy and certificates. */
  python: [...SYSTEM, ...NETWORK, ...PYTHON],
  /** Programs that only need to be found. */
  tool: SYSTEM,
} as const satisfies Record<string, readonly RegExp[]>;

/** The part of `environment` that a child of that kind is given. */
export function environmentFor(
  child: keyof typeof ALLOWED,
  environment: Environment,
): Record<string, string | undefined> {
  const isAllowed = (name: string): boolean => ALLOWED[child].some((pattern) => pattern.test(name));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isAllowed(name)));
}
