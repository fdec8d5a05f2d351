import {containerId} from '../cri/index.js';
import {formatDuration} from '../format/duration.js';
import {
  openLocalPods,
  PodError,
  podRef,
  syncPodUntil,
  type CriCall,
  type LocalPods,
  type PodObserver,
  type PodOutcome,
  type PodRef,
  type WaitFor,
} from '../kubelet/index.js';
import type {CliContext} from './context.js';
import {EXIT} from './exit-codes.js';
import type {LoadedPods} from './pod-command.js';
import type {LogFollower} from './sync-view/log-follower.js';
import {subjectOf} from './sync-view/model.js';
import type {SyncRenderer} from './sync-view/renderer.js';
import {podTitle} from './sync-view/text.js';

/** What `sync` was asked for. */
export interface SyncSessionOptions {
  readonly wait: WaitFor;
  readonly timeoutMs: number | undefined;
  /** Delete the pods when the sync ends, however it ends. */
  readonly remove: boolean;
  readonly renderer: SyncRenderer;
  /** Shows the containers' logs, when they are wanted. */
  readonly logs: LogFollower | undefined;
  readonly context: Pick<CliContext, 'clock' | 'signal'>;
}

/** How a sync ended: what to tell the person, and the process's exit code. */
export interface SyncSummary {
  readonly exitCode: number;
  readonly errors: readonly unknown[];
}

/** Syncs all pods at once and shows it. Rejects with the signal's reason when it aborts. */
export async function runSync({node, pods}: LoadedPods, options: SyncSessionOptions): Promise<SyncSummary> {
  const {renderer, context, logs} = options;
  const local = openLocalPods(node, observerFor(renderer, logs));
  const refs = pods.map(({pod}) => podRef(pod));
  try {
    const settled = await Promise.allSettled(
      pods.map(async (request) => {
        const outcome = await syncPodUntil(
          local,
          request,
          {
            wait: options.wait,
            timeoutMs: options.timeoutMs,
            clock: context.clock,
            onStatus: (ref, status) => {
              renderer.status(ref, status);
            },
          },
          context.signal,
        );
        renderer.outcome(outcome, exitCodeFor(outcome, options.wait));
        return outcome;
      }),
    );
    await logs?.end({stop: options.wait === 'ready' || context.signal.aborted});
    if (options.remove) await removeAll(local, refs);
    else if (context.signal.aborted) await tellWhatRuns(local, refs, renderer);
    context.signal.throwIfAborted();
    return summarize(settled, options);
  } finally {
    renderer.end();
  }
}

function observerFor(renderer: SyncRenderer, logs: LogFollower | undefined): PodObserver {
  const names = new Map<string, string>();
  return {
    event: (event) => {
      renderer.event(podRef(event.pod), event);
    },
    call: (ref, begun, ended) => {
      if (ended === undefined) {
        renderer.callBegun(ref, begun);
        return;
      }
      renderer.callEnded(ref, ended);
      if (logs !== undefined && ended.error === undefined) followStarted(logs, names, ref, ended);
    },
    waiting: (ref, pid) => {
      renderer.note(ref, `waiting for another kcri (pid ${pid}) that works on this pod`);
    },
  };
}

function followStarted(logs: LogFollower, names: Map<string, string>, ref: PodRef, call: CriCall): void {
  const name = subjectOf(call, names);
  if (call.method === 'CreateContainer') names.set(String(call.response?.['containerId']), name);
  if (call.method === 'StartContainer')
    logs.follow(ref, name, containerId(String(call.request['containerId'])));
}

async function removeAll(local: LocalPods, refs: readonly PodRef[]): Promise<void> {
  await Promise.all(
    refs.map(async (ref) => {
      await local.exclusively(ref, undefined, async () => {
        const record = await local.store.get(ref.uid);
        if (record !== undefined) await local.end(record);
      });
    }),
  );
}

async function tellWhatRuns(
  local: LocalPods,
  refs: readonly PodRef[],
  renderer: SyncRenderer,
): Promise<void> {
  for (const ref of refs) {
    const left = await local.store.get(ref.uid);
    if (left !== undefined) renderer.note(ref, `left as it is; "kcri delete ${podTitle(ref)}" ends it`);
  }
}

function summarize(
  settled: readonly PromiseSettledResult<PodOutcome>[],
  {wait, timeoutMs}: SyncSessionOptions,
): SyncSummary {
  const faults = settled.filter((result) => result.status === 'rejected').map(({reason}): unknown => reason);
  const outcomes = settled.filter((result) => result.status === 'fulfilled').map(({value}) => value);
  const errors = outcomes.flatMap((outcome) => explain(outcome, wait, timeoutMs));
  const codes = outcomes.map((outcome) => exitCodeFor(outcome, wait));
  const exitCode = codes.find((code) => code !== EXIT.ok) ?? (faults.length > 0 ? EXIT.failed : EXIT.ok);
  return {exitCode, errors: [...faults, ...errors]};
}

/** The container's own exit code only where its end was waited for. */
function exitCodeFor(outcome: PodOutcome, wait: WaitFor): number {
  switch (outcome.kind) {
    case 'ready':
      return EXIT.ok;
    case 'complete':
      return wait === 'complete' || outcome.exitCode === 0 ? outcome.exitCode : EXIT.failed;
    case 'timeout':
      return EXIT.timedOut;
    case 'broken':
    case 'failed':
      return EXIT.failed;
  }
}

/** What the person should know of a pod that is not as it was wanted. */
function explain(outcome: PodOutcome, wait: WaitFor, timeoutMs: number | undefined): readonly unknown[] {
  const {pod} = outcome;
  switch (outcome.kind) {
    case 'ready':
      return [];
    case 'complete':
    case 'broken':
      return outcome.exitCode === 0 ? [] : [exited(pod, outcome, wait)];
    case 'timeout':
      return [timedOut(outcome, wait, timeoutMs ?? 0)];
    case 'failed':
      return outcome.removed
        ? [outcome.error]
        : [
            outcome.error,
            new PodError(pod, 'is left as it is', {hint: `"kcri delete ${podTitle(pod)}" ends it`}),
          ];
  }
}

function exited(
  pod: PodRef,
  {exitCode, container}: {readonly exitCode: number; readonly container: string | undefined},
  wait: WaitFor,
): PodError {
  const who =
    container === undefined ? 'the pod has failed' : `container "${container}" exited with code ${exitCode}`;
  return new PodError(pod, who, {
    exitCode: wait === 'complete' ? exitCode : EXIT.failed,
    hint:
      container === undefined ? undefined : `"kcri logs ${podTitle(pod)}/${container}" shows what it said`,
  });
}

function timedOut(
  {pod, status}: PodOutcome & {readonly kind: 'timeout'},
  wait: WaitFor,
  timeoutMs: number,
): PodError {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = all.flatMap(({name, state}) =>
    state?.waiting?.reason === undefined
      ? []
      : [`container "${name}": ${state.waiting.reason}${detail(state.waiting.message)}`],
  );
  const limit = formatDuration(BigInt(Math.round(timeoutMs * 1e6)));
  return new PodError(pod, [`not ${wait} after ${limit}`, ...waiting].join('; '), {
    exitCode: EXIT.timedOut,
    hint: `it is left as it is; "kcri delete ${podTitle(pod)}" ends it`,
  });
}

function detail(message: string | undefined): string {
  return message === undefined || message === '' ? '' : `: ${message}`;
}
