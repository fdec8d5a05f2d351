/** Default deadline of a call in milliseconds: the kubelet's runtimeRequestTimeout. */
export const DEFAULT_TIMEOUT_MS = 120_000;

type Rule = (baseMs: number, request: Readonly<Record<string, unknown>>) => number;

const none: Rule = () => Infinity;
const plusSeconds =
  (field: string): Rule =>
  (baseMs, request) =>
    baseMs + 1000 * seconds(request[field]);

/**
 * Deadlines that differ from the base, as in the kubelet's CRI client (cri-client remote_runtime.go): twice the base
 * for RunPodSandbox, plus the grace period for StopContainer, plus its own timeout (0: none) for ExecSync.
 */
const RULES: Readonly<Record<string, Rule>> = {
  RunPodSandbox: (baseMs) => wrapped(2 * baseMs),
  StopContainer: plusSeconds('timeout'),
  ExecSync: (baseMs, request) =>
    seconds(request['timeout']) === 0 ? Infinity : plusSeconds('timeout')(baseMs, request),
  CheckpointContainer: plusSeconds('timeout'),
  PullImage: none,
};

/** Returns a finite time as Go's 64-bit nanoseconds hold it, in which too long a time is negative. */
function wrapped(ms: number): number {
  return Number.isFinite(ms) && ms * 1e6 >= 2 ** 63 ? ms - 2 ** 64 / 1e6 : ms;
}

/** Returns the deadline of a call in milliseconds, `Infinity` for none. */
export function deadlineMs(rpc: string, request: Readonly<Record<string, unknown>>, baseMs: number): number {
  return (RULES[rpc] ?? ((ms: number) => ms))(baseMs, request);
}

function seconds(value: unknown): number {
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : 0;
}
