/** What a command gets in a container besides its arguments; CRI has no fields for any of it. */
export interface ExecEnvironment {
  /** `NAME=VALUE`. */
  readonly env: readonly string[];
  readonly workdir: string | undefined;
  /** `USER`, `UID`, `USER:GROUP` or `UID:GID`. */
  readonly user: string | undefined;
}

const CHANGE_DIRECTORY = 'cd -- "$1" && shift && exec "$@"';

/**
 * Runs the command as another user with whichever program the container has for that; each is tried on `true`
 * first. The group is the user's own; for a number that has none it is the program's choice, or 0.
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
echo "kcri: can't run a command as \\"$u\\" in this container: it needs root, that user, and one of chroot --userspec, setuidgid, su-exec, gosu and su" >&2
exit 126`;

/**
 * The command line that gives a command its environment: around it `env`, and a shell of the container's where a
 * directory or a user is wanted. Words are handed over as arguments, so none is read as a script.
 */
export function wrapCommand(
  command: readonly string[],
  {env, workdir, user}: ExecEnvironment,
): readonly string[] {
  const withEnv = env.length === 0 ? command : ['env', ...env, ...unambiguous(command)];
  const there = workdir === undefined ? withEnv : shell(CHANGE_DIRECTORY, workdir, withEnv);
  return user === undefined ? there : shell(CHANGE_USER, user, there);
}

const shell = (script: string, argument: string, command: readonly string[]): readonly string[] => [
  'sh',
  '-c',
  script,
  'sh',
  argument,
  ...command,
];

/** `env` takes a program with a `=` in its name for a variable. */
function unambiguous(command: readonly string[]): readonly string[] {
  return command[0]?.includes('=') === true ? ['sh', '-c', 'exec "$@"', 'sh', ...command] : command;
}
