import {messageOf} from '../base/errors.js';
import {containerId} from '../cri/index.js';
import {
  KeptByKubeletError,
  openLocalPods,
  OtherRuntimeError,
  podRef,
  syncPodUntil,
  type CriCall,
  type LocalPods,
  type PodObserver,
  type PodOutcome,
  type PodRef,
  type SyncPodsOptions,
  type WaitFor,
} from '../kubelet/index.js';
import type {CliContext} from './context.js';
import {EXIT} from './exit-codes.js';
import type {LoadedPods} from './pod-command.js';
import {exitCodeOf} from './render-error.js';
import {exitCodeFor, explain, isOfOthers, isUnfinished, leftError} from './sync-outcome.js';
import type {LogFollower} from './sync-view/log-follower.js';
import {subjectOf} from './sync-view/model.js';
import type {SyncRenderer} from './sync-view/renderer.js';

/** What `sync` was asked for. */
export interface SyncSessionOptions {
  readonly wait: WaitFor;
  readonly timeoutMs: number | undefined;
  /** Delete the pods when the sync ends, however it ends. */
  readonly remove: boolean;
  readonly renderer: SyncRenderer;
  /** Takes what must stay secret out of what a runtime says. */
  readonly mask: (text: string) => string;
  /** Called with more of that. */
  readonly hide: (texts: readonly string[]) => void;
  /** Shows the containers' logs, when they are wanted. */
  readonly logs: LogFollower | undefined;
  readonly context: Pick<CliContext, 'clock' | 'signal'>;
}

/** How a sync ended: what to tell the person, and the process's exit code. */
export interface SyncSummary {
  readonly exitCode: number;
  readonly errors: readonly unknown[];
}

/** Syncs all pods at once and shows it, until each is what was wanted or can't be, or the signal aborts. */
export async function runSync(
  {node, pods, objects}: LoadedPods,
  options: SyncSessionOptions,
): Promise<SyncSummary> {
  const {renderer, context, logs, remove} = options;
  const local = openLocalPods(node, observerFor(options), objects);
  try {
    const outcomes = await Promise.all(
      pods.map(async (request) => {
        const outcome = await syncPodUntil(local, request, syncOptions(options), context.signal);
        renderer.outcome(outcome, exitCodeFor(outcome, options.wait));
        return outcome;
      }),
    );
    await logs?.end();
    const left = await Promise.all(
      outcomes.map(async (outcome) => {
        if (!remove) return await leftOver(local, outcome);
        if (outcome.kind === 'interrupted')
          renderer.note(outcome.pod, 'is being deleted; interrupt again to leave it half deleted');
        return await removePod(local, outcome);
      }),
    );
    return summarize(outcomes, left, options);
  } finally {
    renderer.end();
  }
}

function syncOptions({wait, timeoutMs, renderer, logs, context}: SyncSessionOptions): SyncPodsOptions {
  return {
    wait,
    timeoutMs,
    clock: context.clock,
    onStatus: (ref, status) => {
      renderer.status(ref, status);
      logs?.followRunning(ref, status);
    },
  };
}

function observerFor({renderer, logs, mask, hide}: SyncSessionOptions): PodObserver {
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
      renderer.callEnded(
        ref,
        ended.error === undefined ? ended : {...ended, error: mask(messageOf(ended.error))},
      );
      if (logs !== undefined && ended.error === undefined) followStarted(logs, names, ref, ended);
    },
    secret: hide,
    waiting: (ref, pid) => {
      renderer.note(ref, `waiting for another kcri (pid ${pid}) that works on this pod`);
    },
    unrecorded: (ref, error) => {
      renderer.note(ref, `what happens to it is not recorded: ${messageOf(error)}`);
    },
  };
}

function followStarted(logs: LogFollower, names: Map<string, string>, ref: PodRef, call: CriCall): void {
  const name = subjectOf(call, names);
  if (call.method === 'CreateContainer') names.set(String(call.response?.['containerId']), name);
  if (call.method === 'StartContainer')
    logs.follow(ref, name, containerId(String(call.request['containerId'])));
}

/** Deletes the pod that was synced, whatever became of it; gives what to show when that fails. */
async function removePod(local: LocalPods, outcome: PodOutcome): Promise<readonly unknown[]> {
  const {pod} = outcome;
  if (outcome.kind === 'failed' && isOfOthers(outcome.error)) return [];
  try {
    await local.exclusively(pod, undefined, async () => {
      const record = await local.findByName(pod);
      if (record?.uid === pod.uid) await local.end(record);
    });
    return [];
  } catch (error) {
    return [error, leftError(pod, 'is left half deleted')];
  }
}

/** What a sync that didn't get its pod to where it was wanted leaves under its name, and how to end it. */
async function leftOver(local: LocalPods, outcome: PodOutcome): Promise<readonly unknown[]> {
  const {kind, pod} = outcome;
  if (!isUnfinished(kind) || (kind === 'failed' && isElsewhere(outcome.error))) return [];
  const record = await local.findByName(pod);
  if (record === undefined) return [];
  if (kind === 'failed' && outcome.removalError !== undefined)
    return [leftError(pod, `could not be removed again: ${messageOf(outcome.removalError)}`)];
  try {
    const {containers} = (await local.syncer(record.pod, record.place).observe()).runtime;
    return [leftError(pod, `is left as it is; ${whatRuns(containers)}`)];
  } catch (error) {
    return [leftError(pod, `is left as it is; what runs of it can't be seen: ${messageOf(error)}`)];
  }
}

/** Nothing of the pod was touched. */
function isElsewhere(error: unknown): boolean {
  return error instanceof OtherRuntimeError || error instanceof KeptByKubeletError;
}

function whatRuns(containers: readonly {readonly name: string; readonly state: string}[]): string {
  const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({name}) => `"${name}"`);
  return running.length === 0 ? 'no container of it runs' : `still running: ${running.join(', ')}`;
}

function summarize(
  outcomes: readonly PodOutcome[],
  left: readonly (readonly unknown[])[],
  {wait, timeoutMs}: SyncSessionOptions,
): SyncSummary {
  const explained = outcomes.flatMap((outcome) => explain(outcome, wait, timeoutMs));
  // An interruption is one, however many pods it hits.
  const errors = [...new Set([...explained, ...left.flat()])];
  const codes = [...outcomes.map((outcome) => exitCodeFor(outcome, wait)), ...errors.map(exitCodeOf)];
  return {exitCode: codes.find((code) => code !== EXIT.ok) ?? EXIT.ok, errors};
}
