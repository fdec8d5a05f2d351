/** Exit codes of kcri. Any other code is the exit code of a command run in a container. */
export const EXIT = {
  ok: 0,
  /** Any error, as in crictl. */
  failed: 1,
  /** A list with --exit-code is empty. */
  emptyList: 2,
  /** `plan --diff` failed: with 1 it reports changes, as kubectl diff does. */
  notPlanned: 2,
  /** `record diff` failed: with 1 it reports differences. */
  notCompared: 2,
  /** `replay` failed, or left out calls that change something: with 1 it reports different answers. */
  notReplayed: 2,
  /** `why` has no answer: with 1 it reports that something is wrong. */
  notDiagnosed: 2,
  /** A check of `doctor` failed, or nothing was examined: 1 means that there are only warnings. */
  nodeFailed: 2,
  /** The command is unknown. */
  unknownCommand: 3,
  /** A timeout set by the user expired. */
  timedOut: 124,
  /** `run` with an image failed for a reason other than its command, as in docker. */
  notRun: 125,
  /** Interrupted by Ctrl-C. */
  interrupted: 130,
  /** Terminated by SIGTERM. */
  terminated: 143,
} as const;
