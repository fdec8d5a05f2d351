/** An outcome that differs from the one without a fault, and why it is correct. */
interface AcceptedOutcome {
  readonly caseName: string;
  readonly endState: RegExp;
  readonly why: string;
}

/** Outcomes as of a kubelet to which the same happens; docs/reliability.md lists them. */
const ACCEPTED: readonly AcceptedOutcome[] = [
  {
    caseName: 'poststart-fail',
    endState: /^psfail-goldennode, Running, , main ready running$/,
    why: 'a hook is not run again if the container cannot be killed after it has failed',
  },
  {
    caseName: 'active-deadline',
    endState: /^deadline-goldennode, Failed, DeadlineExceeded, main /,
    why: 'the deadline passes before the container has started',
  },
  {
    caseName: 'sidecar-job',
    endState: /^sidejob-goldennode, Succeeded, , side terminated Error 137, main terminated Completed 0$/,
    why: 'a sidecar that cannot be stopped is killed with its sandbox',
  },
  {
    caseName: 'restart-rules',
    endState:
      /^rules-goldennode, Running, , .*, onfail waiting CrashLoopBackOff, rule42 waiting CrashLoopBackOff$/,
    why: 'a crashing container alternates between terminated and waiting',
  },
];

/** Reports whether the pods of a case may end like this after a fault. */
export function isAccepted(caseName: string, endState: string): boolean {
  return ACCEPTED.some((accepted) => accepted.caseName === caseName && accepted.endState.test(endState));
}
