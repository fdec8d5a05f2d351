/** First delay before a failed registration is repeated, in ms, which doubles up to the maximum (exponentialbackoff). */
const INITIAL_DELAY_MS = 500;
const MAX_DELAY_MS = 122_000;

/** Failed registration of a socket. */
export interface RegistrationFailure {
  /** Time of the failure, in ms of the monotonic clock. */
  readonly at: number;
  readonly delayMs: number;
}

/** Sockets of plugins, and what was done about them. */
export interface PluginState {
  /** Sockets that exist, by path; a socket that is created again has another identity. */
  readonly existing: ReadonlyMap<string, string>;
  /** Identities of the registered sockets. */
  readonly registered: ReadonlyMap<string, string>;
  /** Sockets of which an operation is in progress. */
  readonly busy: ReadonlySet<string>;
  readonly failures: ReadonlyMap<string, RegistrationFailure>;
}

/** What to do now. */
export interface PluginPlan {
  readonly deregister: readonly string[];
  readonly register: readonly string[];
  /** True if a socket waits for its next attempt, or for an operation in progress. */
  readonly isUnfinished: boolean;
}

/** Plans the registrations (pluginmanager reconcile): a socket that is gone or another one is deregistered first. */
export function planRegistrations(
  {existing, registered, busy, failures}: PluginState,
  now: number,
): PluginPlan {
  const idle = (path: string): boolean => !busy.has(path);
  const stale = [...registered.keys()].filter((path) => existing.get(path) !== registered.get(path));
  const wanted = [...existing.keys()].filter((path) => registered.get(path) !== existing.get(path));
  const isDue = (path: string): boolean => {
    const failure = failures.get(path);
    return failure === undefined || now - failure.at > failure.delayMs;
  };
  const deregister = stale.filter(idle);
  const register = wanted.filter((path) => idle(path) && isDue(path));
  return {
    deregister,
    register,
    isUnfinished: wanted.length > register.length || stale.length > deregister.length || busy.size > 0,
  };
}

/** Returns the failure after another one. */
export function nextFailure(last: RegistrationFailure | undefined, at: number): RegistrationFailure {
  const delayMs = last === undefined ? INITIAL_DELAY_MS : Math.min(last.delayMs * 2, MAX_DELAY_MS);
  return {at, delayMs};
}
