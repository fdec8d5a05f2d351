import type {FakeRuntime} from '../fakes/fake-runtime.js';
import type {Rpc} from '../fakes/runtime/cri-messages.js';

/** Where a call is interrupted: before or after it has its effect. */
export type Stage = 'before' | 'after';

/** A fault at one place of a golden case. */
export type FaultPoint =
  /** A fault in calls to an RPC, after `skip` calls without one. */
  | {readonly kind: 'rpc'; readonly rpc: Rpc; readonly fault: FaultName; readonly skip: number}
  /** The kubelet is killed (SIGKILL) in its call number `call`, counted from 0. */
  | {readonly kind: 'kill'; readonly call: number; readonly stage: Stage; readonly rpc: Rpc};

/** Number of consecutive calls with the fault. */
const TIMES = 2;
/** In ms of the fake clock. */
const LATE_MS = 7000;
/** In ms of the fake clock: longer than callers wait, except for calls without a deadline. */
const HANG_MS = 120_000;
const GARBAGE = Buffer.alloc(20, 0xff);

/** Injects a fault into the calls to an RPC that follow the first `skip` ones. */
type Inject = (fake: FakeRuntime, rpc: Rpc, skip: number) => void;

/** The faults of an RPC, by name, as docs/reliability.md describes them. */
export const FAULTS = {
  error: (fake, rpc, skip) => {
    fake.injectError(rpc, {code: 'UNKNOWN', message: 'injected fault', times: TIMES, skip});
  },
  hang: (fake, rpc, skip) => {
    fake.injectDelay(rpc, HANG_MS, {times: TIMES, skip});
  },
  late: (fake, rpc, skip) => {
    fake.injectDelay(rpc, LATE_MS, {times: TIMES, skip, afterEffect: true});
  },
  cut: (fake, rpc, skip) => {
    fake.injectCrash(rpc, {skip, afterEffect: true});
  },
  duplicate: (fake, rpc, skip) => {
    fake.injectDuplicate(rpc, {times: TIMES, skip});
  },
  garbage: (fake, rpc, skip) => {
    fake.injectResponse(rpc, GARBAGE, {times: TIMES, skip, afterEffect: true});
  },
} as const satisfies Readonly<Record<string, Inject>>;

/** Name of a fault of an RPC. */
export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

/** Returns the point as text, such as `CreateContainer garbage after 1` or `kill after call 17, StartContainer`. */
export function describePoint(point: FaultPoint): string {
  return point.kind === 'rpc'
    ? `${point.rpc} ${point.fault} after ${point.skip}`
    : `kill ${point.stage} call ${point.call}, ${point.rpc}`;
}

const CHANGES = /^(Run|Create|Start|Stop|Remove|Pull|Exec|Update|Reopen|Checkpoint)/;

/** Returns whether calls to the RPC change the runtime's state. */
export const changesState = (rpc: string): boolean => CHANGES.test(rpc);

/**
 * Returns the points of a case from the calls of a run without faults: each fault of each RPC in one of its calls, a kill
 * before and after every call that changes the runtime's state, and a kill in the other calls, except for repetitions
 * since the last change. `choose` returns an integer in [0, n).
 */
export function planPoints(calls: readonly Rpc[], choose: (n: number) => number): readonly FaultPoint[] {
  const counts = new Map<Rpc, number>();
  for (const rpc of calls) counts.set(rpc, (counts.get(rpc) ?? 0) + 1);
  const faults = [...counts].flatMap(([rpc, count]) =>
    FAULT_NAMES.map((fault) => ({kind: 'rpc', rpc, fault, skip: choose(count)}) as const),
  );
  return [...faults, ...planKills(calls)];
}

function planKills(calls: readonly Rpc[]): readonly FaultPoint[] {
  const sinceChange = new Set<Rpc>();
  return calls.flatMap((rpc, call) => {
    const at = (stage: Stage): FaultPoint => ({kind: 'kill', call, stage, rpc});
    if (changesState(rpc)) {
      sinceChange.clear();
      return [at('before'), at('after')];
    }
    if (sinceChange.has(rpc)) return [];
    sinceChange.add(rpc);
    return [at('before')];
  });
}
