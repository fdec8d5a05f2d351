/** Environment, directory and user of a command, for which the CRI has no fields. */
export interface ExecEnvironment {
  /** `NAME=VALUE` pairs. */
  readonly env: readonly string[];
  readonly workdir: string | undefined;
  /** `USER`, `UID`, `USER:GROUP` or `UID:GID`. */
  readonly user: string | undefined;
}

const CHANGE_DIRECTORY = 'cd -- "$1" && shift && exec "$@"';

/**
 * Runs the command as another user with the first tool of the container that works; each is tried with `true` first.
 * The group is the user's primary group; for an unknown UID it depends on the tool, or is 0.
 */
const CHANGE_USER = `u=$1; shift
can() { "$@" true >/dev/null 2>&1; }
for w in "$u" "$u:0"; do
can chroot --userspec="$w" --skip-chdir / && exec chroot --userspec="$w" --skip-chdir / "$@"
can setuidgid "$w" && exec setuidgid "$w" "$@"
can su-exec "$w" && exec su-exec "$w" "$@"
can gosu "$w" && exec gosu "$w" "$@"
done
case $u in *[!0-9]*) ;; *) while IFS=: read -r name _ id _; do [ "$id" = "$u" ] && u=$name; done </etc/passwd;; esac
su -s /bin/sh -c true -- "$u" </dev/null >/dev/null 2>&1 && exec su -s /bin/sh -c 'exec "$@"' -- "$u" sh "$@"
echo "kcri: cannot run a command as \\"$u\\" in this container; it requires root, the user, and one of chroot --userspec, setuidgid, su-exec, gosu, su" >&2
exit 126`;

/**
 * Returns a command line that sets the environment with `env` and changes directory and user with a shell of the
 * container. Values are passed as arguments, so that none is interpreted as a script.
 */
export function wrapCommand(
  command: readonly string[],
  {env, workdir, user}: ExecEnvironment,
): readonly string[] {
  const withEnv = env.length === 0 ? command : ['env', ...env, ...escapeEquals(command)];
  const inDirectory = workdir === undefined ? withEnv : shell(CHANGE_DIRECTORY, workdir, withEnv);
  return user === undefined ? inDirectory : shell(CHANGE_USER, user, inDirectory);
}

const shell = (script: string, argument: string, command: readonly string[]): readonly string[] => [
  'sh',
  '-c',
  script,
  'sh',
  argument,
  ...command,
];

/** Wraps a program with a `=` in its name, which `env` would take for a variable. */
function escapeEquals(command: readonly string[]): readonly string[] {
  return command[0]?.includes('=') === true ? ['sh', '-c', 'exec "$@"', 'sh', ...command] : command;
}
