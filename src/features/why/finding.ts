/** `problem`: something is wrong; `warning`: it works, but not well; `progress`: it is only not finished. */
export type Severity = 'problem' | 'warning' | 'progress';

/** Something to do: words for people, or the arguments of a command of kcri. */
export type Advice = string | {readonly kcri: readonly string[]};

/** Advice for a runtime that does not answer. */
export const RUNTIME_ADVICE: readonly Advice[] = [
  'systemctl status containerd crio',
  'journalctl -u containerd -u crio -n 50',
];

/** Answer to why a pod or container is in its state. Texts may contain what containers wrote. */
export interface Finding {
  /** Stable name for scripts, such as `oom-killed`. */
  readonly rule: string;
  readonly severity: Severity;
  /** Container that it is about; absent if it is about the pod. */
  readonly container?: string;
  readonly cause: string;
  /** Facts that the cause is inferred from; absent if a component reported the cause itself. */
  readonly inferredFrom?: string;
  readonly evidence: readonly string[];
  /** Last lines that the container wrote. */
  readonly log?: readonly string[];
  /** Next step of the kubelet, and its time. */
  readonly next?: string;
  readonly tries: readonly Advice[];
}

/** Something that could not be read, and the reason. */
export interface Unread {
  readonly what: string;
  readonly reason: string;
}
