/** What the process's exit code says. Everything else is the exit code of a command run in a container. */
export const EXIT = {
  ok: 0,
  /** Every error, as crictl has it. */
  failed: 1,
  /** No command of that name. */
  unknownCommand: 3,
  /** A time limit that the user set was reached. */
  timedOut: 124,
  /** Ctrl-C. */
  interrupted: 130,
  /** SIGTERM. */
  terminated: 143,
} as const;
