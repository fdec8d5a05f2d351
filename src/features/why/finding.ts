/** `problem`: something is wrong; `warning`: it works, but not well; `progress`: it is only not finished. */
export type Severity = 'problem' | 'warning' | 'progress';

/** Something to do: words for people, or the arguments of a command of kcri. */
export type Advice = string | {readonly kcri: readonly string[]};

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
  /** What happens next, and when. */
  readonly next?: string;
  readonly tries: readonly Advice[];
}

/** Something that could not be read, and the reason. */
export interface Unread {
  readonly what: string;
  readonly reason: string;
}
