import {KcriError, SystemError} from '../../base/errors.js';
import type {CriError} from '../../cri/index.js';
import type {PodRef} from '../contract/pod-ref.js';
import type {PendingResize, Rejection} from '../contract/pod-rejection.js';
import type {SyncFailure, SyncResult} from '../contract/sync-result.js';

/** Options of a PodError. */
export interface PodErrorOptions {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly exitCode?: number;
  readonly reason?: SyncFailure['reason'] | undefined;
}

/** A pod that could not be brought to its desired state. */
export class PodError extends KcriError {
  readonly code = 'POD';
  override readonly exitCode: number;
  readonly pod: PodRef;
  /** The message without the pod. */
  readonly problem: string;
  /** Reason of the failed step, if a step of a sync failed. */
  readonly reason: SyncFailure['reason'] | undefined;

  constructor(pod: PodRef, message: string, options: PodErrorOptions = {}) {
    super(`pod "${pod.namespace}/${pod.name}": ${message}`, options);
    this.pod = pod;
    this.problem = message;
    this.exitCode = options.exitCode ?? 1;
    this.reason = options.reason;
  }
}

/** Hints by the way in which the pod was superseded. */
const SUPERSEDED_HINTS = {
  deleted: 'run "kcri sync" again',
  changed: 'sync a pod from one process at a time',
  replaced: 'the new pod is unchanged; run the command again to delete it',
} as const;

/** Rejection of a pod by the node (allocation_manager, rejectPod). */
export class PodRejectedError extends PodError {
  readonly rejection: Rejection;

  constructor(pod: PodRef, rejection: Rejection) {
    const {reason, message, hint} = rejection;
    super(pod, `${reason}: Pod was rejected: ${message}`, {hint});
    this.rejection = rejection;
  }
}

/** Rejection or deferral of a resize of a running pod. */
export class ResizeRejectedError extends PodError {
  constructor(pod: PodRef, {reason, message}: PendingResize) {
    super(pod, `Pod resize ${reason}: ${message}`, {
      hint:
        reason === 'Deferred'
          ? 'request less, or delete another pod with "kcri delete"'
          : `change the requested resources, or delete the pod first with "kcri delete ${pod.namespace}/${pod.name}"`,
    });
  }
}

/** Another kcri process superseded the pod while this one worked on it. */
export class SupersededError extends PodError {
  constructor(pod: PodRef, done: keyof typeof SUPERSEDED_HINTS) {
    super(pod, `another kcri process ${done} it while this one was waiting`, {
      hint: SUPERSEDED_HINTS[done],
    });
  }
}

/** The pod was created on another runtime. The current runtime does not know its containers. */
export class OtherRuntimeError extends PodError {
  constructor(pod: PodRef, created: string, current: string) {
    super(pod, `its runtime is "${created}", not "${current}"`, {
      hint: `use its runtime with "-r ${created}", or delete the pod first: "kcri -r ${created} delete ${pod.namespace}/${pod.name}"`,
    });
  }
}

/** A running kubelet manages the pod, and changes by another process would conflict with it. */
export class ManagedByKubeletError extends PodError {
  constructor(pod: PodRef, pid: number, source: string) {
    super(pod, `kcri kubelet (PID ${pid}) manages it`, {
      hint: `change or remove its manifest "${source}", or stop that kubelet first`,
    });
  }
}

/** Another kcri process is working on the pod. */
export class PodBusyError extends PodError {
  constructor(pod: PodRef, pid: number) {
    super(pod, `another kcri process (PID ${pid}) is working on it`, {
      hint: 'try again when that process has finished',
    });
  }
}

/** Name of an action's target in error messages. */
const TARGETS: Readonly<Partial<Record<SyncResult['action'], string>>> = {
  StartContainer: 'container',
  InitContainer: 'init container',
  KillContainer: 'container',
  RemoveContainer: 'container',
};

/** Hints for users, by the reason of the failure. */
const HINTS: Readonly<Partial<Record<SyncFailure['reason'], string>>> = {
  ErrImagePull: 'check the image name and the connection to the registry',
  ImagePullBackOff: 'check the image name and the connection to the registry',
  ErrImageNeverPull:
    'load the image first, for instance with "kcri pull IMAGE", or set imagePullPolicy to IfNotPresent',
  InvalidImageName: 'use [REGISTRY/]NAME[:TAG|@DIGEST]',
  RunContainerError: "check the container's command, working directory and mounts",
  PodFeatureUnsupported: 'remove these fields, or run the pod on another node',
  CrashLoopBackOff: 'run "kcri logs" to see the output of the container',
};

/** Creates the error of the first failure of a sync. */
export function createSyncError(
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

/** Creates the error of a call that is not a step of a sync, such as reading the pod's status. */
export function createCallError(pod: PodRef, cause: CriError): PodError {
  return new PodError(pod, `${cause.method}: ${cause.message}`, {cause, hint: cause.hint});
}

/** Creates the error for a manifest whose UID belongs to a pod of another name. */
export function createUidConflictError(ref: PodRef, {namespace, name}: PodRef): SystemError {
  return new SystemError(
    `the UID "${ref.uid}" of pod "${ref.namespace}/${ref.name}" already belongs to pod "${namespace}/${name}"`,
    {hint: `set another metadata.uid in the manifest, or run "kcri delete ${namespace}/${name}" first`},
  );
}
