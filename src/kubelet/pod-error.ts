import {KcriError, SystemError} from '../base/errors.js';
import type {CriError} from '../cri/index.js';
import type {PendingResize} from './allocation/judge-resize.js';
import type {PodRef} from './container/pod-ref.js';
import type {Rejection} from './admission/admit-pod.js';
import type {SyncFailure, SyncResult} from './container/sync-result.js';

/** What a PodError carries beside its message. */
export interface PodErrorOptions {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly exitCode?: number;
  readonly reason?: SyncFailure['reason'];
}

/** A pod could not be brought to what was asked for. */
export class PodError extends KcriError {
  readonly code = 'POD';
  override readonly exitCode: number;
  readonly pod: PodRef;
  /** The message without the pod. */
  readonly problem: string;
  /** Which step failed, when it was a step of a sync. */
  readonly reason: SyncFailure['reason'] | undefined;

  constructor(pod: PodRef, message: string, options: PodErrorOptions = {}) {
    super(`pod "${pod.namespace}/${pod.name}": ${message}`, options);
    this.pod = pod;
    this.problem = message;
    this.exitCode = options.exitCode ?? 1;
    this.reason = options.reason;
  }
}

/** What to do about it. */
const SUPERSEDED_HINTS = {
  deleted: 'sync it again',
  changed: 'let one process at a time sync a pod',
  replaced: 'the new pod is left as it is; delete again to end it',
} as const;

/** The node doesn't take the pod (allocation_manager, rejectPod). */
export class PodRejectedError extends PodError {
  constructor(pod: PodRef, {reason, message, hint}: Rejection) {
    super(pod, `${reason}: Pod was rejected: ${message}`, {hint});
  }
}

/** The pod can't have other resources while it runs, or not now. */
export class ResizeRejectedError extends PodError {
  constructor(pod: PodRef, {reason, message}: PendingResize) {
    super(pod, `Pod resize ${reason}: ${message}`, {
      hint:
        reason === 'Deferred'
          ? 'ask for less, or end another pod with "kcri delete"'
          : `ask for what it can have, or end it first with "kcri delete ${pod.namespace}/${pod.name}"`,
    });
  }
}

/** Another kcri has taken the pod away while this one worked on it. */
export class SupersededError extends PodError {
  constructor(pod: PodRef, done: keyof typeof SUPERSEDED_HINTS) {
    super(pod, `was ${done} by another kcri while this one waited for it`, {hint: SUPERSEDED_HINTS[done]});
  }
}

/** The pod was made on another runtime than the one at hand, which knows nothing of what runs of it. */
export class OtherRuntimeError extends PodError {
  constructor(pod: PodRef, made: string, here: string) {
    super(pod, `was made on "${made}", not on "${here}"`, {
      hint: `name its runtime with "-r ${made}", or end the pod first: "kcri -r ${made} delete ${pod.namespace}/${pod.name}"`,
    });
  }
}

/** A running daemon keeps the pod: whoever else works on it would work against it. */
export class KeptByKubeletError extends PodError {
  constructor(pod: PodRef, pid: number, source: string) {
    super(pod, `is kept by kcri kubelet (pid ${pid})`, {
      hint: `change or remove its manifest "${source}", or end that kubelet first`,
    });
  }
}

/** Another kcri works on the pod just now. */
export class BusyPodError extends PodError {
  constructor(pod: PodRef, pid: number) {
    super(pod, `another kcri (pid ${pid}) works on it just now`, {
      hint: 'when that one has ended, try it again',
    });
  }
}

/** What the action was about, as it reads in an error. */
const TARGETS: Readonly<Partial<Record<SyncResult['action'], string>>> = {
  StartContainer: 'container',
  InitContainer: 'init container',
  KillContainer: 'container',
  RemoveContainer: 'container',
};

/** What a person can do about it, where the reason tells. */
const HINTS: Readonly<Partial<Record<SyncFailure['reason'], string>>> = {
  ErrImagePull:
    'check the image\'s name and that its registry can be reached; "kcri runtime load FILE.tar" brings an image without one',
  ImagePullBackOff: "check the image's name and that its registry can be reached",
  ErrImageNeverPull:
    'load the image first ("kcri pull IMAGE" or "kcri runtime load FILE.tar"), or set imagePullPolicy to IfNotPresent',
  InvalidImageName: 'write the image as [REGISTRY/]NAME[:TAG|@DIGEST]',
  RunContainerError: "check the container's command, working directory and mounts",
  CrashLoopBackOff: '"kcri logs" shows what the container said before it ended',
};

/** The error for the first failure of a sync. */
export function podErrorOf(
  pod: PodRef,
  {action, target, failure}: SyncResult & {readonly failure: SyncFailure},
): PodError {
  const object = TARGETS[action];
  const subject = object === undefined ? '' : `${object} "${target}": `;
  const inner = failure.cause instanceof KcriError ? failure.cause.hint : undefined;
  return new PodError(pod, `${subject}${failure.reason}: ${failure.message}`, {
    cause: failure.cause,
    reason: failure.reason,
    hint: inner ?? HINTS[failure.reason],
  });
}

/** The error for a call that is no step of a sync, such as one that asks how the pod is. */
export function podErrorOfCall(pod: PodRef, cause: CriError): PodError {
  return new PodError(pod, `${cause.method}: ${cause.message}`, {cause, hint: cause.hint});
}

/** A manifest's UID is that of a pod of another name. */
export function uidOfAnother(ref: PodRef, {namespace, name}: PodRef): SystemError {
  return new SystemError(
    `the UID "${ref.uid}" of the pod "${ref.namespace}/${ref.name}" is that of the pod "${namespace}/${name}"`,
    {hint: `give the manifest another metadata.uid, or run "kcri delete ${namespace}/${name}" first`},
  );
}
